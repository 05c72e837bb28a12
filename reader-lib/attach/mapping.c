/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings: an arena, our slot and the eventfd, as the broker passed them.
 *
 * The arena is mapped once, read-only, at the size to which its file may grow. Beyond the file there is only
 * address space. No reference is followed beyond the committed bytes, which are compared with the file's size
 * first. Only the writer can shrink the file: owner and mode (0600) keep others out, and our descriptor is
 * read-only.
 */
#include "reader-lib/attach/mapping.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader-lib/attach/fault_guard.h"
#include "shm-layout/header_check.h"
#include "shm-layout/huge_map.h"

/* Other processes may write the header, so it is input. It is copied once; checks and uses take the copy. */
static void
copy_header(const struct header *shared, struct header *ret)
{
	/* As in header_check(), which sees only the copy: LIVE comes with the whole identity. */
	uint32_t state = atomic_load_explicit(&((struct header *)(uintptr_t)shared)->state,
					      memory_order_acquire);
	/* Meets the release stores in writer/arena/arena.c: the file had these bytes before. */
	uint64_t committed = atomic_load_explicit(&((struct header *)(uintptr_t)shared)->committed_bytes,
						  memory_order_acquire);

	memcpy(ret, shared, sizeof(*ret));
	atomic_store_explicit(&ret->state, state, memory_order_relaxed);
	atomic_store_explicit(&ret->committed_bytes, committed, memory_order_relaxed);
	/* Keep the compiler from loading again what the copy has. */
	atomic_signal_fence(memory_order_seq_cst);
}

static int
check_header(const struct header *copy, uint64_t file_bytes, uint64_t committed, char why[HEADER_WHY_BYTES])
{
	int r = header_check(copy, file_bytes, why);

	if (r == 0 && (committed > file_bytes || committed > copy->max_bytes || copy->max_bytes > SIZE_MAX)) {
		r = -EBADMSG;
		snprintf(why, HEADER_WHY_BYTES, "claims more bytes than its file has");
	}
	return r;
}

static int
map_arena(struct mapping *m)
{
	char why[HEADER_WHY_BYTES] = "";
	struct header header;
	uint64_t committed;
	struct stat st;
	void *base;
	int r;

	if (fstat(m->arena_fd, &st) < 0)
		return error_set(-errno, "cannot look at the arena that informerd passed: %s",
				 errno_text(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)HEADER_BYTES)
		return error_set(INFORMER_E_CORRUPT,
				 "the arena that informerd passed is no file of at least %u bytes",
				 HEADER_BYTES);
	base = mmap(NULL, HEADER_BYTES, PROT_READ, MAP_SHARED, m->arena_fd, 0);
	if (base == MAP_FAILED)
		return error_set(-errno, "cannot map the arena's header: %s", errno_text(errno));
	copy_header(base, &header);
	munmap(base, HEADER_BYTES);
	committed = atomic_load_explicit(&header.committed_bytes, memory_order_relaxed);
	r = check_header(&header, (uint64_t)st.st_size, committed, why);
	if (r == -EAGAIN)
		return error_set(r, "the arena is %s", why);
	if (r == -EPROTO)
		return error_set(INFORMER_E_LAYOUT, "the arena cannot be read: %s", why);
	if (r < 0)
		return error_set(INFORMER_E_CORRUPT, "the arena is damaged: %s", why);

	m->max_bytes = header.max_bytes;
	base = huge_map((size_t)m->max_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, m->arena_fd);
	if (base == MAP_FAILED)
		return error_set(-errno,
				 "cannot reserve %llu bytes of address space for the arena: %s; raise "
				 "the address space limit (ulimit -v), or have informerd run with a "
				 "smaller --arena-max",
				 (unsigned long long)m->max_bytes, strerror(errno));
	m->header = base;
	m->state = &((struct header *)base)->state;
	if (madvise(base, (size_t)m->max_bytes, MADV_DONTFORK) < 0)
		return error_set(-errno, "cannot keep the arena from being inherited: %s", errno_text(errno));
	memcpy(m->hash_key, header.hash_key, sizeof(m->hash_key));
	memcpy(m->incarnation, header.incarnation, sizeof(m->incarnation));
	m->generation = header.generation;
	atomic_store_explicit(&m->checked, committed, memory_order_relaxed);
	return 0;
}

