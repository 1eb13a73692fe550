# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Makes damaged copies of an ELF file.

usage: mutate.py FILE COUNT SEED OUTDIR [PREFIX]

What a tracer reads is changed, not the program's own code: headers, tables, symbols, Go's function table, unwind and
debug information. Every tenth copy is cut short. PREFIX, in hexadecimal, is put in front: some fuzz targets take their
first bytes as arguments.
"""
import os
import random
import struct
import sys

NUMBERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]
READ = (".gopclntab", ".go.buildinfo", ".eh_frame", ".debug_", ".symtab", ".strtab", ".dynsym", ".dynstr", ".rela",
        ".note", ".gnu_debugdata", ".gnu_debuglink", ".noptrdata", ".data.rel.ro", ".plt", ".shstrtab", ".go.module")


def places(data):
    """(offset, size) of what a tracer reads."""
    shoff, = struct.unpack_from("<Q", data, 40)
    phsize, phnum, shsize, shnum, shstrndx = struct.unpack_from("<HHHHH", data, 54)
    found = [(0, 64), (0, 64), (64, phsize * phnum), (shoff, shsize * shnum)]
    headers = [struct.unpack_from("<IIQQQQ", data, shoff + i * shsize) for i in range(shnum)]
    names = headers[shstrndx][4]
    for name, kind, _, _, offset, size in headers:
        end = data.index(b"\0", names + name)
        if kind != 8 and size and data[names + name:end].decode().startswith(READ):
            found.append((offset, size))
            found.append((offset, min(size, 128)))
    return [(offset, min(size, len(data) - offset)) for offset, size in found if 0 < size and offset < len(data)]


def damage(data, where, rng):
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        offset, size = rng.choice(where)
        at = offset + rng.randrange(size)
        kind = rng.randrange(4)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        else:
            at -= at % 4
            width = rng.choice((2, 4, 8))
            number = rng.choice(NUMBERS) if kind == 2 else rng.randrange(len(data) * 2)
            word = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            data[at:at + width] = word[:max(0, len(data) - at)]
    if rng.randrange(10) == 0:
        del data[rng.randrange(len(data)):]


def main():
    path, count, seed, out = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    prefix = bytes.fromhex(sys.argv[5]) if len(sys.argv) > 5 else b""
    whole = open(path, "rb").read()
    where = places(whole)
    rng = random.Random(os.path.basename(path) + seed)
    for i in range(count):
        data = bytearray(whole)
        damage(data, where, rng)
        with open(os.path.join(out, "%06d" % i), "wb") as copy:
            copy.write(prefix + data)


main()
