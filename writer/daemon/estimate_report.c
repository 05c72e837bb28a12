/* SPDX-License-Identifier: Apache-2.0 */
/* The text of `informerd --estimate`. */
#include "writer/daemon/estimate_report.h"

#include <inttypes.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define ARENA_STEP (64 * MIB)
/* informerd's own memory and its readers' queues, beside two arenas: a restart copies the arena */
#define BESIDE_ARENAS (128 * MIB)
/* of a pod in client-go's indexer, of pods of 8.9 KB of JSON: informer-figures(7) */
#define CLIENT_GO_BYTES 16893u

struct shown {
	char text[32];
};

static struct shown
show(uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	double size = (double)bytes;
	size_t unit = 0;
	struct shown s;

	while (size >= 1023.95 && unit + 1 < sizeof(units) / sizeof(*units)) {
		size /= 1024;
		unit++;
	}
	snprintf(s.text, sizeof(s.text), "%.*f %s", unit > 0, size, units[unit]);
	return s;
}

uint64_t
estimate_arena(const struct estimate *e)
{
	uint64_t bytes = e->base_bytes;

	for (size_t i = 0; i < e->count; i++)
		bytes += e->lines[i].size.arena_bytes;
	return bytes;
}

uint64_t
estimate_arena_max(const struct estimate *e)
{
	uint64_t twice = 2 * estimate_arena(e);

	return (twice + ARENA_STEP - 1) / ARENA_STEP * ARENA_STEP;
}

/* The sums over all lines. */
static struct estimate_line
total(const struct estimate *e)
{
	struct estimate_line sum = {0};

	for (size_t i = 0; i < e->count; i++) {
		const struct estimate_line *line = &e->lines[i];

		sum.size.objects += line->size.objects;
		sum.size.wire_bytes += line->size.wire_bytes;
		if (line->on_demand)
			continue;
		sum.lists += line->lists;
		sum.watch_lists += line->watch_lists;
		sum.watches += line->watches;
	}
	return sum;
}

static void
print_lines(const struct estimate *e, FILE *out)
{
	int width = (int)strlen("RESOURCE");

	for (size_t i = 0; i < e->count; i++)
		if (width < (int)strlen(e->lines[i].name))
			width = (int)strlen(e->lines[i].name);
	fprintf(out, "%-*s  %10s  %10s  %10s  %10s  %s\n", width, "RESOURCE", "OBJECTS", "WIRE", "ARENA",
		"PER OBJECT", "READ");
	for (size_t i = 0; i < e->count; i++) {
		const struct estimate_line *line = &e->lines[i];
		const struct size_estimate *size = &line->size;

		if (line->problem) {
			fprintf(out, "%-*s  %s\n", width, line->name, line->problem);
			continue;
		}
		fprintf(out, "%-*s  %10" PRIu64 "  %10s  %10s  %10s  %" PRIu64 "%s\n", width, line->name,
			size->objects, show(size->wire_bytes).text, show(size->arena_bytes).text,
			size->objects ? show(size->arena_bytes / size->objects).text : "-", size->sampled,
			line->on_demand ? ", on demand" : "");
	}
}

static void
print_limits(const struct estimate *e, FILE *out)
{
	uint64_t max = estimate_arena_max(e);

	fprintf(out, "arena.maxBytes   %" PRIu64 "Mi or more: twice the arena, in steps of 64 MiB",
		max / MIB);
	if (e->configured)
		fprintf(out, "; configured: %s%s", show(e->configured).text,
			e->configured < estimate_arena(e) ? ", which is too small" : "");
	fprintf(out,
		"\nmemory limit     %" PRIu64 "Mi (MemoryMax=, or the container's limit): 2 x "
		"arena.maxBytes + 128 MiB\n",
		(2 * max + BESIDE_ARENAS) / MIB);
}

void
estimate_print(const struct estimate *e, FILE *out)
{
	struct estimate_line sum = total(e);

	print_lines(e, out);
	fprintf(out, "\narena            %s, %s of it without objects\n", show(estimate_arena(e)).text,
		show(e->base_bytes).text);
	fprintf(out, "private memory   about %s of informerd, without the queues of readers\n",
		show(e->private_bytes + ESTIMATE_HEAP_BYTES + ESTIMATE_PRIVATE_BYTES * sum.size.objects)
			.text);
	fprintf(out,
		"first requests   %" PRIu64 " for the resources' names, %" PRIu64 " LIST, %" PRIu64
		" WatchList, %" PRIu64 " WATCH\n",
		e->name_requests, sum.lists, sum.watch_lists, sum.watches);
	fprintf(out, "first bytes      %s, before compression\n", show(sum.size.wire_bytes).text);
	print_limits(e, out);
	for (size_t i = 0; i < e->count; i++)
		if (e->lines[i].is_pods && e->lines[i].size.objects > 0)
			fprintf(out,
				"client-go        about %s in each agent with an informer of its own on %s\n"
				"                 (%u bytes a pod, measured with pods of 8.9 KB of JSON: "
				"informer-figures(7))\n",
				show(CLIENT_GO_BYTES * e->lines[i].size.objects).text, e->lines[i].name,
				CLIENT_GO_BYTES);
	fprintf(out, "\nThis estimate took %" PRIu64 " requests, and %s in lists.\n", e->requests,
		show(e->bytes).text);
}
