# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# In the guest, by busybox: a place to work, which is not the host's file system.
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t bpf bpf /sys/fs/bpf 2>/dev/null
cp -r /t /tmp/t
ulimit -l unlimited
export PATH=/tmp/t:/bin HOME=/tmp
cd /tmp || exit 1
