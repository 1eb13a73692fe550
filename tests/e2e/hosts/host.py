# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""As host.c, in Python: python3 host.py LIBRARY"""
import ctypes
import os
import signal
import sys
import time

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
work = ctypes.CDLL(sys.argv[1]).gotrace_work
work(1)
print("ready", os.getpid(), flush=True)
while signal.sigwait({signal.SIGUSR1}):
    total = 0
    for _ in range(200):
        total += work(10)
        time.sleep(0.001)
    print("done", total, flush=True)
