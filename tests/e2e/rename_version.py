#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""rename_version.py FILE OLD NEW: changes the version text in a program's build information (Go 1.18 and later
debug/buildinfo: after a head of 32 bytes, the version and the list of modules, each with its length). A longer text
shortens the list."""
import sys

path, old, new = sys.argv[1:]
with open(path, "rb") as file:
    data = bytearray(file.read())


def length_at(at):
    """A varint: its value, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def varint(value):
    """The shortest form of a number."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return out + bytes([value])


head = data.index(b"\xff Go buildinf:")
size, at = length_at(head + 32)
assert data[at : at + size] == old.encode(), data[at : at + size]
modules_size, modules = length_at(at + size)
end = modules + modules_size
space = end - head - 32 - 1 - len(new)
text = data[modules : modules + space - 3]
made = bytes([len(new)]) + new.encode() + varint(len(text)) + text
data[head + 32 : end] = made + bytes(end - head - 32 - len(made))
with open(path, "wb") as file:
    file.write(data)
