#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is checked of the documents: links lead to files and headings that exist; so do the functions and the files
of the tree that the text names, each function in the file that is named with it; and README keeps its size."""
import fnmatch
import functools
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
README_LINES, README_COLUMNS = 250, 100

FUNCTION = re.compile(r"`(\w+)\(\)`")
# `name()` in `file`; `name()` (`file`); and `file`, `name()`, unless a file of its own follows.
FUNCTION_OF_FILE = [
    re.compile(r"`(?P<name>\w+)\(\)`\s+(?:in\s+|\()`(?P<file>[\w/.]+\.(?:c|h|sh|py))`"),
    re.compile(r"`(?P<file>[\w/.]+\.(?:c|h|sh|py))`,\s+`(?P<name>\w+)\(\)`(?!\s+(?:in|and)\b)"),
]
WORD = re.compile(r"(?<![\w/.~$@-])[\w*][\w.*-]*(?:/[\w.*-]*)*")
# Examples: files of users' programs, and the pattern of names in CONTRIBUTING.md.
EXAMPLES = {"parse.c", "pages.c", "thing_new", "thing_free", "thing_verb"}


def without_code(text):
    return re.sub(r"^```.*?^```$", lambda found: "\n" * found.group(0).count("\n"), text, flags=re.M | re.S)


def slug(heading):
    """As GitHub makes anchors of headings."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(path):
    with open(path, encoding="utf-8") as file:
        return {slug(line.lstrip("#")) for line in without_code(file.read()).split("\n") if line.startswith("#")}


def faults_of(path):
    with open(path, encoding="utf-8") as file:
        text = without_code(file.read())
    for number, line in enumerate(text.split("\n"), 1):
        for link in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(there):
                yield f"{path}:{number}: {link}: there is no such file"
            elif anchor and there.endswith(".md") and anchor not in anchors(there):
                yield f"{path}:{number}: {link}: there is no such heading"


@functools.cache
def files():
    return subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout.split("\n")


@functools.cache
def folders():
    return {file[:at] for file in files() for at, letter in enumerate(file) if letter == "/"}


@functools.cache
def code_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S) if path.endswith((".c", ".h", ".go")) else text


@functools.cache
def functions():
    """The names of all functions that the code defines or calls."""
    paths = [path for path in files() if path.endswith((".c", ".h", ".sh", ".py", ".go")) and os.path.exists(path)]
    return {name for path in paths for name in re.findall(r"\b(\w+)\(", code_of(path))}


def is_defined_in(name, file):
    """In C, shell and Python alike a definition begins in the first column."""
    line = re.compile(rf"^(?:[a-z#][^\n;={{}}]*[ *])?{name}\(", re.M)
    return any(line.search(code_of(path)) for path in files() if f"/{path}".endswith(f"/{file}") and os.path.exists(path))


def is_of_the_tree(word):
    """Whether the word means something in this tree: it begins with a folder's or a module's name, or is a source."""
    first, slash, _ = word.partition("/")
    if slash:
        return first in folders() or f"src/{first}" in folders()
    return re.search(r"\.(?:c|h|inc|sh|awk)$", word) and word not in EXAMPLES


def exists(word):
    """Words in capitals stand for any name; folders of src/ may be named without it."""
    pattern = re.sub(r"[A-Z]{3,}(?:_[A-Z]+)*", "*", word.rstrip("/"))
    if "/" in word:
        return any(fnmatch.fnmatchcase(path, way) for path in [*files(), *folders()] for way in (pattern, "src/" + pattern))
    return any(fnmatch.fnmatchcase(os.path.basename(path), pattern) for path in files())


def name_faults(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()

    def fault(found, what):
        return f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {what}"

    for found in FUNCTION.finditer(text):
        if found[1] not in functions() | EXAMPLES:
            yield fault(found, f"{found[1]}(): there is no such function")
    for found in [found for pattern in FUNCTION_OF_FILE for found in pattern.finditer(text)]:
        if found["name"] not in EXAMPLES and not is_defined_in(found["name"], found["file"]):
            yield fault(found, f"{found['name']}() is not in {found['file']}")
    for found in WORD.finditer(text):
        word = found[0].rstrip(".")
        if is_of_the_tree(word) and not exists(word):
            yield fault(found, f"{word}: there is no such file or folder")


# Code that decides what tracing costs; and how much older than it a figure of that may be.
COSTS = ["bpf", *(f"src/{module}" for module in
		   "capture model trace target/names code/symbol pipeline sandbox workers/writer".split())]
MOST_DAYS = 3


def committed(*arguments):
    """The time of the newest commit, in s; None outside of git, or where the clone does not go back so far."""
    done = subprocess.run(["git", "log", "-1", "--format=%ct", *arguments], capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def figure_faults(path):
    """Figures that tools/bench wrote (tools/bench/write.go) must be from a tree that costs what this one does."""
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"<!-- bench ([\w-]+): begin -->\n(.*?)<!-- bench \1: end -->", file.read(), re.S)
    newest = committed("--", *COSTS)
    for part, text in blocks:
        tree = re.search(r"\btree ([0-9a-f]{7,40})\b", text)
        measured = committed(tree[1]) if tree else None
        if not tree:
            yield f"{path}: the figures of {part} do not name their tree: run tools/bench/run.sh -write {part}"
        elif not measured:
            print(f"{path}: how old the figures of {part} are is not known: {tree[1]} is not in this clone", file=sys.stderr)
        elif newest and newest - measured > MOST_DAYS * 86400:
            yield f"{path}: the figures of {part} are older than the code by more than {MOST_DAYS} days: run tools/bench/run.sh -write {part}"


def readme_faults():
    with open("README.md", encoding="utf-8") as file:
        lines = file.read().split("\n")
    if len(lines) - 1 > README_LINES:
        yield f"README.md: {len(lines) - 1} lines, at most {README_LINES}: docs/ has space"
    for number, line in enumerate(lines, 1):
        if len(line) > README_COLUMNS:
            yield f"README.md:{number}: {len(line)} columns, at most {README_COLUMNS}"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=False)
    faults = [fault for path in listed.stdout.split() if os.path.exists(path) for fault in faults_of(path)]
    faults += [fault for path in listed.stdout.split() if os.path.exists(path) for fault in name_faults(path)]
    faults += [fault for path in listed.stdout.split() if os.path.exists(path) for fault in figure_faults(path)]
    faults += readme_faults()
    print("".join(fault + "\n" for fault in faults), end="")
    sys.exit(bool(faults))


main()
