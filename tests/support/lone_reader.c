/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a mapping into a handle that has found no daemon, as the connection would. */
#include "tests/support/lone_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct slot *
lone_slot_new(int *ret_fd)
{
	int fd = memfd_create("slot", MFD_CLOEXEC);
	void *slot = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)SLOT_BYTES) == 0)
		slot = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (slot == MAP_FAILED) {
		perror("lone_reader: no slot");
		abort();
	}
	*ret_fd = fd;
	return slot;
}

static int
again(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int
lone_reader_map(struct informer *inf, int arena_fd, int slot_fd, const struct tag_keys *keys,
		struct mapping **ret)
{
	const int fds[PROTOCOL_DESCRIPTORS] = {again(arena_fd), again(slot_fd),
					       eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	struct message_welcome welcome = {.has_keys = keys != NULL};
	int r;

	if (keys)
		memcpy(welcome.keys, keys, sizeof(welcome.keys));
	pthread_mutex_lock(&inf->lock);
	r = mapping_new(inf, fds, &welcome, ret);
	pthread_mutex_unlock(&inf->lock);
	return r;
}

struct informer *
lone_reader_new(const struct arena *arena, int arena_fd, int slot_fd, uint32_t flags)
{
	struct informer_options options = {
		.size = sizeof(options), .flags = flags, .socket_path = "/nonexistent/informer.sock"};
	struct informer *inf;
	struct mapping *m;

	if (informer_attach(&options, &inf) < 0)
		return NULL;
	if (lone_reader_map(inf, arena_fd, slot_fd, &arena->keys, &m) < 0) {
		informer_detach(inf);
		return NULL;
	}
	pthread_mutex_lock(&inf->lock);
	mapping_make_current(inf, m);
	pthread_mutex_unlock(&inf->lock);
	return inf;
}

/* Map private memory in the same place, so that no address changes. */
static void
own(void *start, size_t bytes, int fd)
{
	if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, 0) !=
	    start) {
		perror("lone_reader: no memory of its own");
		abort();
	}
}

void
lone_reader_own(struct informer *inf, int slot_fd)
{
	const struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);

	own((void *)(uintptr_t)m->header, (size_t)m->max_bytes, m->arena_fd);
	own(m->slot, SLOT_BYTES, slot_fd);
	if (madvise(inf->alive, (size_t)sysconf(_SC_PAGESIZE), MADV_KEEPONFORK) < 0) {
		perror("lone_reader: madvise");
		abort();
	}
}

void
lone_reader_trust_again(struct informer *inf, bool all)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);

	if (!m->verifier || !(all || block_verifier_met_damage(m->verifier)))
		return;
	block_verifier_free(m->verifier);
	m->verifier = block_verifier_new(&m->keys);
	if (!m->verifier)
		abort();
}

void
lone_reader_map_again(struct informer *inf)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	void *base = (void *)(uintptr_t)m->header;

	if (atomic_exchange(&m->blank, false) &&
	    mmap(base, (size_t)m->max_bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, m->arena_fd,
		 0) != base)
		abort();
}
