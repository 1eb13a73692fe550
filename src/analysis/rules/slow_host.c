/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Of several hosts that the program asks for the same, one takes far longer to answer. */
#include <string.h>

#include "analysis/figures.h"
#include "analysis/finding.h"
#include "analysis/instances.h"
#include "analysis/names.h"
#include "analysis/rules/rules.h"

enum { MIN_N = 10, TIMES = 3 };

/* "client GET 10.0.0.3:8080/price" (--requests): what is asked for, and which host. */
struct client_request {
	const char *method, *host, *path;
	size_t method_len, host_len;
};

static bool client_request_parse(const char *name, struct client_request *request)
{
	static const char begin[] = "client ";
	const char *space, *slash;

	if (strncmp(name, begin, sizeof(begin) - 1) != 0)
		return false;
	request->method = name + sizeof(begin) - 1;
	space = strchr(request->method, ' ');
	slash = space ? strchr(space, '/') : NULL;
	if (!slash || slash == space + 1)
		return false;
	request->method_len = (size_t)(space - request->method);
	request->host = space + 1;
	request->host_len = (size_t)(slash - request->host);
	request->path = slash;
	return true;
}

static bool is_same_elsewhere(const struct client_request *one, const struct client_request *other)
{
	return one->method_len == other->method_len && !memcmp(one->method, other->method, one->method_len) &&
	       strcmp(one->path, other->path) == 0 &&
	       !(one->host_len == other->host_len && !memcmp(one->host, other->host, one->host_len));
}

static bool has_many_requests(const struct instances *all)
{
	return all->kind == INSTANCE_TASK && all->hist.n >= MIN_N;
}

/* Returns how many other hosts were asked for the same, and their requests: how many, and how long they took,
 * ns. */
static unsigned other_hosts(const struct analysis *a, const struct client_request *request, uint64_t *n,
			    uint64_t *ns)
{
	unsigned hosts = 0;

	*n = *ns = 0;
	for (size_t i = 1; i < a->ninstances; i++) {
		const struct instances *other = &a->instances[i];
		struct client_request to;

		if (!has_many_requests(other) || !client_request_parse(name_text(a, other->name), &to) ||
		    !is_same_elsewhere(request, &to))
			continue;
		hosts++;
		*n += other->hist.n;
		*ns += other->hist.sum;
	}
	return hosts;
}

static void slow_host_look_at(struct analysis *a, const struct instances *all)
{
	struct client_request request;
	uint64_t n, ns, mean, usual;
	struct finding *finding;
	unsigned hosts;

	/* Also so that few tasks are compared with all. */
	if (share_of_tasks(a, (double)all->hist.sum) < 0.05)
		return;
	if (!has_many_requests(all) || !client_request_parse(name_text(a, all->name), &request))
		return;
	hosts = other_hosts(a, &request, &n, &ns);
	if (!hosts)
		return;
	mean = all->hist.sum / all->hist.n;
	usual = ns / n;
	if (mean < TIMES * usual || share_of_tasks(a, (double)((mean - usual) * all->hist.n)) < 0.05)
		return;
	finding = finding_add(a, "slow-host", share_of_tasks(a, (double)((mean - usual) * all->hist.n)));
	finding_text(finding, "%s takes %s (mean), and the same of %u other host%s %s: %s in all.",
		     label_function(a, all->name).text, label_time(mean).text, hosts, hosts > 1 ? "s" : "",
		     label_time(usual).text, label_time(all->hist.sum).text);
	finding->n = all->hist.n;
	finding->total_ns = all->hist.sum;
	finding->p50_ns = histogram_quantile(&all->hist, 0.5);
	finding->p99_ns = histogram_quantile(&all->hist, 0.99);
	finding->max_ns = all->hist.max;
	finding_evidence(finding, "n %llu, p50 %s, p99 %s, max %s; of the others %llu",
			 (unsigned long long)all->hist.n, label_time(finding->p50_ns).text,
			 label_time(finding->p99_ns).text, label_time(all->hist.max).text,
			 (unsigned long long)n);
	instances_suggest_why(a, finding, all);
}

void rule_slow_host(struct analysis *a)
{
	for (size_t i = 1; i < a->ninstances; i++)
		slow_host_look_at(a, &a->instances[i]);
}
