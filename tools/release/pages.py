#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes the man pages and the shell completions from what --help prints, so that they cannot disagree:

    pages.py GOTRACE OUTDIR DATE

OUTDIR gets man/gotrace.1, man/gotrace-COMMAND.1, and completions/{bash,zsh,fish}/. The sections that --help does not
have are docs/man/PAGE.man, in man(7) macros, which stand at the end of the page of that name.
"""
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# "  -d, --duration=TIME        End after this time", "      --cpu-samples[=HZ]     CPU samples"
HEADING = re.compile(r"^ (\S.*):$")  # of the options below it
OPTION = re.compile(r"^ +(?:-(\w), )?(?:--([\w-]+)(\[?)=?([^\s\]]+)?\]?|-(\w))(?:  +(.*))?$")


@dataclass
class Option:
    short: str
    name: str
    optional: bool  # the argument may be left out
    argument: str  # "" if it takes none
    text: str = ""
    heading: str = ""


@dataclass
class Command:
    name: str  # "" is gotrace itself
    usage: list = field(default_factory=list)
    purpose: list = field(default_factory=list)
    options: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # below the options: paragraphs, examples


def commands_of_main():
    """The rows of the table of commands in src/cli/commands.c. record is the command that needs no name."""
    with open(os.path.join(TOP, "src", "cli", "commands.c"), encoding="utf-8") as file:
        names = re.findall(r'\{"(\w+)", command_\w+', file.read())
    if not names:
        sys.exit("pages.py: src/cli/commands.c: no table of commands found")
    return [name for name in names if name != "record"]


def help_of(program, name):
    """One line for a paragraph: argp must not wrap. Its lines end with a blank here and there."""
    env = dict(os.environ, LC_ALL="C", ARGP_HELP_FMT="rmargin=2000,no-dup-args-note")
    words = [program] + ([name] if name else []) + ["--help"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.startswith("Usage: "):
        sys.exit(f"pages.py: {' '.join(words)} failed: {done.stderr.strip()}")
    return [line.rstrip() for line in done.stdout.splitlines()]


def parse(program, name):
    command = Command(name)
    part = command.usage
    heading = ""
    for line in help_of(program, name):
        found = OPTION.match(line)
        named = HEADING.match(line)
        if found and not command.notes:
            short, long, bracket, argument, alone, text = found.groups()
            command.options.append(Option(short or alone or "", long or "", bracket == "[", argument or "", text or "", heading))
            part = command.options
        elif named and command.options and not command.notes:
            heading = named.group(1)
        elif part is command.options and line.startswith(" " * 20):
            option = command.options[-1]
            option.text = (option.text + " " + line.strip()).strip()
        elif line.startswith("Usage: ") or (part is command.usage and line.startswith("       ")):
            command.usage.append(line[7:])
        elif not line:
            if part is command.options:
                part = command.notes
        elif part is command.usage:
            part = command.purpose
            part.append(line)
        elif part is not command.options:
            part.append(line)
    if not command.usage or not command.purpose or not command.options:
        sys.exit(f"pages.py: gotrace {name} --help is not what this script can read")
    return command


# --- man pages ---


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def filled(text):
    """Lines of running text: man(7) wants them short, and none that begins like a macro."""
    return [roff(line) for line in textwrap.wrap(text, 64, break_long_words=False, break_on_hyphens=False)]


def sentence(command):
    """What the command does, in a line: its first sentence, or the first part of a long one."""
    text = re.sub(r" \([^)]*\)", "", " ".join(command.purpose))
    first = re.split(r"[.:;?](?:\s|$)", text)[0]
    if len(first) > 60:
        first = first.split(", ")[0]
    return first[0].lower() + first[1:]


def man_option(option):
    names = []
    if option.short:
        names.append(f"\\fB\\-{option.short}\\fR")
    if option.name:
        name = f"\\fB\\-\\-{roff(option.name)}\\fR"
        if option.argument:
            argument = f"=\\fI{roff(option.argument)}\\fR"
            name += f"[{argument}]" if option.optional else argument
        names.append(name)
    return [".TP", ", ".join(names)] + filled(option.text)


def man_notes(notes):
    """A line with "Examples:" begins a section of literal lines; one with "Exit status:" one of its own."""
    lines, examples, other = [], [], []
    for note in notes:
        if note == "Examples:":
            continue
        if note.startswith("  "):
            examples.append(roff(note.strip()))
        elif note.startswith("Exit status:"):
            lines += [".SH EXIT STATUS"] + filled(note[len("Exit status:") :].strip())
        else:
            other += [".PP"] + filled(note)
    if other:
        lines = [".SH NOTES"] + other[1:] + lines
    if examples:
        lines += [".SH EXAMPLES", ".nf"] + examples + [".fi"]
    return lines


def man_page(command, commands, date, version):
    title = "gotrace" + (f"-{command.name}" if command.name else "")
    lines = [
        '.\\" Made from --help by tools/release/pages.py: do not edit.',
        f'.TH {roff(title.upper())} 1 "{date}" "{version}" "User Commands"',
        ".SH NAME",
        f"{roff(title)} \\-",
    ]
    lines += filled(sentence(command)) + [".SH SYNOPSIS", ".nf"]
    lines += [roff(usage) for usage in command.usage] + [".fi", ".SH DESCRIPTION"]
    lines += filled(" ".join(command.purpose)) + [".SH OPTIONS"]
    heading = ""
    for option in command.options:
        if option.heading != heading:
            heading = option.heading
            lines.append(f".SS {roff(heading)}")
        lines += man_option(option)
    lines += man_notes(command.notes)
    if not command.name:
        lines.append(".SH COMMANDS")
        for other in commands:
            if other.name:
                lines += [".TP", f"\\fBgotrace {other.name}\\fR"] + filled(sentence(other)[0].upper() + sentence(other)[1:] + ".")
    try:
        with open(os.path.join(TOP, "docs", "man", title + ".man"), encoding="utf-8") as file:
            lines += file.read().rstrip("\n").split("\n")
    except FileNotFoundError:
        pass
    pages = sorted("gotrace" + (f"-{other.name}" if other.name else "") for other in commands if other is not command)
    lines.append(".SH SEE ALSO")
    lines += [f".BR {roff(page)} (1){',' if page != pages[-1] else ''}" for page in pages]
    return "\n".join(lines) + "\n"


# --- completions ---

# The kind of an option's argument, by the name that --help gives it.
KINDS = {
    "FILE": "file", "RAW": "file", "DIR": "directory", "PATH": "directory", "PID": "pid", "FUNC": "function", "PREFIX": "function"
}  # fmt: skip
# Options with a fixed choice.
CHOICES = {
    "as": "go c",
    "detail": "exact auto light starts",
    "on": "blocked> runnable> syscall> gc-pause> goroutines> queue> heap> request> finding>= cpu> cgroup-cpu> throttled rss>",
    "os": "off all",
}
# Options whose words are in the trace on the command line, and the question for them.
IN_TRACE = {
    "label": "SELECT DISTINCT key || char(61) || value FROM label WHERE value IS NOT NULL LIMIT 200",
    "by-label": "SELECT DISTINCT key FROM label LIMIT 200",
    "task": "SELECT DISTINCT name FROM task LIMIT 200",
    "region": "SELECT DISTINCT name FROM region LIMIT 200",
}
# A completion must not take seconds: traces above this size are not asked.
SMALL_TRACE = 'test -f "$word" && test "$(stat -L -c %s -- "$word")" -lt 64000000'
# All functions would be too many to show. This is what Go's own are called.
FIRST_FUNCTIONS = "main."
OTHER_FORMATS = "perfetto pprof: folded: flame sqlite parquet"  # of convert


def formats_of_go():
    with open(os.path.join(TOP, "src", "cli", "values.h"), encoding="utf-8") as file:
        return re.search(r'#define FORMATS_OF_GO "(.*)"', file.read()).group(1).replace(",", "")


def choices_of(command, option):
    """The words that the option of the command takes, or ""."""
    if option.name == "format":
        return formats_of_go() + (f" {OTHER_FORMATS}" if command.name == "convert" else "")
    return CHOICES.get(option.name, "")


def takes_names(command):
    """Whether --region and --task of the command are names of a trace, and not functions."""
    return command.name == "why"


def question_of(command, option):
    """The question for the words of the option of the command, or "". Only these options take names of a trace."""
    named = takes_names(command) or option.name in ("label", "by-label")
    return IN_TRACE.get(option.name, "") if named and option.argument else ""


# Options that take a file or a directory, although other such arguments are only one of the two.
BOTH = {"go"}


def kind_of(option):
    return "file" if option.name in BOTH else KINDS.get(option.argument, "")


def words_of(command):
    return [f"--{option.name}" for option in command.options if option.name] + [
        f"-{option.short}" for option in command.options if option.short
    ]


def case_of(commands, wanted):
    """The options of all commands whose argument is of that kind, as a pattern of bash's case."""
    names = {word for c in commands for o in c.options if kind_of(o) == wanted for word in option_words(o)}
    return "|".join(sorted(names)) or "--"


