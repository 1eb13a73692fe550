# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads raw logs (src/rawlog/format.h, src/rawlog/rawlog.h), without checks."""
import struct
import zlib

LOG_RECORDS = 5
LOG_SNAPSHOT = 7
LOG_GS = 8
LOG_SNAPSHOT_END = 11
LOG_END = 14
LOG_TEXT = 16

G_BYTES = 56  # struct log_g
RECORD_BYTES = 64  # struct raw_record (bpf/record.h)


def records(path):
    """(type, payload) of each record."""
    data = open(path, "rb").read()
    at = 24
    while at + 40 <= len(data):
        _, flags, stored, *_ = struct.unpack_from("<IIIIII", data, at)
        payload = data[at + 40 : at + 40 + stored]
        if flags & 1:
            payload = zlib.decompress(payload)
        at += 40 + stored
        where = 0
        while where + 8 <= len(payload):
            kind, size = struct.unpack_from("<II", payload, where)
            yield kind, payload[where + 8 : where + 8 + size]
            where += 8 + (size + 7 & ~7)
