#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What is checked of the documents: links lead to files and headings that exist, and README keeps its size."""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
README_LINES, README_COLUMNS = 250, 100


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
    faults += readme_faults()
    print("".join(fault + "\n" for fault in faults), end="")
    sys.exit(bool(faults))


main()
