/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records each step of a writer's code in its files, by traps, for tests that cut the writer there.
 *
 * The recorder keeps a picture of the directory. After every store and call it compares the files with the
 * picture, notes the differences as steps, and updates the picture.
 */
#include "tests/writer/cut/cut_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define REGIONS_MAX 16u
#define OPEN_MAX 4u
#define TRAP_FLAG 0x100

struct region {
	uint8_t *base;
	size_t length;
	unsigned file;
};

/* Only one recording at a time: signal handlers have no other context. */
static struct recorder {
	bool on;
	bool looking; /* inside a hook: our own calls are no steps */
	const char *directory;
	struct cut_log *log;
	struct cut_picture now;
	struct region regions[REGIONS_MAX];
	unsigned region_count;
	struct opened {
		uint8_t *page;
		const struct region *region;
	} opened[OPEN_MAX]; /* pages that the instruction under way may store to */
	unsigned opened_count;
	struct sigaction store_before, trap_before;
} rec;

const char *
cut_impossible(void)
{
#ifdef __x86_64__
	return NULL;
#else
	return "stepping over single instructions is written for x86-64";
#endif
}

static void *
need(void *p, const char *why)
{
	if (!p)
		cut_give_up(why);
	return p;
}

/* ---- noting steps ---- */

static void
note(struct cut_step step, const void *data)
{
	cut_log_add(rec.log, &rec.now, step, data);
}

/* Note the differences within a page of a file. True if there are any. */
static bool
note_page(const struct region *region, const uint8_t *page, enum cut_by by, bool joined)
{
	uint64_t at = (uint64_t)(page - region->base);
	const uint8_t *was = rec.now.files[region->file].bytes + at;
	uint32_t from = 0, to = CUT_PAGE;

	if (memcmp(was, page, CUT_PAGE) == 0)
		return false;
	while (was[from] == page[from])
		from++;
	while (was[to - 1] == page[to - 1])
		to--;
	note((struct cut_step){.kind = CUT_STEP_BYTES,
			       .by = by,
			       .file = region->file,
			       .joined = joined,
			       .offset = at + from,
			       .length = to - from},
	     page + from);
	return true;
}

static const struct region *
region_of(const uint8_t *at)
{
	for (unsigned i = 0; i < rec.region_count; i++)
		if (at >= rec.regions[i].base && at < rec.regions[i].base + rec.regions[i].length)
			return &rec.regions[i];
	return NULL;
}

static void
protect(void *at, size_t length, bool writable)
{
	if (mprotect(at, length, writable ? PROT_READ | PROT_WRITE : PROT_READ) < 0)
		cut_give_up("mprotect() fails");
}

/* ---- traps ---- */

#ifdef __x86_64__
static void
on_store(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & ~(uintptr_t)(CUT_PAGE - 1));
	const struct region *region = rec.on ? region_of(page) : NULL;

	if (!region || rec.opened_count == OPEN_MAX) { /* a real fault: let it happen again */
		signal(number, SIG_DFL);
		return;
	}
	protect(page, CUT_PAGE, true);
	rec.opened[rec.opened_count++] = (struct opened){page, region};
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void
on_instruction(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	bool joined = false;

	(void)number;
	(void)info;
	for (unsigned i = 0; i < rec.opened_count; i++) {
		joined |= note_page(rec.opened[i].region, rec.opened[i].page, CUT_BY_STORE, joined);
		protect(rec.opened[i].page, CUT_PAGE, false);
	}
	rec.opened_count = 0;
	u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}
#else
static void
on_store(int number, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	signal(number, SIG_DFL);
}
#define on_instruction on_store
#endif

/* ---- calls ---- */

static unsigned
file_of(ino_t ino)
{
	unsigned i = 0;

	while (i < rec.now.count && rec.now.files[i].ino != ino)
		i++;
	return i;
}

static void
note_number(enum cut_step_kind kind, unsigned file, uint64_t number, bool *joined)
{
	note(
		(struct cut_step){
			.kind = kind, .by = CUT_BY_CALL, .file = file, .joined = *joined, .offset = number},
		NULL);
	*joined = true;
}

