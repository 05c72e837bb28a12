/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manages the memory of an explored program, and puts it back after each run.
 *
 * The explorer knows the program's variables, its malloc()ed memory (from a pool that never reuses memory),
 * and its mappings. Several mappings of one file count as one memory, known by the first. A page is copied
 * before its first write and copied back after the run, so a run costs only what it wrote.
 *
 * Writes by libraries must be reported here: those of libsodium's hashes are.
 */
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/explorer/machine.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define PAGE 4096u
#define REGIONS 64u
#define POOL_BYTES (256ull << 20)
#define PAGES 65536u
#define FDS 256
#define OWN_MEMORY 0x10000000000ull

struct saved_page {
	unsigned long run; /* in which it was copied, or found equal to the copy */
	uint8_t bytes[PAGE];
};

/*
 * saved     of each page the copy, or NULL
 * of        the region that first mapped the same file; otherwise this region
 * in_run    mapped during the present run; ends with the run
 * gone      unmapped during the present run; back after the run
 */
struct region {
	uintptr_t start;
	size_t length;
	struct saved_page **saved;
	struct region *of;
	dev_t device;
	ino_t inode;
	bool is_file, in_run, gone;
	char name[32];
};

struct dirty {
	struct region *region;
	size_t page;
};

static struct {
	OWN_PAGES struct region regions[REGIONS];
	unsigned count;
	uint8_t *pool;
	size_t used, kept;
	struct dirty dirty[PAGES];
	size_t dirty_count;
	struct region *last;
	uintptr_t next; /* where the explorer's own memory is mapped next */
	bool open[FDS];
	uint64_t counts[FDS]; /* of eventfds their count + 1; 0: no eventfd */
	unsigned random, kept_random;
	bool descriptors; /* the run may have opened descriptors or made mappings */
} world = {.next = OWN_MEMORY};

void *__real_realloc(void *p, size_t bytes);
void __real_free(void *p);
void *__real_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *p, size_t length);
int __real_madvise(void *p, size_t length, int advice);
int __real_fallocate(int fd, int mode, off_t from, off_t length);
int __real_close(int fd);
int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __real_crypto_generichash_final(crypto_generichash_state *state, unsigned char *out, size_t length);

/* ---- regions ---- */

