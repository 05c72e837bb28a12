/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the arena of a writer that does not answer; the steps of silent_copy.h stand here with their
 * numbers. The file is read, not mapped, but for its header: a hole takes no memory then, neither there nor
 * here.
 */
#include "reader-lib/attach/silent_copy.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader-lib/attach/noted_arena.h"
#include "shm-layout/root.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/time_ns.h"

#define PIECE_BYTES (256u << 10)

/* What says which state an arena is in. */
struct moment {
	uint64_t root;
	uint64_t epoch;
	uint64_t newest;
	uint64_t committed;
	uint64_t superseded_by;
	uint32_t state;
};

static int
load_moment(int arena, struct header *h, struct moment *ret)
{
	ssize_t n;

	memset(ret, 0, sizeof(*ret));
	ret->newest = slot_load_newest(h);
	ret->root = slot_load_root(h);
	ret->committed = atomic_load_explicit(&h->committed_bytes, memory_order_acquire);
	ret->state = atomic_load_explicit(&h->state, memory_order_relaxed);
	ret->superseded_by = atomic_load_explicit(&h->superseded_by, memory_order_relaxed);
	if (ret->root < HEADER_BYTES || ret->root >= ret->committed)
		return -EBADMSG;
	n = pread(arena, &ret->epoch, sizeof(ret->epoch),
		  (off_t)(ret->root + sizeof(struct block) + offsetof(struct root, epoch)));
	return n < 0 ? -errno : n == sizeof(ret->epoch) ? 0 : -EBADMSG;
}

static bool
is_same(const struct moment *a, const struct moment *b)
{
	return a->root == b->root && a->epoch == b->epoch && a->newest == b->newest &&
	       a->committed == b->committed && a->superseded_by == b->superseded_by && a->state == b->state;
}

/* Who does not answer, for people: its pid, where the note says one. */
static const char *
name_writer(const struct noted_arena *noted, char text[48])
{
	if (noted->note.pid <= 0)
		return "informerd";
	snprintf(text, 48, "informerd (pid %ld)", noted->note.pid);
	return text;
}

/* How much is to be copied is known, and may be. */
static int
check_size(struct informer *inf, const struct noted_arena *noted, const struct stat *st, uint64_t committed)
{
	char writer[48];
	struct rlimit file_size;

	if (committed > (uint64_t)st->st_size)
		return error_set(inf, INFORMER_E_CORRUPT,
				 "the arena is damaged: claims more bytes than its file has");
	if ((uint64_t)st->st_blocks * 512 > SILENT_COPY_MAX)
		return error_set(
			inf, -EFBIG,
			"%s does not answer, and the %llu MiB that it published are more than the %llu that "
			"are copied: continue or restart it",
			name_writer(noted, writer), (unsigned long long)st->st_blocks / 2048,
			SILENT_COPY_MAX >> 20);
	/* to write beyond it is a signal */
	if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && committed > file_size.rlim_cur)
		return error_set(inf, -EFBIG,
				 "%s does not answer, and what it published cannot be copied: this process's "
				 "limit of a file's size (ulimit -f) is below %llu MiB",
				 name_writer(noted, writer), (unsigned long long)committed >> 20);
	return 0;
}

static int
copy_range(int from, int to, off_t start, off_t end, uint8_t *piece)
{
	while (start < end) {
		size_t length = end - start < (off_t)PIECE_BYTES ? (size_t)(end - start) : PIECE_BYTES;
		ssize_t n = pread(from, piece, length, start);

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		for (ssize_t done = 0; done < n;) {
			ssize_t written = pwrite(to, piece + done, (size_t)(n - done), start + done);

			if (written < 0)
				return -errno;
			done += written;
		}
		start += n;
	}
	return 0;
}

