#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The guest's first process: runs /script, returns /out through the disk, and powers the machine off.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs shm /dev/shm
mount -t bpf bpf /sys/fs/bpf
mount -t tracefs trace /sys/kernel/tracing
ip link set lo up
export PATH=/t:/bin HOME=/root LD_LIBRARY_PATH=/lib
ulimit -l unlimited
cd /t
uname -r >/out/release
sh /script >/out/log 2>&1
echo $? >/out/status
tar -cf /dev/nvme0n1 -C /out .
sync
poweroff -f
