/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One more reader: what it costs the machine in memory, and how long it takes from attach to the first
 * lookup. Seen in a process of its own, which does nothing else.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/lookup_cost.h"
#include "tests/bench/child_process.h"
#include "tests/bench/world.h"

/* ---- the reader's process ---- */

/* Private pages of all mappings but the arena, whose pages are everybody's; and the page tables. */
static void
private_bytes(uint64_t *ret_private, uint64_t *ret_tables)
{
	*ret_private = (uint64_t)process_mapped(0, "Private_", "/arena.");
	*ret_tables = (uint64_t)process_bytes(0, "status", "VmPTE:");
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int
reader_main(int argc, char **argv)
{
	const char *socket = argc > 2 ? argv[2] : "", *keys = argc > 3 ? argv[3] : "";
	unsigned attaches = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	struct lookup_reader r;
	struct informer_options options = {
		.size = sizeof(options), .socket_path = socket, .reader_name = "bench"};
	struct stat st;
	uint64_t before, after, tables_before, tables_after, t;
	unsigned long missed = 0, asked = 0;
	struct question q = {0};
	double *us = calloc(attaches + 1, sizeof(*us));
	const char *text;
	int fd = open(keys, O_RDONLY | O_CLOEXEC);

	if (!us || fd < 0 || fstat(fd, &st) < 0)
		return 1;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return 1;
	for (off_t i = 0; i < st.st_size; i += 4096)	/* the keys are no part of what is measured */
		lookup_sink += (unsigned char)text[i];
	private_bytes(&before, &tables_before);
	private_bytes(&before, &tables_before);
	if (lookup_reader_init(&r, socket) < 0)
		return 1;
	for (const char *at = text; at < text + st.st_size; asked++) {
		const char *end = memchr(at, '\n', (size_t)(text + st.st_size - at)),
			   *slash = memchr(at, '/', (size_t)(end - at));

		q = (struct question){at, (uint16_t)(slash - at), (uint16_t)(end - slash - 1)};
		missed += lookup_one(&r, &q) == 0;
		at = end + 1;
	}
	private_bytes(&after, &tables_after);
	lookup_reader_done(&r);
	for (unsigned i = 0; i < attaches; i++) {
		int e;

		r = (struct lookup_reader){0};
		t = now_ns();
		e = informer_attach(&options, &r.inf);
		if (e == 0)
			e = informer_resource_open(r.inf, "pods", &r.pods);
		if (e == 0)
			e = informer_path_compile(r.inf, "spec.nodeName", 13, &r.node);
		if (e < 0 || lookup_one(&r, &q) == 0)
			missed++;
		us[i] = (double)(now_ns() - t) / 1e3;
		lookup_reader_done(&r);
	}
	qsort(us, attaches, sizeof(*us), ascending);
	printf("%llu %llu %lu %lu %.1f %.1f %.1f\n",
	       (unsigned long long)(after > before ? after - before : 0),
	       (unsigned long long)(tables_after - tables_before), asked, missed, us[attaches / 2], us[0],
	       us[attaches - 1]);
	free(us);
	return 0;
}

/* ---- the bench's side ---- */

static int
write_keys(const struct questions *q, const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	for (size_t i = 0; i < q->pods && i < q->count; i++)
		fprintf(f, "%s\n", q->keys[i].key);
	return fclose(f) == 0 ? 0 : -errno;
}

void
measure_reader(struct bench *b, struct world *w, const struct questions *q)
{
	char keys[96], attaches[16];
	const char *argv[] = {b->self, "reader", w->socket, keys, attaches, NULL};
	struct rounds bytes = {0}, us = {0};
	double answer[7], tables = 0, least = 1e9, most = 0, asked = 0, missed = 0;
	struct process p;
	char line[256];
	struct row *row;
	int r;

	snprintf(keys, sizeof(keys), "%s/keys", b->directory);
	snprintf(attaches, sizeof(attaches), "%d", b->quick ? 20 : 100);
	r = write_keys(q, keys);
	for (unsigned i = 0; r == 0 && i < 3; i++) {
		r = process_start(&p, argv, NULL, NULL);
		if (r == 0)
			r = process_line(&p, line, sizeof(line), 60);
		process_end(&p, 0);
		if (r < 0 || sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &answer[0], &answer[1], &answer[2],
				    &answer[3], &answer[4], &answer[5], &answer[6]) != 7)
			break;
		rounds_add(&bytes, answer[0]);
		tables = answer[1];
		asked = answer[2];
		missed += answer[3];
		rounds_add(&us, answer[4]);
		least = answer[5] < least ? answer[5] : least;
		most = answer[6] > most ? answer[6] : most;
	}
	unlink(keys);
	if (bytes.count == 0) {
		report_skip(b->report, "reader_private_bytes", "bytes", "the reader's process failed");
		report_skip(b->report, "attach_us", "us", "the reader's process failed");
		return;
	}
	row = report_add(b->report, "reader_private_bytes", "bytes", rounds_median(&bytes),
			 b->client_go_heap > 0 ? "client-go's heap for 10k pods" : NULL,
			 b->client_go_heap * (double)q->pods,
			 "private pages (Private_Clean + Private_Dirty of all mappings but the arena) that a "
			 "process has more after attach and "
			 "%.0f lookups in %zu pods than before; %.0f lookups failed; page tables besides: "
			 "%.0f KiB; %u processes, "
			 "%.0f–%.0f KiB",
			 asked, q->pods, missed, tables / 1024, bytes.count, rounds_min(&bytes) / 1024,
			 rounds_max(&bytes) / 1024);
	row->target = (struct target){.value = 1 << 20};
	row = report_add(b->report, "attach_us", "us", rounds_median(&us), NULL, 0,
			 "informer_attach, resource and path compiled, first lookup answered; %zu pods; %s "
			 "attaches in each of %u processes, "
			 "%.0f–%.0f",
			 q->pods, attaches, us.count, least, most);
	row->target = (struct target){.value = 5000};
}
