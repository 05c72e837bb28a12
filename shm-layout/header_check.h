/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of an arena's header: whether this program may believe anything else in the file.
 */
#ifndef SHM_LAYOUT_HEADER_CHECK_H
#define SHM_LAYOUT_HEADER_CHECK_H

#include "shm-layout/header.h"

/* FNV-1a 64 over sizes and offsets that writer and readers compile in. */
uint64_t header_fingerprint(void);

#define HEADER_WHY_BYTES 160u

/*
 * True if a reader of layout major.minor may read the arena: same major, and the arena's minor is at most the
 * reader's (LAYOUT.md, VERSION). informerd checks each HELLO, the library each arena that it maps.
 *
 * why   set on false: "it has layout …", which versions met, and which side to upgrade
 */
bool layout_is_readable(uint16_t major, uint16_t minor, const struct header *arena,
			char why[HEADER_WHY_BYTES]);

/*
 * Check whether this program may read an arena with this header.
 *
 * h          mapped header of a file with at least HEADER_BYTES bytes
 * file_bytes the file's size
 * why        set on failure to the reason
 *
 * Returns    0; -EAGAIN INCOMPLETE; -EPROTO another layout; -EBADMSG not an arena, or damaged
 */
int header_check(const struct header *h, uint64_t file_bytes, char why[HEADER_WHY_BYTES]);

#endif