static void
note_name(unsigned file, const char *name, bool *joined)
{
	struct cut_step step = {.kind = CUT_STEP_NAME, .by = CUT_BY_CALL, .file = file, .joined = *joined};

	if (strlen(name) >= sizeof(rec.now.files[file].name))
		cut_give_up("a file's name is too long");
	step.length = (uint32_t)strlen(name) + 1;
	note(step, name);
	*joined = true;
}

/* Compare the directory with the picture, and update the picture. All differences are one cut. */
static void
look(void)
{
	bool there[CUT_FILES_MAX] = {false}, joined = false;
	DIR *dir = need(opendir(rec.directory), "the directory cannot be read");
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		struct stat st;
		unsigned i;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (st.st_size > CUT_FILE_BYTES)
			cut_give_up("a file is too long");
		i = file_of(st.st_ino);
		if (i == rec.now.count)
			i = cut_picture_add(&rec.now, st.st_ino);
		there[i] = true;
		if (strcmp(rec.now.files[i].name, entry->d_name) != 0)
			note_name(i, entry->d_name, &joined);
		if (rec.now.files[i].mode != (st.st_mode & 07777))
			note_number(CUT_STEP_MODE, i, st.st_mode & 07777, &joined);
		if (rec.now.files[i].size != (uint64_t)st.st_size)
			note_number(CUT_STEP_SIZE, i, (uint64_t)st.st_size, &joined);
	}
	closedir(dir);
	for (unsigned i = 0; i < rec.now.count; i++)
		if (!there[i] && rec.now.files[i].name[0])
			note_name(i, "", &joined);
}

void
cut_called(void)
{
	if (!rec.on || rec.looking)
		return;
	rec.looking = true;
	look();
	rec.looking = false;
}

void
cut_punched(int fd, uint64_t from, uint64_t length)
{
	static const uint8_t zeroes[CUT_PAGE];
	bool joined = false;
	struct stat st;
	unsigned i;

	if (!rec.on || rec.looking || fstat(fd, &st) < 0)
		return;
	rec.looking = true;
	i = file_of(st.st_ino);
	for (uint64_t at = from; i < rec.now.count && at < from + length && at < CUT_FILE_BYTES;
	     at += CUT_PAGE)
		if (memcmp(rec.now.files[i].bytes + at, zeroes, CUT_PAGE) != 0) {
			note((struct cut_step){.kind = CUT_STEP_BYTES,
					       .by = CUT_BY_CALL,
					       .file = i,
					       .joined = joined,
					       .offset = at,
					       .length = CUT_PAGE},
			     zeroes);
			joined = true;
		}
	rec.looking = false;
}

static void
watch(uint8_t *base, size_t length, unsigned file)
{
	if (rec.region_count == REGIONS_MAX)
		cut_give_up("too many mappings");
	rec.regions[rec.region_count++] = (struct region){base, length, file};
	protect(base, length, false);
}

void
cut_mapped(void *map, size_t length, int protection, int flags, int fd)
{
	struct stat st;
	unsigned i;

	if (!rec.on || rec.looking || map == MAP_FAILED || fd < 0 || !(protection & PROT_WRITE) ||
	    !(flags & MAP_SHARED) || fstat(fd, &st) < 0)
		return;
	i = file_of(st.st_ino);
	if (i < rec.now.count)
		watch(map, (length + CUT_PAGE - 1) & ~(size_t)(CUT_PAGE - 1), i);
}

void
cut_unmapped(void *map, size_t length)
{
	uint8_t *base = map;

	if (!rec.on || rec.looking)
		return;
	for (unsigned i = 0; i < rec.region_count;) {
		struct region *region = &rec.regions[i];

		if (region->base >= base && region->base < base + length)
			*region = rec.regions[--rec.region_count];
		else
			i++;
	}
}

