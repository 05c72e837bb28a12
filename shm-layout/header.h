/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's header: its first 8,192 bytes. Only the writer stores here; readers map it read-only.
 *
 * Invariant: the first 256 bytes, the identity, are stored once, before the state word says LIVE. The words
 * behind them change. Words that change at different rates have cache lines of their own.
 *
 *   offset  bytes  field
 *        0      8  magic               "INFARENA"
 *        8      2  layout_major        the file's layout; layout_is_readable() says which readers may
 *       10      2  layout_minor        read it
 *       12      4  byte_order          0x01020304 as the writer stores it
 *       16      8  incompatible        feature bits: a reader refuses an unknown bit
 *       24      8  compatible          feature bits: a reader ignores unknown bits
 *       32      8  fingerprint         FNV-1a 64 over the sizes listed in header_check.c
 *       40      8  generation          number of this arena file
 *       48     16  incarnation         random id of this arena file
 *       64      8  max_bytes           limit of the file's size; readers reserve this address space
 *       72      8  created_boot_ns     CLOCK_BOOTTIME
 *       80      8  created_wall_ns     CLOCK_REALTIME
 *       88     16  hash_key            key of identity and index hashes (key_hash.h)
 *      104     16  key_id              BLAKE2b-128 of the key file that the tags were made with
 *      120    104  reserved, zero
 *      224     32  tag                 keyed BLAKE2b-256 (root key) of bytes 0..223
 *      256      8  root                offset of the newest root block; stored with release order
 *      264      8  epoch               epoch of the newest root, stored after root; 0: not stored yet
 *      320      8  committed_bytes     bytes that may be touched
 *      384      4  state               enum header_state; written last when a file is made
 *      392      8  superseded_by       0, or the generation that replaced this one
 *      448      8  heartbeat_boot_ns   CLOCK_BOOTTIME, stored by the writer once a second
 *      456      4  server_release      release of the API server, 1000 * major + minor; 0: not known
 *     4096   2048  contact_boot_ns[256] by position of a resource: when the API server was last heard of
 */
#ifndef SHM_LAYOUT_HEADER_H
#define SHM_LAYOUT_HEADER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEADER_BYTES 8192u
#define HEADER_MAGIC 0x414e455241464e49ull /* "INFARENA", little-endian */
#define HEADER_BYTE_ORDER 0x01020304u
#define LAYOUT_MAJOR 1u
#define LAYOUT_MINOR 0u
#define HEADER_IDENTITY_BYTES 224u
#define RESOURCE_MAX 256u

enum header_state {
	HEADER_INCOMPLETE = 0,	/* its writer builds it, or died while building it */
	HEADER_LIVE = 1,	/* its writer keeps it up to date, or died */
	HEADER_STALE = 2,	/* its writer ended in good order; the content is complete */
	HEADER_REVOKED = 3,	/* its pages may read as zeros; a reader discards what it read */
};

struct header {
	uint64_t magic;
	uint16_t layout_major;
	uint16_t layout_minor;
	uint32_t byte_order;
	uint64_t incompatible;
	uint64_t compatible;
	uint64_t fingerprint;
	uint64_t generation;
	uint8_t incarnation[16];
	uint64_t max_bytes;
	uint64_t created_boot_ns;
	uint64_t created_wall_ns;
	uint8_t hash_key[16];
	uint8_t key_id[16];
	uint8_t reserved[104];
	uint8_t tag[32];
	_Alignas(64) _Atomic uint64_t root;
	_Atomic uint64_t epoch;
	_Alignas(64) _Atomic uint64_t committed_bytes;
	_Alignas(64) _Atomic uint32_t state;
	_Atomic uint64_t superseded_by;
	_Alignas(64) _Atomic uint64_t heartbeat_boot_ns;
	_Atomic uint32_t server_release;
	_Alignas(4096) _Atomic uint64_t contact_boot_ns[RESOURCE_MAX];
};
_Static_assert(offsetof(struct header, generation) == 40, "header: generation moved");
_Static_assert(offsetof(struct header, max_bytes) == 64, "header: max_bytes moved");
_Static_assert(offsetof(struct header, hash_key) == 88, "header: hash_key moved");
_Static_assert(offsetof(struct header, tag) == HEADER_IDENTITY_BYTES, "header: tag moved");
_Static_assert(offsetof(struct header, root) == 256, "header: root moved");
_Static_assert(offsetof(struct header, epoch) == 264, "header: epoch moved");
_Static_assert(offsetof(struct header, committed_bytes) == 320, "header: committed_bytes moved");
_Static_assert(offsetof(struct header, state) == 384, "header: state moved");
_Static_assert(offsetof(struct header, superseded_by) == 392, "header: superseded_by moved");
_Static_assert(offsetof(struct header, heartbeat_boot_ns) == 448, "header: heartbeat moved");
_Static_assert(offsetof(struct header, server_release) == 456, "header: server_release moved");
_Static_assert(offsetof(struct header, contact_boot_ns) == 4096, "header: contact moved");
_Static_assert(sizeof(struct header) == HEADER_BYTES, "header: two pages");

#endif
