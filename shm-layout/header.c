/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header: what a reader asks before it believes anything else in the file.
 */
#include "shm-layout/header.h"

#include <errno.h>

#include "shm-layout/fnv.h"
#include "shm-layout/object.h"
#include "shm-layout/posting.h"
#include "shm-layout/root.h"
#include "shm-layout/slot.h"
#include "shm-layout/trie.h"

uint64_t
header_fingerprint(void)
{
	static const uint32_t sizes[] = {
		sizeof(struct header),
		sizeof(struct block),
		sizeof(struct root),
		sizeof(struct resource),
		sizeof(struct trie_node),
		sizeof(struct posting),
		offsetof(struct object, key),
		sizeof(struct slot),
		sizeof(void *),
		REF_UNIT,
		POSTING_ARRAY_MAX,
		TRIE_SHIFT_TOP,
		RESOURCE_VERSION_MAX,
	};
	uint64_t hash = FNV64_BEGIN;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint8_t bytes[4] = {(uint8_t)sizes[i], (uint8_t)(sizes[i] >> 8),
					  (uint8_t)(sizes[i] >> 16), (uint8_t)(sizes[i] >> 24)};

		hash = fnv64(hash, bytes, sizeof(bytes));
	}
	return hash;
}

int
header_check(const struct header *h, uint64_t file_bytes, const char **ret_why)
{
	uint32_t state;

	if (file_bytes < HEADER_BYTES) {
		*ret_why = "shorter than an arena's header";
		return -EBADMSG;
	}
	/*
	 * Meets the release store in arena_set_state() (writer/arena/arena.c): who sees LIVE sees the whole
	 * identity. Without it LIVE could be seen beside a magic or fingerprint that is not written yet.
	 */
	state = atomic_load_explicit(&((struct header *)(uintptr_t)h)->state, memory_order_acquire);
	if (state == HEADER_INCOMPLETE) {
		*ret_why = "incomplete: its writer is still building it, or died while it did";
		return -EAGAIN;
	}
	if (h->magic != HEADER_MAGIC) {
		*ret_why = "not an informer arena (magic)";
		return -EBADMSG;
	}
	if (h->byte_order != HEADER_BYTE_ORDER) {
		*ret_why = "written on a machine of another byte order";
		return -EPROTO;
	}
	if (h->layout_major != LAYOUT_MAJOR) {
		*ret_why = "another layout version: install the library and the daemon from one release";
		return -EPROTO;
	}
	if (h->incompatible != 0) {
		*ret_why = "uses a layout feature that this version does not know: upgrade it";
		return -EPROTO;
	}
	if (h->fingerprint != header_fingerprint()) {
		*ret_why = "built with other sizes: install the library and the daemon from one release";
		return -EPROTO;
	}
	if (state != HEADER_LIVE && state != HEADER_STALE && state != HEADER_REVOKED) {
		*ret_why = "unknown state word";
		return -EBADMSG;
	}
	if (h->max_bytes < HEADER_BYTES || h->max_bytes > ((uint64_t)REF_MAX + 1) * REF_UNIT) {
		*ret_why = "impossible maximum size";
		return -EBADMSG;
	}
	return 0;
}
