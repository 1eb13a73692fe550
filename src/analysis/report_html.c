/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The report as one HTML page: the JSON in a data block, and a script that shows it. Nothing from the trace
 * becomes markup: names are set as text. The content security policy allows no other script and no network.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/state.h"
#include "analysis/page.inc"

enum { PAGE_BYTES = 4 << 20 };

/* Writes <, > and & as JSON escapes, so that no name can end the block. */
static void put_escaped(FILE *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '<' || text[i] == '>' || text[i] == '&')
			fprintf(out, "\\u%04x", (unsigned)text[i]);
		else
			fputc(text[i], out);
	}
}

/* The Ps' time in ns over the trace: code, GC, system calls, searching, unused. */
static void put_line(const struct analysis *a, FILE *out)
{
	const struct timeline *line = a->timeline;
	uint64_t n = (a->end - a->begin) / line->width + 1;

	fprintf(out, "{\"width_ns\":%llu,\"uses\":[", (unsigned long long)line->width);
	for (uint64_t i = 0; i < n && i < sizeof(line->used) / sizeof(line->used[0]); i++) {
		const uint64_t *used = line->used[i];

		fprintf(out, "%s[%llu,%llu,%llu,%llu,%llu]", i ? "," : "", (unsigned long long)used[P_CODE],
			(unsigned long long)used[P_GC], (unsigned long long)used[P_IN_SYSCALL],
			(unsigned long long)used[P_SEARCHING], (unsigned long long)used[P_UNUSED]);
	}
	fprintf(out, "]}");
}

void report_html(struct analysis *a, FILE *out, const struct report_style *style)
{
	struct report_style whole = *style;
	char *text = NULL;
	size_t n = 0;
	FILE *json = open_memstream(&text, &n);

	if (!json)
		return;
	whole.max_bytes = PAGE_BYTES;
	report_json(a, json, &whole);
	fclose(json);
	fputs(page_head, out);
	fputs("<script type=\"application/json\" id=\"report\">", out);
	put_escaped(out, text, n);
	fputs("</script>\n<script type=\"application/json\" id=\"line\">", out);
	put_line(a, out);
	fputs("</script>\n<script>", out);
	fputs(page_script, out);
	fputs("</script></body></html>\n", out);
	free(text);
}