/* The same addresses in each process, where possible, so that runs come in the same order. */
void *
own_memory(size_t bytes)
{
	void *p = __real_mmap((void *)world.next, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	world.next += (bytes + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	return p;
}

static struct region *
add_region(uintptr_t start, size_t length, const char *name)
{
	struct region *r = NULL;

	for (unsigned i = 0; i < world.count && !r; i++)
		if (world.regions[i].length == 0)
			r = &world.regions[i];
	if (!r) {
		if (world.count == REGIONS) {
			fprintf(stderr, "explorer: more than %u mappings\n", REGIONS);
			abort();
		}
		r = &world.regions[world.count++];
	}
	*r = (struct region){.start = start, .length = length, .of = r, .in_run = running != NULL};
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->saved = own_memory((length / PAGE + 1) * sizeof(r->saved[0]));
	return r;
}

/* Other mappings of the same file are then known by one of them. */
static void
forget_region(struct region *r)
{
	struct region *next = NULL;

	__real_munmap(r->saved, (r->length / PAGE + 1) * sizeof(r->saved[0]));
	r->length = 0;
	world.last = NULL;
	for (unsigned i = 0; i < world.count; i++) {
		struct region *other = &world.regions[i];

		if (other->length == 0 || other->of != r)
			continue;
		next = next ? next : other;
		other->of = next;
	}
}

extern char __data_start[], _end[];

static __attribute__((constructor)) void
begin(void)
{
	uintptr_t data = (uintptr_t)__data_start & ~(uintptr_t)(PAGE - 1);

	if (world.pool)
		return;
	add_region(data, (uintptr_t)_end - data, "static");
	world.pool = own_memory(POOL_BYTES);
	add_region((uintptr_t)world.pool, POOL_BYTES, "memory");
}

struct region *
region_of(uintptr_t address, uintptr_t *ret_canonical)
{
	struct region *r = world.last;

	if (!r || address - r->start >= r->length) {
		r = NULL;
		for (unsigned i = 0; i < world.count && !r; i++)
			if (address - world.regions[i].start < world.regions[i].length)
				r = &world.regions[i];
		if (!r)
			return NULL;
		world.last = r;
	}
	*ret_canonical = address - r->start + r->of->start;
	return r;
}

unsigned
region_number(const struct region *r)
{
	return (unsigned)(r - world.regions);
}

bool
region_is_gone(const struct region *r)
{
	return r->gone;
}

void
region_name(uintptr_t canonical, char *text, size_t size)
{
	uintptr_t same;
	struct region *r = region_of(canonical, &same);

	if (r)
		snprintf(text, size, "%s+%zu", r->name, (size_t)(canonical - r->start));
	else
		snprintf(text, size, "stack %#zx", (size_t)canonical);
}

void
region_touched(uintptr_t address, size_t length)
{
	uintptr_t canonical;
	struct region *r = region_of(address, &canonical);
	size_t first, last;

	if (!running || !r || length == 0)
		return;
	r = r->of;
	first = (canonical - r->start) / PAGE;
	last = (canonical - r->start + length - 1) / PAGE;
	for (size_t i = first; i <= last && !r->in_run && i <= (r->length - 1) / PAGE; i++) {
		struct saved_page *s = r->saved[i];

		if (s && s->run == run_number())
			continue;
		if (!s) {
			s = r->saved[i] = own_memory(sizeof(*s));
			memcpy(s->bytes, (const void *)(r->start + i * PAGE), PAGE);
		}
		s->run = run_number();
		if (world.dirty_count == PAGES)
			explorer_bad("a run writes more than %u pages", PAGES);
		world.dirty[world.dirty_count++] = (struct dirty){r, i};
	}
}

/* ---- from run to run ---- */

/* An eventfd's count + 1; 0: no eventfd. */
static uint64_t
eventfd_count(int fd)
{
	char path[64], line[128];
	unsigned long long count = 0;
	bool is_eventfd = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		is_eventfd |= sscanf(line, "eventfd-count: %llx", &count) == 1;
	if (f)
		fclose(f);
	return is_eventfd ? count + 1 : 0;
}

void
world_keep(void)
{
	world.kept = world.used;
	world.kept_random = world.random;
	for (unsigned i = 0; i < world.count; i++) {
		struct region *r = &world.regions[i];

		/* a page copied for an earlier program may have changed since */
		for (size_t k = 0; r->length && k <= (r->length - 1) / PAGE; k++)
			if (r->saved[k]) {
				__real_munmap(r->saved[k], sizeof(*r->saved[k]));
				r->saved[k] = NULL;
			}
	}
	for (int fd = 0; fd < FDS; fd++) {
		world.open[fd] = fcntl(fd, F_GETFD) >= 0;
		world.counts[fd] = world.open[fd] ? eventfd_count(fd) : 0;
	}
}

/* Restore the count of each eventfd. */
static void
put_back_eventfds(void)
{
	for (int fd = 0; fd < FDS; fd++) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t count;

		if (!world.counts[fd])
			continue;
		while (__real_poll(&p, 1, 0) > 0 && read(fd, &count, sizeof(count)) > 0)
			;
		count = world.counts[fd] - 1;
		if (count > 0 && write(fd, &count, sizeof(count)) < 0)
			abort();
	}
}

void
world_put_back(void)
{
	for (size_t i = 0; i < world.dirty_count; i++) {
		struct region *r = world.dirty[i].region;
		uint8_t *page = (uint8_t *)r->start + world.dirty[i].page * PAGE;

		memcpy(page, r->saved[world.dirty[i].page]->bytes, PAGE);
	}
	world.dirty_count = 0;
	world.used = world.kept;
	world.random = world.kept_random;
	put_back_eventfds();
	if (!world.descriptors)
		return;
	world.descriptors = false;
	world.last = NULL;
	for (unsigned i = 0; i < world.count; i++) {
		struct region *r = &world.regions[i];

		r->gone = false;
		if (r->length && r->in_run) {
			__real_munmap((void *)r->start, r->length);
			forget_region(r);
		}
	}
	for (int fd = 0; fd < FDS; fd++)
		if (!world.open[fd])
			__real_close(fd);
}

/* ---- memory: the linker leads these calls here (--wrap) ---- */

struct head {
	size_t bytes;
	size_t unused;
};

void *
__wrap_malloc(size_t bytes)
{
	struct head *h;

	begin();
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > POOL_BYTES - world.used - sizeof(*h))
		return NULL;
	h = (struct head *)(void *)(world.pool + world.used);
	region_touched((uintptr_t)h, sizeof(*h));
	h->bytes = bytes;
	world.used += sizeof(*h) + bytes;
	return h + 1;
}

static bool
is_ours(const void *p)
{
	return (const uint8_t *)p >= world.pool && (const uint8_t *)p < world.pool + POOL_BYTES;
}

/* Memory of the pool is zero until it is first given out. */
void *
__wrap_calloc(size_t n, size_t bytes)
{
	size_t all;

	return __builtin_mul_overflow(n, bytes, &all) ? NULL : __wrap_malloc(all);
}

/*
 * A later access that is not ordered behind this free is a race. Memory that a library allocated is kept: the
 * next run needs it again.
 */
void
__wrap_free(void *p)
{
	if (!p)
		return;
	if (!is_ours(p) && !running)
		__real_free(p);
	else if (is_ours(p) && running)
		model_plain(p, ((struct head *)p - 1)->bytes, true, (uintptr_t)__builtin_return_address(0));
}

