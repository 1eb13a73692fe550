/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/options_common.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "util/suggest.h"
#include "cli/values.h"

int option_set_true(void *member, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(bool *)member = true;
	return 0;
}

int option_set_false(void *member, const char *option, const char *text, struct error *err)
{
	(void)option, (void)text, (void)err;
	*(bool *)member = false;
	return 0;
}

int option_set_text(void *member, const char *option, const char *text, struct error *err)
{
	(void)option, (void)err;
	*(const char **)member = text;
	return 0;
}

int option_set_operand(void *member, const char *option, const char *text, struct error *err)
{
	const char **file = member;

	(void)option;
	if (*file)
		return error_set(err, EINVAL, "only one file can be given: '%s' is an extra argument", text);
	*file = text;
	return 0;
}

int option_set_pid(void *member, const char *option, const char *text, struct error *err)
{
	return parse_pid(option, text, member, err);
}

int option_set_time(void *member, const char *option, const char *text, struct error *err)
{
	return parse_time(option, text, member, err);
}

int option_set_duration(void *member, const char *option, const char *text, struct error *err)
{
	return parse_duration(option, text, member, err);
}

int option_set_id(void *member, const char *option, const char *text, struct error *err)
{
	return parse_id(option, text, member, err);
}

int option_set_format(void *member, const char *option, const char *text, struct error *err)
{
	return parse_format(option, text, member, err);
}

int option_set_sort(void *member, const char *option, const char *text, struct error *err)
{
	(void)option;
	return parse_sort(text, member, err);
}

int option_set_os_regions(void *member, const char *option, const char *text, struct error *err)
{
	return parse_os_regions(option, text, member, err);
}

const char *options_long_name(const struct argp *argp, int key)
{
	const char *name = NULL;

	for (const struct argp_option *row = argp->options; row && (row->name || row->key); row++) {
		if (row->key == key && row->name)
			return row->name;
	}
	for (const struct argp_child *child = argp->children; !name && child && child->argp; child++)
		name = options_long_name(child->argp, key);
	return name;
}

/* Formats an option as the user writes it: "-p", "--from". */
static void spell(char *to, size_t size, const struct argp *argp, int key)
{
	const char *name = options_long_name(argp, key);

	if (key > ' ' && key <= '~')
		snprintf(to, size, "-%c", key);
	else
		snprintf(to, size, "--%s", name ? name : "");
}

error_t options_bind(const struct option_binding *bindings, void *options, int key, char *text,
		     const struct argp_state *state, struct error *err)
{
	char option[64];

	for (; bindings->set; bindings++) {
		if (bindings->key != key)
			continue;
		spell(option, sizeof(option), state->root_argp, key);
		return -bindings->set((char *)options + bindings->offset, option, text, err);
	}
	return ARGP_ERR_UNKNOWN;
}

error_t options_take(int key, char *text, struct argp_state *state)
{
	struct option_input *input = state->input;

	if (key == ARGP_KEY_INIT) {
		for (size_t i = 0; input->child_input && state->root_argp->children[i].argp; i++)
			state->child_inputs[i] = input->child_input;
		return 0;
	}
	if (key == 'h') {
		input->help = true;
		return 0;
	}
	return options_bind(input->bindings, input->options, key, text, state, input->err);
}

static void print_help(const struct option_parser *parser)
{
	char name[] = "gotrace";

	/* argp's own usage lines would list every option twice, and its remark on arguments does not help. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note,opt-doc-col=26", 0);
	printf("Usage: %s\n", parser->usage);
	fflush(stdout);
	argp_help(&parser->argp, stdout, ARGP_HELP_PRE_DOC | ARGP_HELP_LONG | ARGP_HELP_POST_DOC, name);
}

enum { MAX_NAMES = 128 };

/* Collects the long names of a command's options that its help has. Returns how many there are. */
static size_t collect_names(const struct argp *argp, const char *names[MAX_NAMES], size_t n)
{
	for (const struct argp_option *row = argp->options; row && (row->name || row->key); row++) {
		if (row->name && !(row->flags & OPTION_HIDDEN) && n < MAX_NAMES)
			names[n++] = row->name;
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		n = collect_names(child->argp, names, n);
	return n;
}

/* Returns the name that the user may have meant, if getopt_long()'s line is about one that there is not. */
static const char *suggest_option(const struct argp *argp, const char *line)
{
	const char *names[MAX_NAMES], *at = strstr(line, "unrecognized option '--");
	char word[32];

	if (!at || sscanf(at, "unrecognized option '--%31[a-z0-9-]", word) != 1)
		return NULL;
	return suggest_name(word, names, collect_names(argp, names, 0));
}

/*
 * getopt_long(), which argp calls, prints its line with the user's words as they are, and argp another line,
 * which names an option --usage. Takes the first one, without "COMMAND: ".
 */
static void options_common_take_line(const struct argp *argp, const char *command, char *printed,
				     struct error *err)
{
	const char *meant = suggest_option(argp, printed);
	char *end = strstr(printed, "\nTry ");

	if (end)
		*end = '\0';
	if (strncmp(printed, command, strlen(command)) == 0 &&
	    strncmp(printed + strlen(command), ": ", 2) == 0)
		printed += strlen(command) + 2;
	if (meant)
		error_set(err, EINVAL, "%s: did you mean '--%s'?", printed, meant);
	else
		error_set(err, EINVAL, "%s", printed);
}

static int parse(const struct option_parser *parser, int argc, char **argv, struct option_input *input)
{
	const unsigned flags = ARGP_NO_EXIT | ARGP_NO_HELP | ARGP_IN_ORDER;
	FILE *before = stderr, *memory;
	char *printed = NULL;
	size_t n = 0;
	int rc;

	memory = open_memstream(&printed, &n);
	if (!memory)
		return error_set(input->err, ENOMEM, "out of memory");
	stderr = memory;
	rc = argp_parse(&parser->argp, argc, argv, flags, NULL, input);
	stderr = before;
	if (fclose(memory) == 0 && rc && !input->err->text[0])
		options_common_take_line(&parser->argp, argv[0], printed, input->err);
	free(printed);
	return rc;
}

int options_parse(const struct option_parser *parser, int argc, char **argv, void *options, void *child_input,
		  struct error *err)
{
	struct option_input input = {
		.bindings = parser->bindings, .options = options, .child_input = child_input, .err = err};

	err->text[0] = '\0';
	if (parse(parser, argc, argv, &input))
		return -EINVAL;
	if (!input.help)
		return 0;
	print_help(parser);
	return OPTIONS_HELPED;
}

int options_end(int rc, const char *command, const struct error *err)
{
	if (rc == OPTIONS_HELPED)
		return STATUS_WHOLE;
	if (err->text[0])
		fprintf(stderr, "gotrace: %s\nTry '%s --help'.\n", err->text, command);
	return STATUS_USAGE;
}
