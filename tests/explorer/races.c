/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain accesses. For each 8 bytes of known memory: the last threads that used them, and when by their
 * clocks. Two conflicting accesses race when the later thread does not know the clock of the earlier access.
 * A plain access is never a choice: without races its time does not matter.
 */
#include <string.h>

#include "tests/explorer/machine.h"

#define PAGE_GRANULES 512u
#define GRANULE_BYTES 8u
#define SHADOW_BUCKETS 16384u
#define PUNCHED 16u

struct access {
	uint16_t clock;
	uint8_t bytes;  /* which of the 8 */
	uint8_t region; /* through which mapping, where several map the same memory */
};

/* 8 bytes of memory, and their last accesses in this run. */
struct granule {
	uint32_t run;
	uint8_t writer;
	struct access write;
	uintptr_t write_pc, read_pcs[EXPLORER_THREADS];
	struct access reads[EXPLORER_THREADS], loads[EXPLORER_THREADS], stores[EXPLORER_THREADS];
	uint16_t locations[2]; /* + 1 */
};

struct shadow_page {
	uintptr_t page;
	struct granule *granules;
};

/* Pages punched in this run, and what the punching thread knew. */
struct punched {
	unsigned long run;
	uintptr_t start;
	size_t length;
	struct view view;
};

static struct {
	OWN_PAGES struct shadow_page shadow[SHADOW_BUCKETS];
	struct punched punched[PUNCHED];
} races;

/* ---- plain accesses ---- */

static struct granule *
granule_at(uintptr_t canonical)
{
	uintptr_t page = canonical / ((uintptr_t)PAGE_GRANULES * GRANULE_BYTES);
	unsigned at = (unsigned)(page * 0x9e3779b97f4a7c15ull >> 40) % SHADOW_BUCKETS;
	struct granule *g;

	while (races.shadow[at].granules && races.shadow[at].page != page)
		at = (at + 1) % SHADOW_BUCKETS;
	if (!races.shadow[at].granules) {
		races.shadow[at].page = page;
		races.shadow[at].granules = own_memory(PAGE_GRANULES * sizeof(struct granule));
	}
	g = &races.shadow[at].granules[canonical / GRANULE_BYTES % PAGE_GRANULES];
	if (g->run != (uint32_t)run_number()) {
		uint16_t first = g->locations[0], second = g->locations[1];

		memset(g, 0, sizeof(*g));
		g->run = (uint32_t)run_number();
		g->locations[0] = first;
		g->locations[1] = second;
	}
	return g;
}

static bool
is_race(const struct access *a, unsigned by, uint8_t bytes)
{
	return a->clock != 0 && (a->bytes & bytes) != 0 && by != running->number &&
	       a->clock > running->view.clock[by];
}

static void
race(const char *what, unsigned other, const char *other_did, uintptr_t canonical, uintptr_t pc,
     uintptr_t other_pc)
{
	char name[80], here[160], there[160] = "";

	region_name(canonical, name, sizeof(name));
	where_is(pc, here, sizeof(here));
	if (other_pc)
		where_is(other_pc, there, sizeof(there));
	explorer_bad("%s %s %s (%s), and nothing orders that behind what %s %s there%s%s", running->name,
		     what, name, here, thread_number(other)->name, other_did, other_pc ? ": " : "", there);
}

static void
note_access(struct access *a, uint8_t bytes, const struct region *r)
{
	uint16_t clock = running->view.clock[running->number];

	a->bytes = (uint8_t)(a->clock == clock ? a->bytes | bytes : bytes);
	a->clock = clock;
	a->region = (uint8_t)region_number(r);
}

static void
one_granule(const struct region *r, uintptr_t canonical, uint8_t bytes, bool is_write, uintptr_t pc)
{
	struct granule *g = granule_at(canonical);
	const char *what = is_write ? "writes" : "reads";

	if (is_race(&g->write, g->writer, bytes))
		race(what, g->writer, "wrote", canonical, pc, g->write_pc);
	for (unsigned i = 0; i < thread_count(); i++) {
		if (is_race(&g->stores[i], i, bytes))
			race(what, i, "stored", canonical, pc, 0);
		if (is_write && is_race(&g->reads[i], i, bytes))
			race(what, i, "read", canonical, pc, g->read_pcs[i]);
		if (is_write && is_race(&g->loads[i], i, bytes))
			race(what, i, "loaded", canonical, pc, 0);
	}
	if (!is_write) {
		note_access(&g->reads[running->number], bytes, r);
		g->read_pcs[running->number] = pc;
		return;
	}
	if (g->writer != running->number)
		g->write.clock = 0;
	g->writer = (uint8_t)running->number;
	g->write_pc = pc;
	note_access(&g->write, bytes, r);
	for (unsigned i = 0; i < 2; i++)
		if (g->locations[i])
			location_rewritten(g->locations[i] - 1u);
}

