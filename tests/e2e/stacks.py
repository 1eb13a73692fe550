# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# For gdb: every thread's stack, one function a line, innermost first. Callers that left by a jump have no frame;
# gdb reckons which they must have been, and these are left out.
import gdb


def name(frame):
    if frame.name():
        return frame.name()
    # How threads start has no symbols in Debian's libraries: at the root, what is nameless there is that.
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