bool
cut_copies(void *to, const void *from, size_t length)
{
	const struct region *region;
	size_t done = 0;

	if (!rec.on || rec.looking || length <= CUT_PAGE)
		return false;
	region = region_of(to);
	if (!region)
		return false;
	rec.looking = true;
	while (done < length) {
		uint8_t *at = (uint8_t *)to + done, *page = at - (uintptr_t)at % CUT_PAGE;
		size_t part = (size_t)(page + CUT_PAGE - at);

		if (part > length - done)
			part = length - done;
		protect(page, CUT_PAGE, true);
		memcpy(at, (const uint8_t *)from + done, part);
		note_page(region, page, CUT_BY_COPY, false);
		protect(page, CUT_PAGE, false);
		done += part;
	}
	rec.looking = false;
	return true;
}

/* ---- recording ---- */

/* Find the existing mappings of the directory's files. */
static void
find_regions(void)
{
	FILE *maps = need(fopen("/proc/self/maps", "re"), "/proc/self/maps cannot be read");
	size_t prefix = strlen(rec.directory);
	char line[512];

	while (fgets(line, sizeof(line), maps)) {
		const char *path = strchr(line, '/');
		unsigned long from, to;
		char rights[5];
		struct stat st;

		if (!path || strncmp(path, rec.directory, prefix) != 0 || path[prefix] != '/' ||
		    sscanf(line, "%lx-%lx %4s", &from, &to, rights) != 3 || rights[1] != 'w' ||
		    rights[3] != 's')
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (stat(path, &st) == 0 && file_of(st.st_ino) < rec.now.count)
			watch((uint8_t *)from, to - from, file_of(st.st_ino));
	}
	fclose(maps);
}

/* Read the bytes of the files before the first step. */
static void
read_files(void)
{
	for (unsigned i = 0; i < rec.now.count; i++) {
		struct cut_file *f = &rec.now.files[i];
		char path[256];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", rec.directory, f->name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || pread(fd, f->bytes, f->size, 0) != (ssize_t)f->size)
			cut_give_up("a file cannot be read");
		close(fd);
		for (unsigned page = 0; page < CUT_PAGES && (uint64_t)page * CUT_PAGE < f->size; page++)
			f->used[page] = f->bytes[(size_t)page * CUT_PAGE] ||
					memcmp(f->bytes + (size_t)page * CUT_PAGE,
					       f->bytes + (size_t)page * CUT_PAGE + 1, CUT_PAGE - 1) != 0;
	}
}

static void
stop(void)
{
	rec.on = false; /* the next trap is the last */
	for (unsigned i = 0; i < rec.region_count; i++)
		protect(rec.regions[i].base, rec.regions[i].length, true);
	sigaction(SIGSEGV, &rec.store_before, NULL);
	sigaction(SIGTRAP, &rec.trap_before, NULL);
	cut_picture_done(&rec.now);
}

struct cut_log *
cut_record(const char *directory, void (*body)(void *context), void *context)
{
	struct cut_log *log;
	struct sigaction store = {.sa_sigaction = on_store, .sa_flags = SA_SIGINFO};
	struct sigaction trap = {.sa_sigaction = on_instruction, .sa_flags = SA_SIGINFO};

	if (rec.on)
		cut_give_up("a recording is under way");
	memset(&rec, 0, sizeof(rec));
	rec.directory = directory;
	rec.log = log = cut_log_new();
	look();
	log->count = log->data_length = 0; /* files that exist already are no step */
	memset(log->cuts, 0, sizeof(log->cuts));
	read_files();
	cut_picture_copy(&log->begin, &rec.now);
	if (sigaction(SIGSEGV, &store, &rec.store_before) < 0 ||
	    sigaction(SIGTRAP, &trap, &rec.trap_before) < 0)
		cut_give_up("sigaction() fails");
	find_regions();
	rec.on = true;
	body(context);
	stop();
	return log;
}

void
cut_abandon(void)
{
	if (!rec.on)
		return;
	cut_log_free(rec.log);
	stop();
}