static int
map_slot(struct informer *inf, struct mapping *m, int fd)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return error_set(-errno, "cannot look at the slot that informerd passed: %s",
				 errno_text(errno));
	if (st.st_size != (off_t)SLOT_BYTES)
		return error_set(INFORMER_E_LAYOUT,
				 "the slot that informerd passed has %lld bytes, not %u: install the "
				 "library and the daemon from one release",
				 (long long)st.st_size, SLOT_BYTES);
	r = slot_places_map(&inf->slot_places, &inf->memory, fd, &m->slot);
	return r < 0 ? error_set(r, "cannot map the slot: %s", errno_text(-r)) : 0;
}

static int
guard(const struct mapping *m)
{
	int r = fault_guard_add(m->header, (size_t)m->max_bytes, m->slot);

	return r < 0 ? error_set(r, "cannot guard the arena against SIGBUS: %s", errno_text(-r)) : 0;
}

static int
make_verifier(struct informer *inf, struct mapping *m, const struct message_welcome *welcome)
{
	_Static_assert(sizeof(m->keys) == sizeof(welcome->keys), "protocol: keys");
	if (!(inf->flags & INFORMER_VERIFY))
		return 0;
	if (!welcome->has_keys)
		return error_set(INFORMER_E_REFUSED, "informerd gave no keys, so nothing can be verified");
	memcpy(&m->keys, welcome->keys, sizeof(m->keys));
	m->verifier = block_verifier_new(&m->keys);
	return m->verifier ? 0 : error_set(-ENOMEM, "no memory for the verification table");
}

/* A spare struct, or a new one. Zeroed, but for `place`. */
static struct mapping *
take_struct(struct informer *inf)
{
	struct mapping *m = inf->spare_mappings;

	if (!m)
		return memory_get(inf, sizeof(*m));
	inf->spare_mappings = m->next;
	_Static_assert(offsetof(struct mapping, place) + sizeof(m->place) == offsetof(struct mapping, serial),
		       "mapping: place is left out");
	memset(m, 0, offsetof(struct mapping, place));
	memset(&m->serial, 0, sizeof(*m) - offsetof(struct mapping, serial));
	return m;
}

int
mapping_new(struct informer *inf, const int fds[PROTOCOL_DESCRIPTORS], const struct message_welcome *welcome,
	    struct mapping **ret_mapping)
{
	struct mapping *m = take_struct(inf);
	int r;

	if (!m) {
		for (unsigned i = 0; i < PROTOCOL_DESCRIPTORS; i++)
			close(fds[i]);
		return error_set(-ENOMEM, "no memory for another mapping");
	}
	m->arena_fd = fds[0];
	m->event_fd = fds[2];
	m->socket = -1;
	m->serial = atomic_load_explicit(&inf->newest_serial, memory_order_relaxed) + 1;
	/* Before M1, which orders it: a thread that finds this mapping current sees at least this serial. */
	atomic_store_explicit(&inf->newest_serial, m->serial, memory_order_relaxed);
	r = map_arena(m);
	if (r == 0)
		r = map_slot(inf, m, fds[1]);
	if (r == 0)
		r = guard(m);
	if (r == 0)
		r = make_verifier(inf, m, welcome);
	close(fds[1]);
	if (r < 0) {
		mapping_free(inf, m);
		return r;
	}
	*ret_mapping = m;
	return 0;
}

/* The last step: from then on the slot protects nothing. */
static void
hang_up(struct mapping *m, bool in_child)
{
	if (m->socket < 0)
		return;
	/* shutdown() also ends a copy that a child inherited; a child must not end its parent's. */
	if (!in_child)
		shutdown(m->socket, SHUT_RDWR);
	close(m->socket);
	m->socket = -1;
}

/* Unmap and close all but the slot. A forked child unmaps nothing: other memory may be mapped there. */
static void
unmap_arena(struct mapping *m, bool in_child)
{
	if (m->header && !in_child) {
		fault_guard_remove(m->header);
		munmap((void *)(uintptr_t)m->header, (size_t)m->max_bytes);
	}
	close(m->arena_fd);
	close(m->event_fd);
	hang_up(m, in_child);
	block_verifier_free(m->verifier);
	explicit_bzero(&m->keys, sizeof(m->keys));
}