void *
__wrap_realloc(void *p, size_t bytes)
{
	void *other;
	size_t old;

	if (p && !is_ours(p))
		return __real_realloc(p, bytes);
	other = __wrap_malloc(bytes);
	if (!p || !other)
		return other;
	old = ((struct head *)p - 1)->bytes;
	old = old < bytes ? old : bytes;
	region_touched((uintptr_t)other, old);
	memcpy(other, p, old);
	return other;
}

void *
__wrap_reallocarray(void *p, size_t n, size_t bytes)
{
	size_t all;

	return __builtin_mul_overflow(n, bytes, &all) ? NULL : __wrap_realloc(p, all);
}

char *
__wrap_strndup(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	char *copy = __wrap_malloc(length + 1);

	if (!copy)
		return NULL;
	region_touched((uintptr_t)copy, length + 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *
__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, SIZE_MAX);
}

void *
__wrap_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	void *p;
	struct region *r;
	struct stat st;
	char link[64], name[64] = "mapping";
	ssize_t n;

	/* A fixed mapping within a run could not be undone; the old content stays visible. */
	if (running && flags & MAP_FIXED && fd < 0)
		return at;
	p = __real_mmap(at, length, protection, flags, fd, offset);
	/* a reservation is no memory; what replaces it is */
	if (p == MAP_FAILED || protection == PROT_NONE || offset != 0)
		return p;
	begin();
	world.descriptors = true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd >= 0 && (n = readlink(link, name, sizeof(name) - 1)) > 0) {
		const char *slash;

		name[n] = '\0';
		name[strcspn(name, " ")] = '\0';
		slash = strrchr(name, '/') + 1;
		slash += strncmp(slash, "memfd:", 6) == 0 ? 6 : 0;
		memmove(name, slash, strlen(slash) + 1);
	}
	r = add_region((uintptr_t)p, length, name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return p;
	r->is_file = true;
	r->device = st.st_dev;
	r->inode = st.st_ino;
	for (unsigned i = 0; i < world.count; i++) {
		struct region *first = &world.regions[i];

		if (first != r && first->length >= length && first->is_file && first->of == first &&
		    first->device == r->device && first->inode == r->inode)
			r->of = first;
	}
	return p;
}

int
__wrap_munmap(void *p, size_t length)
{
	for (unsigned i = 0; i < world.count; i++) {
		struct region *r = &world.regions[i];

		if (r->length == 0 || r->start != (uintptr_t)p)
			continue;
		if (running) {
			world.descriptors = true;
			/* each thread that read it must have read it before */
			races_end(r, r->of->start, r->length, (uintptr_t)__builtin_return_address(0));
			r->gone = true;
			return 0;
		}
		forget_region(r);
	}
	return __real_munmap(p, length);
}

/* Pages that are given back read as zeros afterwards; the explorer keeps the pages and writes zeros. */
int
__wrap_madvise(void *p, size_t length, int advice)
{
	if (!running || advice != MADV_DONTNEED)
		return __real_madvise(p, length, advice);
	length = (length + PAGE - 1) & ~(size_t)(PAGE - 1);
	model_plain(p, length, true, (uintptr_t)__builtin_return_address(0));
	memset(p, 0, length);
	return 0;
}

int
__wrap_fallocate(int fd, int mode, off_t from, off_t length)
{
	struct stat st;

	if (!running || !(mode & FALLOC_FL_PUNCH_HOLE))
		return __real_fallocate(fd, mode, from, length);
	if (fstat(fd, &st) < 0)
		return -1;
	for (unsigned i = 0; i < world.count; i++) {
		struct region *r = &world.regions[i];

		if (r->length == 0 || !r->is_file || r->of != r || r->device != st.st_dev ||
		    r->inode != st.st_ino)
			continue;
		region_touched(r->start + (uintptr_t)from, (size_t)length);
		races_punched(r->start + (uintptr_t)from, (size_t)length);
		memset((uint8_t *)r->start + from, 0, (size_t)length);
	}
	return 0;
}

void
descriptors_came(void)
{
	world.descriptors = true;
}

/* The next run needs the descriptors that were open before this run. */
int
__wrap_close(int fd)
{
	world.descriptors = true;
	return running && fd >= 0 && fd < FDS && world.open[fd] ? 0 : __real_close(fd);
}

/* ---- libraries that write ---- */

/* Make keys and names the same in each process. */
void
__wrap_randombytes_buf(void *to, size_t length)
{
	if (running)
		model_plain(to, length, true, (uintptr_t)__builtin_return_address(0));
	for (size_t i = 0; i < length; i++)
		((uint8_t *)to)[i] = (uint8_t)((world.random = world.random * 1103515245u + 12345u) >> 16);
}

int
__wrap_crypto_generichash_final(crypto_generichash_state *state, unsigned char *out, size_t length)
{
	if (running)
		model_plain(out, length, true, (uintptr_t)__builtin_return_address(0));
	return __real_crypto_generichash_final(state, out, length);
}
