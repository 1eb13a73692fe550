/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/functions.h"

#include <string.h>
#include <sys/syscall.h>

/* Calls that can block on a file. Calls that never block (fstat, lseek, ...) are recorded without one. */
static const struct {
	uint16_t number;
	uint8_t kind; /* enum call_kind */
} table[] = {
	{SYS_read, CALL_FILE},
	{SYS_write, CALL_FILE},
	{SYS_pread64, CALL_FILE},
	{SYS_pwrite64, CALL_FILE},
	{SYS_readv, CALL_FILE},
	{SYS_writev, CALL_FILE},
	{SYS_preadv, CALL_FILE},
	{SYS_pwritev, CALL_FILE},
	{SYS_preadv2, CALL_FILE},
	{SYS_pwritev2, CALL_FILE},
	{SYS_recvfrom, CALL_FILE},
	{SYS_recvmsg, CALL_FILE},
	{SYS_recvmmsg, CALL_FILE},
	{SYS_sendto, CALL_FILE},
	{SYS_sendmsg, CALL_FILE},
	{SYS_sendmmsg, CALL_FILE},
	{SYS_sendfile, CALL_FILE},
	{SYS_splice, CALL_FILE},
	{SYS_tee, CALL_FILE},
	{SYS_vmsplice, CALL_FILE},
	{SYS_copy_file_range, CALL_FILE},
	{SYS_accept, CALL_FILE},
	{SYS_accept4, CALL_FILE},
	{SYS_connect, CALL_FILE},
	{SYS_close, CALL_FILE},
	{SYS_shutdown, CALL_FILE},
	{SYS_ioctl, CALL_FILE},
	{SYS_fcntl, CALL_FILE},
	{SYS_flock, CALL_FILE},
	{SYS_fsync, CALL_FILE},
	{SYS_fdatasync, CALL_FILE},
	{SYS_sync_file_range, CALL_FILE},
	{SYS_syncfs, CALL_FILE},
	{SYS_ftruncate, CALL_FILE},
	{SYS_fallocate, CALL_FILE},
	{SYS_readahead, CALL_FILE},
#ifdef SYS_getdents /* newer architectures have only the calls that replaced these; the same below */
	{SYS_getdents, CALL_FILE},
#endif
	{SYS_getdents64, CALL_FILE},
	{SYS_io_uring_enter, CALL_FILE},
#ifdef SYS_epoll_wait
	{SYS_epoll_wait, CALL_EPOLL},
#endif
	{SYS_epoll_pwait, CALL_EPOLL},
	{441, CALL_EPOLL}, /* epoll_pwait2, Linux 5.11 */
#ifdef SYS_poll
	{SYS_poll, CALL_POLL},
#endif
	{SYS_ppoll, CALL_POLL},
#ifdef SYS_select
	{SYS_select, CALL_SELECT},
#endif
	{SYS_pselect6, CALL_SELECT},
	{SYS_futex, CALL_FUTEX},
};

void calls_kinds(uint8_t kinds[CALL_NUMBERS])
{
	memset(kinds, CALL_NO_FILE, CALL_NUMBERS);
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		kinds[table[i].number] = table[i].kind;
}