/* Keep the struct: a thread may still use it from when it was current. */
static void
spare(struct informer *inf, struct mapping *m)
{
	m->next = inf->spare_mappings;
	inf->spare_mappings = m;
}

void
mapping_free(struct informer *inf, struct mapping *m)
{
	if (m->slot)
		slot_places_leave(m->slot);
	unmap_arena(m, false);
	spare(inf, m);
}

void
mapping_make_current(struct informer *inf, struct mapping *m)
{
	m->next = inf->mappings;
	inf->mappings = m;
	slot_places_take(&inf->slot_places);
	/* Before M1, which orders it: a thread that finds the mapping current finds this place. */
	atomic_store_explicit(&m->place, m->slot, memory_order_relaxed);
	/*
	 * Meets the loads in claim() (snapshot.c), arm() and arm_for_handlers(): they find the mapping
	 * filled. seq_cst, with the fence in mapping_reap() below: a thread that claimed a cell in the old
	 * mapping sees the new one at R1', or mapping_reap() sees the cell.
	 */
	atomic_store_explicit(&inf->current, m, memory_order_seq_cst);
}

static void
free_all(struct informer *inf, struct mapping *first)
{
	while (first) {
		struct mapping *m = first;

		first = m->next;
		memory_put(inf, m);
	}
}

void
mappings_done(struct informer *inf, bool in_child)
{
	for (struct mapping *m = inf->mappings; m; m = m->next)
		unmap_arena(m, in_child);
	free_all(inf, inf->mappings);
	free_all(inf, inf->spare_mappings);
	slot_places_done(&inf->slot_places, &inf->memory, in_child);
}

unsigned
mapping_pins(const struct mapping *m)
{
	unsigned pins = 0;

	for (unsigned i = 0; i < SLOT_CELLS; i++)
		/* Meets slot_unpin() in another thread: its reads are over before we unmap. */
		pins += atomic_load_explicit(&m->slot->cells[i].epoch, memory_order_acquire) != CELL_FREE;
	return pins;
}

/*
 * The fence meets R1's in claim() (snapshot.c), which claims a cell, fences, and looks whether the mapping is
 * still current: one of the two sees the other. So an old mapping without pins gets no new pin that lasts.
 * Without the fence, an arena could be unmapped while a snapshot opens on it. The acquire load of `holds`
 * meets ring_free().
 *
 * informerd counts slots that readers keep mapped, so private memory replaces the slot.
 */
void
mapping_reap(struct informer *inf)
{
	const struct mapping *current = atomic_load_explicit(&inf->current, memory_order_relaxed);
	uint64_t oldest = UINT64_MAX;
	struct mapping *m;

	slot_fence();
	for (struct mapping **at = &inf->mappings; (m = *at);) {
		if (m != current && atomic_load_explicit(&m->holds, memory_order_acquire) == 0 &&
		    mapping_pins(m) == 0) {
			*at = m->next;
			slot_places_stand_in(m->slot);
			unmap_arena(m, false);
			spare(inf, m);
			continue;
		}
		oldest = m->serial < oldest ? m->serial : oldest;
		at = &m->next;
	}
	/* Meets the acquire load in retire() (resource_open.c): all reads under those pins are over. */
	atomic_store_explicit(&inf->oldest_serial, oldest, memory_order_release);
}

uint64_t
mapping_grown(struct mapping *m, uint64_t committed)
{
	uint64_t checked = atomic_load_explicit(&m->checked, memory_order_relaxed);
	struct stat st;

	if (committed > m->max_bytes)
		committed = m->max_bytes;
	if (committed <= checked || fstat(m->arena_fd, &st) < 0)
		return checked;
	if (committed > (uint64_t)st.st_size)
		committed = (uint64_t)st.st_size;
	while (checked < committed &&
	       !atomic_compare_exchange_weak_explicit(&m->checked, &checked, committed, memory_order_relaxed,
						      memory_order_relaxed))
		;
	return committed;
}