def option_words(option):
    return ([f"-{option.short}"] if option.short else []) + ([f"--{option.name}"] if option.name else [])


def bash(commands):
    named = [c.name for c in commands if c.name]
    lines = [
        "# Made from --help by tools/release/pages.py: do not edit.",
        "# _gotrace_in_trace QUESTION: offers the answers of the first trace on the command line. compgen would",
        "# run what they contain.",
        "_gotrace_in_trace()",
        "{",
        "\tlocal word answer",
        '\tfor word in "${COMP_WORDS[@]:2}"; do',
        f"\t\t{SMALL_TRACE} || continue",
        '\t\twhile IFS= read -r answer; do [[ $answer == "$cur"* ]] && COMPREPLY+=("$answer"); done \\',
        '\t\t\t< <(gotrace sql --csv "$word" "$1" 2>/dev/null | tail -n +2 | tr -d \'"\')',
        "\t\treturn",
        "\tdone",
        "}",
        "# _gotrace_functions WORD: offers the functions of the process of -p that begin with WORD. What Readline",
        "# takes for an earlier word, as ns: of ns::f, is left out of the answers.",
        "_gotrace_functions()",
        "{",
        '\tlocal word=${1//\\\\/} pid i answer',
        "\tfor ((i = 1; i < COMP_CWORD; i++)); do",
        '\t\t[[ ${COMP_WORDS[i]} == -p || ${COMP_WORDS[i]} == --pid ]] || continue',
        '\t\tpid=${COMP_WORDS[i+1]}',
        '\t\t[[ $pid == = ]] && pid=${COMP_WORDS[i+2]}',
        "\tdone",
        '\twhile IFS= read -r answer; do COMPREPLY+=("${answer#"${word%"${cur//\\\\/}"}"}"); done \\',
        f'\t\t< <([[ $pid ]] && gotrace sites --list "${{word:-{FIRST_FUNCTIONS}}}" -p "$pid" 2>/dev/null)',
        "}",
        "_gotrace()",
        "{",
        '\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options',
        '\tlocal word=${COMP_LINE:0:COMP_POINT} before',
        "\tCOMPREPLY=()",
        '\tbefore=${word%[[:space:]]*} word=${word##*[[:space:]]}',
        '\t[[ $word == --*=* ]] && before=${word%%=*} word=${word#*=}',
        '\tcase $command${before##*[[:space:]]} in',
        f'\t{"|".join(c.name + "--*" for c in commands if takes_names(c))}) ;;',
        f'\t*{case_of(commands, "function").replace("|", "|*")}) _gotrace_functions "$word"; return ;;',
        "\tesac",
        "\t# Readline splits at =: --output=FILE is three words.",
        '\tif [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi',
        "\tcase $prev in",
        f'\t{case_of(commands, "file")}) COMPREPLY=($(compgen -f -- "$cur")); return ;;',
        f'\t{case_of(commands, "directory")}) COMPREPLY=($(compgen -d -- "$cur")); return ;;',
        f'\t{case_of(commands, "pid")}) COMPREPLY=($(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur")); return ;;',
    ]
    lines += [f'\t--{name}) COMPREPLY=($(compgen -W "{words}" -- "$cur")); return ;;' for name, words in CHOICES.items()]
    lines += [
        f'\t--format) [[ $command == convert ]] && options="{OTHER_FORMATS}"',
        f'\t\tCOMPREPLY=($(compgen -W "{formats_of_go()} $options" -- "$cur")); return ;;',
    ]
    asked = {o.name: question_of(c, o) for c in commands for o in c.options if question_of(c, o)}
    lines += [f"\t--{name}) _gotrace_in_trace '{question}'; return ;;" for name, question in asked.items()]
    lines += ["\tesac", "\tcase $command in"]
    lines += [f'\t{c.name}) options="{" ".join(words_of(c))}" ;;' for c in commands if c.name]
    lines += [f'\t*) options="{" ".join(words_of(commands[0]))}" ;;', "\tesac"]
    lines += [
        "\tif [[ $cur == -* ]]; then",
        '\t\tCOMPREPLY=($(compgen -W "$options" -- "$cur"))',
        "\telif [[ $COMP_CWORD -eq 1 ]]; then",
        f'\t\tCOMPREPLY=($(compgen -W "{" ".join(named)}" -- "$cur"))',
        "\telse",
        '\t\tCOMPREPLY=($(compgen -f -- "$cur"))',
        "\tfi",
        "}",
        "complete -o filenames -F _gotrace gotrace",
    ]
    return "\n".join(lines) + "\n"


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(command, option):
    action = {"file": "_files", "directory": "_files -/", "pid": "_pids", "function": "_gotrace_functions"}.get(kind_of(option), "")
    if choices_of(command, option):
        action = "(" + re.sub(r"([:>])", r"\\\1", choices_of(command, option)) + ")"
    if question_of(command, option):
        action = "{_gotrace_in_trace " + zsh_text(f'"{question_of(command, option)}"') + "}"
    argument = f":{option.argument.lower()}:{action}" if option.argument else ""
    if option.argument and option.optional:
        argument = ":" + argument
    specs = []
    if option.short:
        specs.append(f"'-{option.short}[{zsh_text(option.text)}]{argument}'")
    if option.name:
        equals = "=" if option.argument else ""
        specs.append(f"'--{option.name}{equals}[{zsh_text(option.text)}]{argument}'")
    return specs


