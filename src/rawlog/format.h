/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * File format of the raw log, little-endian:
 *
 *   file header, blocks ..., end block
 *
 * A block is a header followed by a payload of complete records. A record is its type, its size, and its
 * bytes padded to a multiple of 8. The payload of a big block (a function table) is one zlib stream. The end
 * block has no payload. It is the last block of every complete log, even if the file header could not be
 * rewritten (a pipe).
 */
#ifndef GOTRACE_RAWLOG_FORMAT_H
#define GOTRACE_RAWLOG_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define FILE_MAGIC   "gotrace\x01" /* 8 bytes; a v0 trace has a NUL in the last place */
#define FILE_VERSION 1u

enum file_flags {
	FILE_COMPLETE = 1,
};

struct file_header {
	char magic[8];
	uint32_t version;
	uint32_t flags; /* enum file_flags */
	uint32_t reserved;
	uint32_t crc; /* of the preceding bytes */
};

#define BLOCK_MAGIC 0x6b6c4247u /* "GBlk" */

enum block_flags {
	BLOCK_COMPRESSED = 1,
	BLOCK_END = 2,
};

struct block_header {
	uint32_t magic;
	uint32_t flags;  /* enum block_flags */
	uint32_t stored; /* bytes of payload in the file */
	uint32_t size;   /* bytes of payload after decompression; = stored if not compressed */
	uint32_t records;
	uint32_t payload_crc; /* of the stored bytes */
	uint64_t sequence;    /* 0, 1, 2, ... */
	uint32_t reserved;
	uint32_t crc; /* of the preceding bytes */
};

struct record_header {
	uint32_t type;
	uint32_t size; /* without padding */
};

/* A block of this size is written even if it was not flushed. */
#define BLOCK_FILL (256u << 10)
/* Maximum bytes of a payload: larger ones are neither written nor accepted. */
#define MAX_BLOCK      (64u << 20)
#define MAX_COMPRESSED (256u << 20)
/* Function tables compress to a third or a fifth. Keeps a reader's memory in proportion to the file. */
#define MAX_RATIO    64u
#define RECORD_ALIGN 8u

/* Size of a record in a block; size is at most MAX_COMPRESSED. */
static inline size_t record_space(uint32_t size)
{
	return sizeof(struct record_header) +
	       (((size_t)size + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1));
}

_Static_assert(sizeof(struct file_header) == 24, "the file header is stored");
_Static_assert(sizeof(struct block_header) == 40, "the block header is stored");

#endif
