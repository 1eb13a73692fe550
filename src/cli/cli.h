/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The commands of gotrace, one function each. argv holds the command's own arguments; argv[0] is the
 * command's name for messages. Each function returns the exit status of gotrace.
 */
#ifndef GOTRACE_CLI_CLI_H
#define GOTRACE_CLI_CLI_H

#include "workers/summary/exit_status.h"

/* Runs the command that argv names, or traces. It has the privileges that its row allows. */
int run_commands(int argc, char **argv);

int command_record(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_flame(int argc, char **argv);
int command_view(int argc, char **argv);
int command_cut(int argc, char **argv);
int command_sql(int argc, char **argv);
int command_check(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_sites(int argc, char **argv);
int command_ps(int argc, char **argv);
int command_layout(int argc, char **argv);
int command_flight(int argc, char **argv);
int command_snapshot(int argc, char **argv);
int command_report(int argc, char **argv);
int command_why(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_top(int argc, char **argv);

#endif
