#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs a command on a terminal of its own, acts on it, and copies what it writes.

terminal.py ACTION... -- COMMAND...: an action is SECONDS (wait), key=TEXT, size=COLUMNSxLINES, or signal=NUMBER. Ends
with the command's status, or 99 if that does not end within 10 s after the last action.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time


def copy_until(master, end):
    while time.time() < end:
        if not select.select([master], [], [], end - time.time())[0]:
            return True
        try:
            data = os.read(master, 65536)
        except OSError:
            return False
        if not data:
            return False
        sys.stdout.buffer.write(data)
    return True


def act(action, master, pid):
    name, _, value = action.partition("=")
    if name == "key":
        os.write(master, value.encode())
    elif name == "size":
        columns, lines = map(int, value.split("x"))
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    elif name == "signal":
        os.kill(pid, int(value))
    else:
        return copy_until(master, time.time() + float(name))
    return True


def main():
    at = sys.argv.index("--")
    actions, command = sys.argv[1:at], sys.argv[at + 1:]
    pid, master = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp(command[0], command)
    act("size=80x24", master, pid)
    for action in actions:
        if not act(action, master, pid):
            break
    copy_until(master, time.time() + 10)
    for _ in range(50):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) & 0xff
        time.sleep(0.1)
    os.kill(pid, 9)
    return 99


sys.exit(main())
