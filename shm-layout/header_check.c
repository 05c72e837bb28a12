/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a header before anything else in the file is used.
 */
#include "shm-layout/header_check.h"

#include <errno.h>
#include <stdio.h>

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

bool
layout_is_readable(uint16_t major, uint16_t minor, const struct header *arena, char why[HEADER_WHY_BYTES])
{
	bool is_newer = major > arena->layout_major;

	if (major == arena->layout_major && minor >= arena->layout_minor)
		return true;
	snprintf(why, HEADER_WHY_BYTES, "it has layout %u.%u, this program knows %u.%u: upgrade %s",
		 arena->layout_major, arena->layout_minor, major, minor,
		 is_newer ? "informerd" : "the program (its libinformer)");
	return false;
}

static int
refuse(char why[HEADER_WHY_BYTES], int r, const char *text)
{
	snprintf(why, HEADER_WHY_BYTES, "%s", text);
	return r;
}

int
header_check(const struct header *h, uint64_t file_bytes, char why[HEADER_WHY_BYTES])
{
	uint32_t state;

	if (file_bytes < HEADER_BYTES)
		return refuse(why, -EBADMSG, "shorter than an arena's header");
	/*
	 * Meets the release store in arena_set_state() (writer/arena/arena.c): a reader that loads LIVE sees
	 * the whole identity. A relaxed load could return LIVE while the magic or fingerprint is not written
	 * yet.
	 */
	state = atomic_load_explicit(&((struct header *)(uintptr_t)h)->state, memory_order_acquire);
	if (state == HEADER_INCOMPLETE)
		return refuse(why, -EAGAIN,
			      "incomplete: its writer is still building it, or died while it did");
	if (h->magic != HEADER_MAGIC)
		return refuse(why, -EBADMSG, "not an informer arena (magic)");
	if (h->byte_order != HEADER_BYTE_ORDER)
		return refuse(why, -EPROTO, "written on a machine of another byte order");
	if (!layout_is_readable(LAYOUT_MAJOR, LAYOUT_MINOR, h, why))
		return -EPROTO;
	if (h->incompatible != 0)
		return refuse(why, -EPROTO,
			      "uses a layout feature that this version does not know: upgrade it");
	if (h->fingerprint != header_fingerprint())
		return refuse(why, -EPROTO,
			      "built with other sizes: install the library and the daemon from one release");
	if (state != HEADER_LIVE && state != HEADER_STALE && state != HEADER_REVOKED)
		return refuse(why, -EBADMSG, "unknown state word");
	if (h->max_bytes < HEADER_BYTES || h->max_bytes > ((uint64_t)REF_MAX + 1) * REF_UNIT)
		return refuse(why, -EBADMSG, "impossible maximum size");
	return 0;
}
