# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# For gdb: every thread's stack, one function a line, innermost first. Callers that left by a jump have no frame;
# gdb reckons which they must have been, and these are left out.
import gdb


def name(frame):
    if frame.name():
        return frame.name()
    # What std::thread starts has no symbol in Debian's library, and nothing else there is nameless at the root.
    where = gdb.solib_name(frame.pc()) or ""
    return "execute_native_thread_routine" if "libstdc++" in where else "??"


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