def zsh_arguments(command):
    specs = [spec for option in command.options for spec in zsh_option(command, option)]
    return " \\\n\t\t\t".join(["_arguments"] + specs + ["'*:file:_files'"])


def zsh(commands):
    lines = ["#compdef gotrace", "# Made from --help by tools/release/pages.py: do not edit.", "local -a commands"]
    lines += [
        "# The answers of the first trace on the command line.",
        "_gotrace_in_trace () {",
        "\tlocal word",
        "\tfor word in ${words[2,-1]}; do",
        f"\t\t{SMALL_TRACE} || continue",
        "\t\tcompadd -- ${(f)\"$(gotrace sql --csv $word $1 2>/dev/null | tail -n +2 | tr -d '\"')\"}",
        "\t\treturn",
        "\tdone",
        "}",
        "# The functions of the process of -p.",
        "_gotrace_functions () {",
        "\tlocal at=${words[(I)(-p|--pid)]} pid=${words[(R)--pid=*]#--pid=}",
        "\t(( at )) && pid=${words[at+1]}",
        f"\tcompadd -- ${{(f)\"$(gotrace sites --list ${{${{(Q)PREFIX}}:-{FIRST_FUNCTIONS}}} -p \"$pid\" 2>/dev/null)\"}}",
        "}",
        "commands=(",
    ]
    lines += [f"\t'{c.name}:{zsh_text(sentence(c))}'" for c in commands if c.name]
    lines += [")", "if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then", "\t_describe command commands", "\treturn", "fi"]
    lines += ["case $words[2] in"]
    for c in commands[1:] + commands[:1]:
        shift = "shift words; (( CURRENT-- ))\n\t\t" if c.name else ""
        lines += [f"\t{c.name or '*'})", f"\t\t{shift}{zsh_arguments(c)}", "\t\t;;"]
    return "\n".join(lines + ["esac"]) + "\n"


