/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps, for a handler whose feed is unsettled, two bits an object: what it believes of it. Memory is
 * asked for before anything is told, so that what was told is never forgotten.
 */
#include "reader-lib/events/catch_up_known.h"

#include <string.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/block.h"
#include "shm-layout/trie.h"

void
catch_up_known_clear(struct informer *inf, struct catch_up_known *b)
{
	for (uint32_t i = 0; i < RESOURCE_MAX; i++)
		memory_put(inf, b->parts[i].bits);
	*b = (struct catch_up_known){0};
}

void
catch_up_known_fall_behind(struct catch_up_known *b)
{
	_Static_assert(KNOWN_PRESENT == 2 && KNOWN_BEHIND == 3, "the upper bit brings the lower one");
	for (uint32_t i = 0; i < RESOURCE_MAX; i++)
		for (uint32_t k = 0; k < b->parts[i].room / 4; k++)
			b->parts[i].bits[k] |= (uint8_t)(b->parts[i].bits[k] >> 1 & 0x55);
}

int
catch_up_known_reserve(struct informer *inf, struct catch_up_known *b, uint32_t part, uint32_t ordinal)
{
	struct known_part *p = &b->parts[part];
	uint32_t room;
	uint8_t *bits;

	if (ordinal < p->room)
		return 0;
	if (ordinal >= LINK_IMMEDIATE) /* there is none; doubling would not end */
		return -ENOMEM;
	room = p->room ? p->room : 1024;
	while (room <= ordinal)
		room *= 2;
	bits = memory_get(inf, room / 4);
	if (!bits)
		return -ENOMEM;
	if (p->room)
		memcpy(bits, p->bits, p->room / 4);
	memory_put(inf, p->bits);
	p->bits = bits;
	p->room = room;
	return 0;
}