/* C3. */
static int
copy_file(struct informer *inf, int from, int to, uint64_t committed)
{
	uint8_t *piece = memory_get(inf, PIECE_BYTES);
	off_t at = 0, end = (off_t)committed;
	int r = piece && ftruncate(to, end) == 0 ? 0 : -ENOMEM;

	while (r == 0 && at < end) {
		off_t data = lseek(from, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		if (hole < 0) {
			r = -errno;
			break;
		}
		r = copy_range(from, to, data, hole < end ? hole : end, piece);
		at = hole;
	}
	memory_put(inf, piece);
	slot_fence();
	return r;
}

static int
empty_cells(const struct mapping *m, const struct arena_view *view, uint32_t table, enum shortcut_kind kind)
{
	size_t size = kind == SHORTCUT_BY_KEY ? sizeof(uint64_t) : sizeof(uint32_t);
	uint32_t count;
	const uint8_t *cells = table ? shortcut_cells(view, table, kind, &count) : NULL;

	if (!cells || fallocate(m->arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, cells - view->base,
				(off_t)(count * size)) == 0)
		return 0;
	return -errno;
}

/* C5. A resource that is damaged is not looked into by anybody. */
static int
empty_shortcuts(const struct mapping *m)
{
	const struct arena_view view = {(const uint8_t *)m->header, m->checked, NULL};
	uint32_t count = 0;
	const struct root *root = root_load(&view, slot_load_root(m->header), &count);
	int r = 0;

	for (uint32_t i = 0; root && r == 0 && i < count; i++) {
		const struct resource *res = root_resource_of(&view, root, count, i);

		if (!res)
			continue;
		r = empty_cells(m, &view, res->by_key, SHORTCUT_BY_KEY);
		if (r == 0)
			r = empty_cells(m, &view, res->by_ordinal, SHORTCUT_BY_ORDINAL);
	}
	return r;
}

/* C2 to C5, of an open file whose header is mapped. */
static int
copy(struct informer *inf, const struct noted_arena *noted, int arena, struct header *h,
     const struct stat *st, struct mapping **ret_mapping)
{
	struct moment before, after;
	uint64_t next = h->generation + 1;
	struct mapping *m;
	char writer[48];
	int fd, r = load_moment(arena, h, &before); /* C2 */

	if (r < 0)
		return error_set(inf, INFORMER_E_CORRUPT, "the arena is damaged: it has no root");
	r = check_size(inf, noted, st, before.committed);
	if (r < 0)
		return r;
	fd = memfd_create("informer-copy", MFD_CLOEXEC);
	r = fd < 0 ? -errno : copy_file(inf, arena, fd, before.committed); /* C3 */
	if (r < 0) {
		if (fd >= 0)
			close(fd);
		return error_set(inf, r, "%s does not answer, and what it published cannot be copied: %s",
				 name_writer(noted, writer), errno_text(-r));
	}
	r = load_moment(arena, h, &after); /* C4 */
	if (r < 0 || !is_same(&before, &after)) {
		close(fd);
		return -EAGAIN;
	}
	r = noted_map(inf, noted, fd, &m);
	if (r < 0)
		return r;
	r = empty_shortcuts(m); /* C5 */
	/* so that informer_begin() goes on asking whether the writer answers */
	if (r == 0 && pwrite(fd, &next, sizeof(next), offsetof(struct header, superseded_by)) < 0)
		r = -errno;
	if (r < 0) {
		mapping_free(inf, m, false);
		return error_set(inf, r, "what informerd published cannot be copied: %s", errno_text(-r));
	}
	m->copied = true;
	*ret_mapping = m;
	return 0;
}

static bool
is_silent(const struct header *h)
{
	uint64_t beat = atomic_load_explicit(&((struct header *)(uintptr_t)h)->heartbeat_boot_ns,
					     memory_order_relaxed),
		 now = time_ns(CLOCK_BOOTTIME);

	return now > beat && now - beat >= SILENT_NS;
}

static int
copy_noted(struct informer *inf, const struct noted_arena *noted, struct mapping **ret_mapping)
{
	int arena = noted_open_file(noted), r = -EAGAIN;
	const char *why;
	struct stat st;
	void *header;

	if (arena < 0)
		return arena;
	header = mmap(NULL, HEADER_BYTES, PROT_READ, MAP_SHARED, arena, 0);
	if (fstat(arena, &st) < 0 || header == MAP_FAILED)
		r = error_set(inf, -errno,
			      "cannot look at the arena of an informerd that does not answer: %s",
			      errno_text(errno));
	else if (st.st_size >= (off_t)HEADER_BYTES && header_check(header, (uint64_t)st.st_size, &why) == 0 &&
		 noted_held(noted) == 1 && is_silent(header))
		r = copy(inf, noted, arena, header, &st, ret_mapping);
	if (header != MAP_FAILED)
		munmap(header, HEADER_BYTES);
	close(arena);
	return r;
}

int
silent_copy(struct informer *inf, struct mapping **ret_mapping)
{
	int result = -ENOENT;

	for (unsigned i = 0; i < inf->address_count; i++) {
		struct noted_arena noted;
		int r = noted_open(inf->addresses[i].sun_path, &noted); /* C1 */

		if (r == 0)
			r = copy_noted(inf, &noted, ret_mapping);
		noted_close(&noted);
		if (r == 0)
			return 0;
		if (result == -ENOENT)
			result = r;
	}
	return result;
}
