/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, opens and marks arena files: checks the owner first, then the number in the name, then the header.
 */
#include "writer/store/generation_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm-layout/page_size.h"
#include "shm-layout/slot.h"
#include "writer/arena/arena_pages.h"

#define GENERATION_MAX (UINT64_MAX / 2) /* a writer never counts higher */

void
generation_file_name(const struct arena_place *place, uint64_t generation, char *name, size_t size)
{
	snprintf(name, size, "%s.%" PRIu64, place->prefix, generation);
}

static int
compare_descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The generation in a file's name; 0: the name is not an arena's. */
static uint64_t
named_generation(const struct arena_place *place, const char *name)
{
	size_t prefix = strlen(place->prefix);
	uint64_t generation;
	char *end;

	if (strncmp(name, place->prefix, prefix) != 0 || name[prefix] != '.')
		return 0;
	name += prefix + 1;
	if (*name < '1' || *name > '9')
		return 0;
	errno = 0;
	generation = strtoull(name, &end, 10);
	return *end == '\0' && errno == 0 ? generation : 0;
}

int
generation_files_find(const struct arena_place *place, uint64_t generations[GENERATIONS_MAX],
		      unsigned *strangers)
{
	struct dirent *entry;
	unsigned count = 0;
	DIR *dir;
	int fd = openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		int r = -errno;

		close(fd);
		return r;
	}
	*strangers = 0;
	while ((entry = readdir(dir))) {
		uint64_t generation = named_generation(place, entry->d_name);
		struct stat st;

		if (generation == 0 || fstatat(place->directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (st.st_uid != geteuid()) {
			++*strangers;
			continue;
		}
		if (generation > GENERATION_MAX)
			continue;
		if (count < GENERATIONS_MAX) {
			generations[count++] = generation;
			continue;
		}
		qsort(generations, count, sizeof(generations[0]), compare_descending);
		if (generation > generations[count - 1])
			generations[count - 1] = generation;
	}
	closedir(dir);
	qsort(generations, count, sizeof(generations[0]), compare_descending);
	return (int)count;
}

void
generation_file_close(struct generation_file *file, bool keep_fd)
{
	free(file->header);
	file->header = NULL;
	if (keep_fd)
		return;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int
generation_file_open(const struct arena_place *place, const char *name, struct generation_file *file,
		     const char **why)
{
	struct stat st;
	int r;

	*file = (struct generation_file){
		.fd = openat(place->directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
	if (file->fd < 0) {
		*why = errno == ELOOP ? "it is a symbolic link" : "it cannot be opened";
		return -EPERM;
	}
	if (fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 077) != 0 || st.st_nlink != 1) {
		*why = "it is not a file of ours alone (owner, mode 0600, one link)";
		return -EPERM;
	}
	*why = "it is shorter than a header";
	if ((uint64_t)st.st_size < HEADER_BYTES)
		return st.st_size == 0 ? -EAGAIN : -EBADMSG;
	file->header = aligned_alloc(_Alignof(struct header), sizeof(*file->header));
	if (!file->header) {
		*why = strerror(ENOMEM);
		return -ENOMEM;
	}
	if (pread(file->fd, file->header, HEADER_BYTES, 0) != (ssize_t)HEADER_BYTES) {
		*why = "its header cannot be read";
		return -EIO;
	}
	*why = file->why;
	r = header_check(file->header, (uint64_t)st.st_size, file->why);
	/* Relaxed loads: the header is our copy. arena_tell_epoch() stores the epoch last. */
	if (r == -EAGAIN && atomic_load_explicit(&file->header->epoch, memory_order_relaxed) != 0) {
		*why = "it says that it is unfinished, and was published";
		return -EBADMSG;
	}
	if (r < 0)
		return r;
	file->bytes = atomic_load_explicit(&file->header->committed_bytes, memory_order_relaxed);
	if (file->bytes < HEADER_BYTES || file->bytes > (uint64_t)st.st_size || file->bytes % 4096 != 0) {
		*why = "its committed size is impossible";
		return -EBADMSG;
	}
	return 0;
}

enum header_state
generation_file_state(const struct generation_file *file)
{
	return (enum header_state)atomic_load_explicit(&file->header->state, memory_order_relaxed);
}

uint64_t
generation_file_superseded_by(const struct generation_file *file)
{
	return atomic_load_explicit(&file->header->superseded_by, memory_order_relaxed);
}

/* ---- informing the readers ---- */

static struct header *
map_header(int fd)
{
	struct header *h = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return h == MAP_FAILED ? NULL : h;
}

static void
name_successor(struct header *h, uint64_t generation)
{
	/*
	 * Meets mapping_superseded() in reader-lib, which asks for the next arena then. Release: unless the
	 * old file is revoked, the new generation is LIVE before the old one names it. Without it a reader
	 * would ask too early, and again.
	 */
	atomic_store_explicit(&h->superseded_by, generation, memory_order_release);
}

void
generation_file_supersede(int fd, uint64_t generation)
{
	struct header *h = map_header(fd);

	if (!h)
		return;
	name_successor(h, generation);
	munmap(h, HEADER_BYTES);
}

/* Mark the file as revoked, then as superseded. False: its header cannot be mapped. */
static bool
revoke_file(int fd, uint64_t generation)
{
	struct header *h = map_header(fd);

	if (!h)
		return false;
	/*
	 * Before the successor's number: if a file is superseded and not revoked, its successor was LIVE.
	 * Meets the fence and the load in snapshot_validate() (reader-lib/attach/snapshot.h): the state says
	 * REVOKED before the first page is freed. Without it a reader could take zeros for content. The full
	 * fence puts the store before the kernel's zeros; the release alone would not.
	 */
	atomic_store_explicit(&h->state, HEADER_REVOKED, memory_order_release);
	slot_fence();
	name_successor(h, generation);
	munmap(h, HEADER_BYTES);
	return true;
}

void
generation_file_give_back(int fd, uint64_t generation)
{
	uint64_t from = page_round_up(HEADER_BYTES); /* whole pages, as arena_punch() */
	struct stat st;

	if (revoke_file(fd, generation) && fstat(fd, &st) == 0 && (uint64_t)st.st_size > from)
		arena_pages_punch(fd, from, (uint64_t)st.st_size);
}

bool
generation_file_is_read(int fd)
{
	/*
	 * A write lease is granted only if no other process has the file open or mapped. If a process opens
	 * the file meanwhile, the kernel sends us a signal that is ignored by default.
	 */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return true;
	return fcntl(fd, F_SETLEASE, F_UNLCK) < 0;
}
