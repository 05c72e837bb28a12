/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slot places: fields of address space in which slots are mapped side by side.
 */
#include "reader-lib/attach/slot_places.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "shm-layout/page_size.h"

#define FIELD_PLACES 256u

struct slot_field {
	struct slot_field *next;
	uint8_t *places;
};

/* Bytes from one place to the next: a slot, in whole pages. */
static size_t
place_bytes(void)
{
	return page_round_up(SLOT_BYTES);
}

static int
add_field(struct slot_places *p, const struct allocator *memory)
{
	struct slot_field *field = allocator_get(memory, sizeof(*field));
	void *start;

	if (!field)
		return -ENOMEM;
	start = mmap(NULL, FIELD_PLACES * place_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED) {
		allocator_put(memory, field);
		return -ENOMEM;
	}
	field->places = start;
	field->next = p->fields;
	p->fields = field;
	p->used = 0;
	return 0;
}

int
slot_places_map(struct slot_places *p, const struct allocator *memory, int fd, struct slot **ret_slot)
{
	struct slot *slot;
	int r = !p->fields || p->used == FIELD_PLACES ? add_field(p, memory) : 0;

	if (r < 0)
		return r;
	slot = (struct slot *)(void *)(p->fields->places + p->used * place_bytes());
	if (mmap(slot, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return -errno;
	if (madvise(slot, SLOT_BYTES, MADV_DONTFORK) < 0) {
		r = -errno;
		slot_places_leave(slot);
		return r;
	}
	*ret_slot = slot;
	return 0;
}

void
slot_places_take(struct slot_places *p)
{
	p->used++;
}

void
slot_places_leave(struct slot *slot)
{
	(void)!mmap(slot, SLOT_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void
slot_places_stand_in(struct slot *slot)
{
	/* The same flags for all: else the kernel does not merge the mappings. */
	if (mmap(slot, SLOT_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
		(void)!madvise(slot, SLOT_BYTES, MADV_DONTFORK);
}

void
slot_places_done(struct slot_places *p, const struct allocator *memory, bool in_child)
{
	while (p->fields) {
		struct slot_field *field = p->fields;

		p->fields = field->next;
		if (!in_child)
			munmap(field->places, FIELD_PLACES * place_bytes());
		allocator_put(memory, field);
	}
}
