# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# For gdb: prints every thread's stack, one function per line, innermost first. Callers that left by a jump have no
# frame; gdb infers them, and they are left out.
import gdb


def name(frame):
    if frame.name():
        return frame.name()
    # The start code of threads has no symbols in Debian's libraries: what is unnamed at the root there is start code.
    where = (gdb.solib_name(frame.pc()) or "").split("/")[-1]
    return "?? of a library" if where.startswith(("libc.so", "libstdc++.so")) else "??"


for thread in gdb.selected_inferior().threads():
    thread.switch()
    print("thread", thread.ptid[1])
    frame = gdb.newest_frame()
    while frame is not None:
        if frame.type() == gdb.NORMAL_FRAME or frame.type() == gdb.INLINE_FRAME:
            print("frame", name(frame))
        try:
            frame = frame.older()
        except gdb.error:
            frame = None