/* ---- punched pages ---- */

void
races_punched(uintptr_t canonical, size_t length)
{
	struct punched *p = races.punched;

	while (p < races.punched + PUNCHED && p->run == run_number())
		p++;
	if (p == races.punched + PUNCHED)
		explorer_bad("a run punches more than %u times", PUNCHED);
	p->run = run_number();
	p->start = canonical;
	p->length = length;
	memset(&p->view, 0, sizeof(p->view));
	model_give(&p->view);
	for (size_t at = 0; at < length; at += GRANULE_BYTES) {
		const struct granule *g = granule_at(canonical + at);

		for (unsigned i = 0; i < 2; i++)
			if (g->locations[i])
				location_rewritten(g->locations[i] - 1u);
	}
}

static void
meet_punched(uintptr_t canonical, size_t length)
{
	for (unsigned i = 0; i < PUNCHED && races.punched[i].run == run_number(); i++) {
		const struct punched *p = &races.punched[i];

		if (canonical < p->start + p->length && p->start < canonical + length)
			model_take(&p->view);
	}
}

void
model_plain(const void *address, size_t length, bool is_write, uintptr_t pc)
{
	uintptr_t canonical, at = (uintptr_t)address;
	struct region *r;

	/* most accesses are to the thread's own stack */
	if (at - (uintptr_t)running->stack < STACK_BYTES || length == 0)
		return;
	r = region_of(at, &canonical);
	if (!r)
		return;
	if (region_is_gone(r)) {
		char here[160];

		where_is(pc, here, sizeof(here));
		explorer_bad("%s touches what is no longer mapped: %s", running->name, here);
	}
	if (is_write)
		region_touched(at, length);
	meet_punched(canonical, length);
	while (length > 0) {
		unsigned skip = (unsigned)(canonical & 7);
		size_t n = length < 8 - skip ? length : 8 - skip;

		one_granule(r, canonical - skip, (uint8_t)(((1u << n) - 1) << skip), is_write, pc);
		canonical += n;
		length -= n;
	}
}

/* An atomic access conflicts with plain ones. */
void
races_atomic(const struct region *r, uintptr_t canonical, unsigned size, bool is_store, uintptr_t pc)
{
	uint8_t bytes = (uint8_t)(((1u << size) - 1) << (canonical & 7));
	struct granule *g = granule_at(canonical & ~(uintptr_t)7);
	const char *what = is_store ? "stores into" : "loads";

	meet_punched(canonical, size);
	if (is_race(&g->write, g->writer, bytes))
		race(what, g->writer, "wrote", canonical, pc, g->write_pc);
	for (unsigned i = 0; is_store && i < thread_count(); i++)
		if (is_race(&g->reads[i], i, bytes))
			race(what, i, "read", canonical, pc, g->read_pcs[i]);
	note_access(is_store ? &g->stores[running->number] : &g->loads[running->number], bytes, r);
}

void
races_location(uintptr_t canonical, unsigned index)
{
	struct granule *g = granule_at(canonical & ~(uintptr_t)7);
	unsigned free = g->locations[0] && g->locations[0] != index + 1;

	g->locations[free] = (uint16_t)(index + 1);
}

void
races_end(const struct region *r, uintptr_t canonical, size_t length, uintptr_t pc)
{
	uint8_t number = (uint8_t)region_number(r);

	for (unsigned i = 0; i < SHADOW_BUCKETS; i++) {
		const struct shadow_page *p = &races.shadow[i];
		uintptr_t start = p->page * PAGE_GRANULES * GRANULE_BYTES;

		for (unsigned k = 0; p->granules && start - canonical < length && k < PAGE_GRANULES; k++) {
			const struct granule *g = &p->granules[k];

			for (unsigned t = 0; g->run == (uint32_t)run_number() && t < thread_count(); t++)
				if ((g->reads[t].region == number && is_race(&g->reads[t], t, 0xff)) ||
				    (g->loads[t].region == number && is_race(&g->loads[t], t, 0xff)))
					race("unmaps", t, "read", start + (uintptr_t)k * GRANULE_BYTES, pc,
					     g->read_pcs[t]);
		}
	}
}
