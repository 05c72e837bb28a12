/* SPDX-License-Identifier: Apache-2.0 */
/* Stores and plays pictures and steps of a directory's files, for tests that cut a writer at any step. */
#include "tests/writer/cut/cut_log.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_MAX (1u << 20)
#define DATA_MAX (256u << 20)

_Noreturn void
cut_give_up(const char *why)
{
	fprintf(stderr, "cut: %s\n", why);
	abort();
}

void *
cut_reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);

	if (p == MAP_FAILED)
		cut_give_up("no memory");
	return p;
}

/* ---- pictures ---- */

void
cut_picture_done(struct cut_picture *p)
{
	for (unsigned i = 0; i < p->count; i++)
		munmap(p->files[i].bytes, CUT_FILE_BYTES);
	p->count = 0;
}

unsigned
cut_picture_add(struct cut_picture *p, ino_t ino)
{
	struct cut_file *f = &p->files[p->count];

	if (p->count == CUT_FILES_MAX)
		cut_give_up("too many files");
	memset(f, 0, sizeof(*f));
	f->ino = ino;
	f->bytes = cut_reserve(CUT_FILE_BYTES);
	return p->count++;
}

void
cut_picture_copy(struct cut_picture *to, const struct cut_picture *from)
{
	for (unsigned i = 0; i < from->count; i++) {
		struct cut_file *f = &to->files[cut_picture_add(to, from->files[i].ino)];
		uint8_t *bytes = f->bytes;

		*f = from->files[i];
		f->bytes = bytes;
		for (unsigned page = 0; page < CUT_PAGES; page++)
			if (f->used[page])
				memcpy(bytes + (size_t)page * CUT_PAGE,
				       from->files[i].bytes + (size_t)page * CUT_PAGE, CUT_PAGE);
	}
}

static void
take_step(struct cut_picture *p, const struct cut_step *step, const uint8_t *data)
{
	struct cut_file *f = &p->files[step->file];

	if (step->file >= p->count || !f->bytes)
		cut_give_up("a step of no file");
	switch (step->kind) {
	case CUT_STEP_BYTES:
		memcpy(f->bytes + step->offset, data, step->length);
		f->used[step->offset / CUT_PAGE] = 1;
		break;
	case CUT_STEP_NAME:
		memcpy(f->name, data, step->length);
		break;
	case CUT_STEP_SIZE:
		if (step->offset < f->size)
			memset(f->bytes + step->offset, 0, f->size - step->offset);
		f->size = step->offset;
		break;
	case CUT_STEP_MODE:
		f->mode = (mode_t)step->offset;
		break;
	}
}

/* ---- the log ---- */

struct cut_log *
cut_log_new(void)
{
	struct cut_log *log = calloc(1, sizeof(*log));

	if (!log)
		cut_give_up("no memory");
	log->steps = cut_reserve(STEPS_MAX * sizeof(*log->steps));
	log->data = cut_reserve(DATA_MAX);
	return log;
}

void
cut_log_free(struct cut_log *log)
{
	if (!log)
		return;
	cut_picture_done(&log->begin);
	munmap(log->steps, STEPS_MAX * sizeof(*log->steps));
	munmap(log->data, DATA_MAX);
	free(log);
}

void
cut_log_add(struct cut_log *log, struct cut_picture *now, struct cut_step step, const void *data)
{
	if (log->count == STEPS_MAX || log->data_length + step.length > DATA_MAX)
		cut_give_up("too many steps");
	step.data = log->data_length;
	if (step.length)
		memcpy(log->data + step.data, data, step.length);
	log->data_length += step.length;
	log->steps[log->count++] = step;
	if (!step.joined)
		log->cuts[step.by]++;
	take_step(now, &step, log->data + step.data);
}

/* ---- playing ---- */

static void
empty(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	if (!dir)
		cut_give_up("a directory cannot be read");
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

static void
put_files(const struct cut_picture *p, const char *directory)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct cut_file *f = &p->files[i];
		char path[256];
		int fd;

		if (!f->name[0])
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, f->name);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || fchmod(fd, f->mode) < 0 || ftruncate(fd, (off_t)f->size) < 0)
			cut_give_up("a file cannot be made");
		for (uint64_t at = 0; at < f->size; at += CUT_PAGE) {
			size_t length = f->size - at < CUT_PAGE ? (size_t)(f->size - at) : CUT_PAGE;

			if (f->used[at / CUT_PAGE] &&
			    pwrite(fd, f->bytes + at, length, (off_t)at) != (ssize_t)length)
				cut_give_up("a file cannot be written");
		}
		close(fd);
	}
}

void
cut_play(const struct cut_log *log, const char *directory, size_t every,
	 void (*each)(void *context, const struct cut *cut), void *context)
{
	struct cut_picture now = {0};
	struct cut cut = {0};

	cut_picture_copy(&now, &log->begin);
	for (size_t i = 0;; cut.number++) {
		cut.last = i == log->count;
		if (cut.number % every == 0 || cut.by == CUT_BY_CALL || cut.last) {
			empty(directory);
			put_files(&now, directory);
			each(context, &cut);
		}
		if (cut.last)
			break;
		do {
			const struct cut_step *step = &log->steps[i++];

			if (step->file == now.count)
				cut_picture_add(&now, 0);
			take_step(&now, step, log->data + step->data);
			cut.by = step->by;
			cut.offset = step->offset;
		} while (i < log->count && log->steps[i].joined);
	}
	empty(directory);
	cut_picture_done(&now);
}
