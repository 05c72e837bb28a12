/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena's header: its first 8,192 bytes.
 *
 * The first 256 bytes, the identity, are written once, before the state word says LIVE; what
 * changes later stands behind them, words of different rhythm on cache lines of their own.
 *
 *   offset  bytes  field
 *        0      8  magic               "INFARENA"
 *        8      2  layout_major        the layout that the file has: layout_is_readable() says which
 *       10      2  layout_minor        readers may read it
 *       12      4  byte_order          0x01020304 as the writer stores it
 *       16      8  incompatible        feature bits: an unknown one means refuse
 *       24      8  compatible          feature bits: unknown ones are ignored
 *       32      8  fingerprint         FNV-1a 64 over the sizes listed in header.c
 *       40      8  generation          this arena file's number
 *       48     16  incarnation         random id of the writer process that made the file
 *       64      8  max_bytes           to which size the file may grow; what readers reserve
 *       72      8  created_boot_ns     CLOCK_BOOTTIME
 *       80      8  created_wall_ns     CLOCK_REALTIME
 *       88     16  hash_key            key of identity and index hashes (key_hash.h)
 *      104     16  key_id              BLAKE2b-128 of the key file: which key the tags were made with
 *      120    104  reserved, zero
 *      224     32  tag                 keyed BLAKE2b-256 (root key) of bytes 0..223
 *      256      8  root                offset of the current root block; release-stored by the writer
 *      264      8  epoch               that of the newest root, stored behind it; 0: not told yet
 *      320      8  committed_bytes     bytes that may be touched
 *      384      4  state               enum header_state; written last when a file is made
 *      392      8  superseded_by       0, or the generation that replaced this one
 *      448      8  heartbeat_boot_ns   CLOCK_BOOTTIME, the writer's last sign of life
 *      456      4  server_release      the API server's: 1000 * major + minor; 0: not known
 *     4096   2048  contact_boot_ns[256] by resource: when the API server was last heard of
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
	HEADER_INCOMPLETE = 0,	/* being built, or its writer died while building it */
	HEADER_LIVE = 1,	/* a writer keeps it up to date, as far as one lives */
	HEADER_STALE = 2,	/* its writer ended in good order; the content is whole */
	HEADER_REVOKED = 3,	/* its pages were given back; nothing in it may be read */
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

/* FNV-1a 64 over sizes and offsets that both sides compile in. */
uint64_t header_fingerprint(void);

#define HEADER_WHY_BYTES 160u

/*
 * The rule (LAYOUT.md, VERSION): a reader may read an arena of its own major whose minor is at most its own.
 * informerd asks this of a HELLO, the library of each arena that it maps.
 *
 * major, minor   what the reader knows
 * why            set when it may not: "it has layout …", which versions met, and what to upgrade
 */
bool layout_is_readable(uint16_t major, uint16_t minor, const struct header *arena,
			char why[HEADER_WHY_BYTES]);

/*
 * May this program read an arena with this header?
 *
 * h          mapped header of a file with at least HEADER_BYTES bytes
 * file_bytes the file's size
 * why        set on failure: what is off
 *
 * Returns    0; -EAGAIN incomplete (its writer is at work or died); -EPROTO another layout;
 *            -EBADMSG not an arena, or damaged
 */
int header_check(const struct header *h, uint64_t file_bytes, char why[HEADER_WHY_BYTES]);

#endif
