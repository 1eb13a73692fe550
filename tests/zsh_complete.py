#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Prints what zsh offers when Tab is pressed at the end of LINE: zsh_complete.py DIR LINE, with the functions of DIR.

zsh completes in interactive shells only, so one runs on a pseudo terminal, where compadd prints what it is given.
"""
import os
import pty
import re
import select
import sys
import time

SETUP = r"""PROMPT=; fpath=(%s $fpath); autoload -U compinit; compinit -u -D
zmodload zsh/zle; bindkey '^I' complete-word; setopt no_list_beep
compadd () {
  local -a hits; local hit
  [[ " $* " == *" -"[OADaldf]*([^-])" "* && " $* " == *" -"[OAD]" "* ]] && { builtin compadd "$@"; return }
  builtin compadd -A hits "$@"
  for hit in $hits; do print -r -- "offer:$hit" > $OFFERS; done
  builtin compadd "$@"
}
print read''y
"""


def read_until(terminal, word, seconds):
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and (not word or word not in seen):
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break
    return seen


def main():
    directory, line = os.path.abspath(sys.argv[1]), sys.argv[2]
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", OFFERS=f"/dev/fd/{write_end}")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    os.close(write_end)
    os.write(terminal, (SETUP % directory).encode())
    if b"ready" not in read_until(terminal, b"ready", 30):
        sys.exit("zsh did not get ready")
    os.write(terminal, line.encode() + b"\t")
    offers = read_until(read_end, b"", 2.5)
    os.kill(pid, 9)
    for offer in sorted(set(re.findall(r"^offer:(.*)$", offers.decode(), re.M))):
        print(offer)


main()
