/* SPDX-License-Identifier: Apache-2.0 */
/* One more reader, in a process of its own: its memory, and its time from attach to the first lookup. */
#include "tests/bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/lookup_cost.h"
#include "tests/bench/processes.h"
#include "tests/bench/world.h"

/* ---- the reader's process ---- */

/* Private pages of all mappings but the arena, whose pages are shared. */
static double
private_bytes(void)
{
	return process_mapped(0, "Private_", "/arena.");
}

/* Prints the growth of its private memory by an attach and a lookup of each key, and the median attach. */
int
reader_main(int argc, char **argv)
{
	const char *socket = argc > 2 ? argv[2] : "", *keys = argc > 3 ? argv[3] : "", *text;
	unsigned attaches = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	struct lookup_reader r;
	struct informer_options options = {
		.size = sizeof(options), .socket_path = socket, .reader_name = "bench"};
	struct stat st;
	struct question q = {0};
	double *us = bench_alloc(attaches, sizeof(*us)), before, after;
	int fd = open(keys, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return 1;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return 1;
	for (off_t i = 0; i < st.st_size; i += 4096) /* the keys are not part of the measurement */
		lookup_sink += (unsigned char)text[i];
	private_bytes();
	before = private_bytes();
	lookup_reader_init(&r, socket);
	for (const char *at = text; at < text + st.st_size;) {
		const char *end = memchr(at, '\n', (size_t)(text + st.st_size - at)),
			   *slash = memchr(at, '/', (size_t)(end - at));

		q = (struct question){at, (uint16_t)(slash - at), (uint16_t)(end - slash - 1)};
		lookup_one(&r, &q);
		at = end + 1;
	}
	after = private_bytes();
	lookup_reader_done(&r);
	for (unsigned i = 0; i < attaches; i++) {
		uint64_t t = now_ns();

		bench_need(informer_attach(&options, &r.inf), "attach");
		bench_need(informer_resource_open(r.inf, "pods", &r.pods), "pods");
		bench_need(informer_path_compile(r.inf, "spec.nodeName", 13, &r.node), "path");
		lookup_one(&r, &q);
		us[i] = (double)(now_ns() - t) / 1e3;
		lookup_reader_done(&r);
	}
	qsort(us, attaches, sizeof(*us), ascending_doubles);
	printf("%.0f %.1f\n", after > before ? after - before : 0, us[attaches / 2]);
	free(us);
	return 0;
}

/* ---- the bench's side ---- */

void
measure_reader(struct bench *b, struct world *w, const struct questions *q)
{
	const double heap = b->report->client_go_heap;
	struct rounds bytes = {0}, us = {0};
	char path[96], line[512];
	FILE *keys;

	snprintf(path, sizeof(path), "%s/keys", b->directory);
	keys = fopen(path, "we");
	if (!keys)
		bench_need(-errno, path);
	for (size_t i = 0; i < q->pods && i < q->count; i++)
		fprintf(keys, "%s\n", q->keys[i].key);
	fclose(keys);
	for (unsigned i = 0; i < 3; i++) {
		struct process p = process_start(b, NULL, "/proc/self/exe", "reader", w->socket, path,
						 b->quick ? "20" : "100", NULL);
		double grown, attach;

		process_line(&p, line, 60);
		process_end(&p, 0);
		if (sscanf(line, "%lf %lf", &grown, &attach) != 2)
			bench_fail("a reader said \"%s\"", line);
		rounds_add(&bytes, grown);
		rounds_add(&us, attach);
	}
	report_value(b->report, rounds_median(&bytes), NULL, heap * (double)q->pods, "reader_private_bytes");
	report_rounds(b->report, &us, NULL, NULL, "attach_us");
}