def fish_text(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(command, option):
    seen = f"__fish_seen_subcommand_from {command.name}" if command.name else "not __fish_seen_subcommand_from $gotrace_commands"
    line = f"complete -c gotrace -n {fish_text(seen)}"
    words = choices_of(command, option).replace(">", "\\>")  # fish expands them
    if option.short:
        line += f" -s {option.short}"
    if option.name:
        line += f" -l {option.name}"
    if option.argument and not option.optional:
        line += {"file": " -r -F", "directory": " -x -a '(__fish_complete_directories)'", "pid": " -x -a '(__fish_complete_pids)'",
            "function": " -x -a '(__gotrace_functions)'"}.get(
            kind_of(option), f" -x -a '{words}'" if words else " -x"
        )
        if question_of(command, option):
            line += f" -a '(__gotrace_in_trace \"{question_of(command, option)}\")'"
    return line + f" -d {fish_text(option.text)}"


def fish(commands):
    named = [c for c in commands if c.name]
    lines = ["# Made from --help by tools/release/pages.py: do not edit.", f"set -l gotrace_commands {' '.join(c.name for c in named)}"]
    lines += [
        "# The answers of the first trace on the command line.",
        "function __gotrace_in_trace",
        "\tfor word in (commandline -opc)[2..-1]",
        f"\t\t{SMALL_TRACE}; or continue",
        "\t\tgotrace sql --csv $word $argv[1] 2>/dev/null | tail -n +2 | tr -d '\"'",
        "\t\treturn",
        "\tend",
        "end",
    ]
    lines += [
        "# The functions of the process of -p.",
        "function __gotrace_functions",
        "\tset -l words (commandline -opc)",
        "\tset -l pid (string replace -f -- --pid= '' $words)",
        "\tset -l at (contains -i -- -p $words; or contains -i -- --pid $words)",
        "\ttest -n \"$at\"; and set pid $words[(math $at + 1)]",
        "\tset -l word (commandline -ct | string replace -r '^--[a-z]+=' '' | string unescape)",
        f"\ttest -n \"$word\"; or set word {FIRST_FUNCTIONS}",
        "\tgotrace sites --list \"$word\" -p \"$pid\" 2>/dev/null",
        "end",
    ]
    # The condition of a function or a completion runs later, where that list is not known: it is inserted here.
    names = " ".join(c.name for c in named)
    lines += [f"complete -c gotrace -n __fish_use_subcommand -a {c.name} -d {fish_text(sentence(c))}" for c in named]
    for c in commands:
        lines += [fish_option(c, o).replace("$gotrace_commands", names) for o in c.options]
    return "\n".join(line for line in lines if not line.startswith("set -l")) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: pages.py GOTRACE OUTDIR DATE")
    program, out, date = sys.argv[1:]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    commands = [parse(program, name) for name in [""] + commands_of_main()]
    for command in commands:
        name = "gotrace" + (f"-{command.name}" if command.name else "")
        write(os.path.join(out, "man", name + ".1"), man_page(command, commands, date, version))
    write(os.path.join(out, "completions", "bash", "gotrace"), bash(commands))
    write(os.path.join(out, "completions", "zsh", "_gotrace"), zsh(commands))
    write(os.path.join(out, "completions", "fish", "gotrace.fish"), fish(commands))


if __name__ == "__main__":
    main()
