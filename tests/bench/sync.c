/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Initial sync: from a process's start until it has every pod and says so. informerd, without an arena to
 * adopt, publishes with all built-in indexes; client-go's informer, in the same turn and from the same
 * server, reads protobuf or JSON, as a LIST or streamed (its default). That server has every object's bytes
 * ready, in both syntaxes: what a real one costs is in upstream_rows.c.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tests/bench/client_go.h"
#include "tests/bench/daemon_side.h"

enum side { OURS, PROTOBUF_STREAM, PROTOBUF_LIST, JSON_LIST, JSON_STREAM, SIDES };

static const struct {
	const char *peer;
	unsigned ways;
} sides[SIDES] = {
	[PROTOBUF_STREAM] = {"client-go protobuf watch-list", 0},
	[PROTOBUF_LIST] = {"client-go protobuf LIST", GO_LIST},
	[JSON_LIST] = {"client-go JSON LIST", GO_JSON | GO_LIST},
	[JSON_STREAM] = {"client-go JSON watch-list", GO_JSON},
};

/* The slow ones are measured less often: what they are compared with is not close. */
static const struct size {
	unsigned pods, rounds[SIDES], quick_rounds[SIDES];
	const char *label;
} sizes[] = {
	{10000, {7, 5, 5, 2, 1}, {3, 2, 2, 1, 0}, "10k"},
	{50000, {5, 3, 3, 1, 0}, {0, 0, 0, 0, 0}, "50k"},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct syncs {
	struct bench *b;
	const struct size *size;
	struct go_server server;
	struct rounds wall_ms[SIDES], cpu_ms[SIDES];
};

/* ---- rounds ---- */

static int
round_ours(struct syncs *s)
{
	uint64_t start = now_ns();
	struct daemon d;
	int r = daemon_start(s->b, "sync", "--server", s->server.url, &d);

	if (r < 0)
		return r;
	r = daemon_wait_pods(&d, s->size->pods);
	if (r == 0) {
		rounds_add(&s->wall_ms[OURS], (double)(now_ns() - start) / 1e6);
		rounds_add(&s->cpu_ms[OURS], process_cpu_us(d.process.pid) / 1e3);
	}
	daemon_end(s->b, &d);
	return r;
}

static int
round_go(struct syncs *s, enum side side)
{
	uint64_t start = now_ns();
	struct process p;
	double pods = 0;
	int r = go_informer_start(s->b, "-server", s->server.url, sides[side].ways, &p, &pods);

	if (r < 0)
		return r;
	rounds_add(&s->wall_ms[side], (double)(now_ns() - start) / 1e6);
	rounds_add(&s->cpu_ms[side], process_cpu_us(p.pid) / 1e3);
	process_end(&p, SIGKILL);
	return pods == s->size->pods ? 0 : -EPROTO;
}

/* ---- rows ---- */

struct wanted {
	const char *suffix;	/* of the name */
	enum side a, b;		/* the better of two is the peer */
	struct target wall, cpu;
};

static const struct wanted rows[] = {
	{"", PROTOBUF_STREAM, PROTOBUF_LIST, {.ratio = 1, .ratio_aim = 2}, {.ratio = 1, .ratio_aim = 2}},
	{"_client_go_json", JSON_LIST, JSON_STREAM, {.ratio = 1}, {.ratio = 7}},
};

static void
name_of(const struct size *size, const char *what, const char *suffix, char name[48])
{
	snprintf(name, 48, "sync_%s_%s_ms%s", size->label, what, suffix);
}

static void
say_side(const struct rounds *r, enum side side, char text[96])
{
	text[0] = '\0';
	if (r[side].count > 0)
		snprintf(text, 96, "; %s %.0f–%.0f (%u)", sides[side].peer, rounds_min(&r[side]),
			 rounds_max(&r[side]), r[side].count);
}

static void
report_figure(struct syncs *s, const struct wanted *w, const char *what, const struct rounds *r,
	      struct target target)
{
	char name[48], a[96], b[96];
	enum side peer = w->a;
	struct row *row;

	if (r[w->b].count > 0 && rounds_median(&r[w->b]) < rounds_median(&r[w->a]))
		peer = w->b;
	name_of(s->size, what, w->suffix, name);
	say_side(r, w->a, a);
	say_side(r, w->b, b);
	row = report_add(s->b->report, name, "ms", rounds_median(&r[OURS]), sides[peer].peer,
			 rounds_median(&r[peer]),
			 "%s of a process that starts with nothing, until its %u pods are there to be read; "
			 "the same server for all, over "
			 "HTTP/1.1 without TLS on this machine, with all bytes ready; informerd, --wire=%s, "
			 "in the arena with all "
			 "built-in indexes, %.0f–%.0f (%u)%s%s, "
			 "one index, one handler; the better of its ways is the peer",
			 strcmp(what, "cpu") == 0 ? "user and system time" : "wall time", s->size->pods,
			 bench_wire(s->b), rounds_min(&r[OURS]), rounds_max(&r[OURS]), r[OURS].count, a, b);
	row->target = target;
}

static void
skip(struct bench *b, const struct size *size, const char *why)
{
	char name[48];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		name_of(size, "wall", rows[i].suffix, name);
		report_skip(b->report, name, "ms", "%s", why);
		name_of(size, "cpu", rows[i].suffix, name);
		report_skip(b->report, name, "ms", "%s", why);
	}
}

static void
measure_size(struct bench *b, const struct size *size)
{
	const unsigned *wanted = b->quick ? size->quick_rounds : size->rounds;
	struct syncs s = {.b = b, .size = size};
	int r;

	if (wanted[OURS] == 0) {
		skip(b, size, "not in a quick run");
		return;
	}
	if (process_bytes(0, "../meminfo", "MemAvailable:") <
	    (int64_t)size->pods * 80000 + ((int64_t)1 << 30)) {
		skip(b, size, "the server and client-go need more memory than there is");
		return;
	}
	r = go_server_start(b, size->pods, &s.server);
	for (unsigned round = 0; r == 0 && round < wanted[OURS]; round++) {
		r = round_ours(&s);
		for (enum side side = OURS + 1; r == 0 && side < SIDES; side++)
			if (round < wanted[side])
				r = round_go(&s, side);
	}
	go_server_end(&s.server);
	if (r < 0) {
		skip(b, size, r < -4095 ? informer_strerror(r) : strerror(-r));
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		report_figure(&s, &rows[i], "wall", s.wall_ms, rows[i].wall);
		report_figure(&s, &rows[i], "cpu", s.cpu_ms, rows[i].cpu);
	}
}

void
measure_sync(struct bench *b)
{
	fprintf(stderr, "sync ...\n");
	for (size_t i = 0; i < SIZES; i++)
		if (b->client_go)
			measure_size(b, &sizes[i]);
		else
			skip(b, &sizes[i], b->why_no_client_go);
}
