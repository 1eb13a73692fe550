/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The report as one HTML page: the JSON in a data block, and a script that shows it. Nothing from the trace
 * becomes markup: names are set as text. The content security policy allows no other script and no network.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/state.h"
#include "analysis/strips.h"
#include "analysis/page.inc"
#include "util/json.h"

enum { PAGE_BYTES = 4 << 20 };

struct page_data {
	const struct report_style *style;
	const struct strips *strips;
};

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
static void report_html_put_line(struct analysis *a, const struct page_data *data, FILE *out)
{
	const struct timeline *line = a->timeline;
	uint64_t n = (a->end - a->begin) / line->width + 1;

	(void)data;
	fprintf(out, "{\"width_ns\":%llu,\"uses\":[", (unsigned long long)line->width);
	for (uint64_t i = 0; i < n && i < sizeof(line->used) / sizeof(line->used[0]); i++) {
		const uint64_t *used = line->used[i];

		fprintf(out, "%s[%llu,%llu,%llu,%llu,%llu]", i ? "," : "", (unsigned long long)used[P_CODE],
			(unsigned long long)used[P_GC], (unsigned long long)used[P_IN_SYSCALL],
			(unsigned long long)used[P_SEARCHING], (unsigned long long)used[P_UNUSED]);
	}
	fprintf(out, "]}");
}

/* The lines of the terminal's report, and what tracing cost, which that leaves to the recording. */
static void put_page_head(struct analysis *a, FILE *out)
{
	const struct analysis_host *host = &a->options.host;

	report_head(a, out);
	if (host->cpu_ns)
		fprintf(out, "CPU time of the process %s", label_time(host->cpu_ns).text);
	if (host->cpu_ns && host->tracing_ns)
		fprintf(out, ", of tracing it %s", label_time(host->tracing_ns).text);
	if (host->cpu_ns)
		fputc('\n', out);
}

/* A data block, whose text `put` writes. */
static void put_page_block(struct analysis *a, const struct page_data *data, const char *id, FILE *out,
			   void (*put)(struct analysis *a, const struct page_data *data, FILE *text))
{
	char *text = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&text, &n);

	if (!memory)
		return;
	put(a, data, memory);
	fclose(memory);
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	put_escaped(out, text, n);
	fputs("</script>\n", out);
	free(text);
}

static void put_report(struct analysis *a, const struct page_data *data, FILE *out)
{
	struct report_style whole = *data->style;

	whole.max_bytes = PAGE_BYTES;
	report_json(a, out, &whole);
}

static void put_head_text(struct analysis *a, const struct page_data *data, FILE *out)
{
	struct json json = {.out = out};
	char *text = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&text, &n);

	(void)data;
	if (!memory)
		return;
	put_page_head(a, memory);
	fclose(memory);
	json_string(&json, NULL, text, n);
	free(text);
}

static void put_strips(struct analysis *a, const struct page_data *data, FILE *out)
{
	strips_json(data->strips, a, out);
}

void report_html(struct analysis *a, const struct strips *strips, FILE *out, const struct report_style *style)
{
	const struct page_data data = {style, strips};

	fputs(page_head, out);
	put_page_block(a, &data, "head", out, put_head_text);
	put_page_block(a, &data, "report", out, put_report);
	put_page_block(a, &data, "line", out, report_html_put_line);
	put_page_block(a, &data, "strips", out, put_strips);
	fputs("<script>", out);
	fputs(page_script, out);
	fputs("</script></body></html>\n", out);
}
