/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/lake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "export/perfetto_event.h"

void lake_name_service(struct lake_options *options, const struct census *census, char name[128])
{
	const char *pid = options->attributes[RESOURCE_PID];
	const struct export_options about = {.title = "", .pid = pid ? (pid_t)strtol(pid, NULL, 10) : 0};
	const char *executable = options->attributes[RESOURCE_EXECUTABLE];
	struct pf_process process = pf_process(census, &about);

	if (options->attributes[RESOURCE_SERVICE_NAME])
		return;
	snprintf(name, 128, "%s", executable && executable[0] ? executable : process.name);
	options->attributes[RESOURCE_SERVICE_NAME] = name[0] ? name : "unknown_service";
}

enum { MAX_NAME = 100 };

/*
 * Characters that mean something to the engines or to a shell are replaced, and a leading dot, which makes
 * engines ignore a file. The column has the name unchanged.
 */
static void clean(const char *text, char out[MAX_NAME + 1])
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
	size_t n = 0;

	for (; text[n] && n < MAX_NAME; n++)
		out[n] = strchr(allowed, text[n]) && !(n == 0 && (text[n] == '.' || text[n] == '_')) ? text[n]
												     : '-';
	out[n] = '\0';
}

int lake_path(const struct lake_options *options, enum lake_table table, char path[LAKE_PATH_BYTES])
{
	const char *host = options->attributes[RESOURCE_HOST_NAME];
	time_t seconds = (time_t)(options->start_wall_ns / 1000000000);
	char service[MAX_NAME + 1], name[MAX_NAME + 1], date[32];
	struct tm utc;

	clean(options->attributes[RESOURCE_SERVICE_NAME], service);
	clean(host ? host : "unknown", name);
	gmtime_r(&seconds, &utc);
	strftime(date, sizeof(date), "%Y-%m-%d", &utc);
	return snprintf(path, LAKE_PATH_BYTES, "%s/date=%s/service=%s/%s-%.12s.parquet",
			lake_table_name(table), date, service, name, options->trace_id) < LAKE_PATH_BYTES
		       ? 0
		       : -ENAMETOOLONG;
}
