/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos_check HISTORY FILE...: compares what readers saw (tests/support/event_model.h) with what the server
 * was. The history is one of eras: with each the server is another one than its history led to, as one that
 * was restored from a backup; its RVs may be given anew.
 *
 *	- what a reader is told of a key, present and absent, comes in the order in which the server had it,
 *	  states left out: so none is older than one before it, nothing is there again that was deleted, and
 *	  nothing is deleted that never was
 *	- a snapshot shows exactly what the server had at the snapshot's RV: all of it, and nothing else
 *	  (while a first list is under way, it says so, and what is not there may be there)
 *	- seq never goes back, of the whole and of a key, and its lineage goes on
 *	- RVs go back with an era only
 *	- at the end each reader that lives sees what the server has now
 *
 * Exits 0; 1 when only the last is not so (yet); 3 when another is not.
 */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/fnv.h"
#include "tests/support/event_model.h"

#define KEYS_MAX 4096u
#define ERAS_MAX 256u
#define NONE	 UINT32_MAX

/* The states that the server had. */
struct state {
	struct event_model_state is;
	unsigned era, key;
	size_t line;
};

static struct state *states; /* in the order of eras; in each its first states, then changes by RV */
static size_t n_states, states_room;
static struct {
	uint64_t rv;	/* its first RV */
	size_t first;	/* state */
} eras[ERAS_MAX];
static unsigned n_eras = 1;

/* A key, and its states in order; type D is an absence. */
static struct {
	char name[128];
	size_t *states, count;
} keys[KEYS_MAX];
static unsigned n_keys;

/* What a reader was told of a key. */
struct view {
	bool present;
	/* told by an earlier process, or before a RESYNC, and not since: gone once all was told */
	bool stale;
	bool missing;		/* not in the snapshot: gone once that is synced */
	struct event_model_state is;
	size_t at;		/* index among the key's states */
	uint64_t seq;
};

struct reader {
	const char *file;
	unsigned line;
	int pid;
	struct view views[KEYS_MAX];
	uint64_t seq, lineage;
	bool has_lineage;
	/* the server at the last snapshot */
	unsigned era;
	uint64_t rv;
	uint64_t snapshots, told;
};

static bool wrong, unequal;
static unsigned complaints;

static void __attribute__((format(printf, 2, 3)))
complain(const struct reader *r, const char *format, ...)
{
	va_list args;

	if (complaints++ >= 20)
		return;
	fprintf(stderr, "%s:%u: ", r->file, r->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

#define WRONG(r, ...) (wrong = true, complain(r, __VA_ARGS__))

/* ---- the server ---- */

static unsigned
key_number(const char *name, bool add)
{
	uint32_t hash = fnv32(name, strlen(name));

	for (uint32_t i = 0; i < KEYS_MAX; i++) {
		unsigned at = (hash + i) % KEYS_MAX;

		if (strcmp(keys[at].name, name) == 0)
			return at;
		if (!*keys[at].name) {
			if (!add)
				return NONE;
			snprintf(keys[at].name, sizeof(keys[at].name), "%s", name);
			n_keys++;
			return at;
		}
	}
	exit(2);
}

static void
add_state(const struct event_model_state *is, unsigned key, size_t line)
{
	if (n_states == states_room) {
		states_room = states_room * 2 + 1024;
		states = realloc(states, states_room * sizeof(*states));
		if (!states)
			exit(2);
	}
	states[n_states++] = (struct state){.is = *is, .era = n_eras - 1, .key = key, .line = line};
}

/* A new era begins with only the objects that it lists. */
static void
begin_era(uint64_t rv, size_t line)
{
	struct event_model_state absent = {.rv = rv, .type = 'D'};

	if (n_eras == ERAS_MAX)
		exit(2);
	eras[n_eras].rv = rv;
	n_eras++;
	for (unsigned k = 0; k < KEYS_MAX; k++)
		if (*keys[k].name)
			add_state(&absent, k, line);
}

static int
by_time(const void *a, const void *b)
{
	const struct state *x = a, *y = b;
	/* first states of an era have earlier RVs */
	uint64_t x_rv = x->is.type == 'L' ? eras[x->era].rv : x->is.rv,
		 y_rv = y->is.type == 'L' ? eras[y->era].rv : y->is.rv;

	if (x->era != y->era)
		return x->era < y->era ? -1 : 1;
	if (x_rv != y_rv)
		return x_rv < y_rv ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void
read_history(const char *path)
{
	struct event_model_state s;
	FILE *f = fopen(path, "re");
	size_t lines = 0;
	char line[512];

	if (!f)
		exit(2);
	while (fgets(line, sizeof(line), f)) {
		if (!strchr(line, '\n'))
			break; /* the line is being written */
		if (!event_model_read(line, &s))
			exit(2);
		lines++;
		if (s.type == 'E')
			begin_era(s.rv, lines);
		else
			add_state(&s, key_number(s.key, true), lines);
	}
	fclose(f);
	qsort(states, n_states, sizeof(*states), by_time);
	for (size_t i = n_states; i-- > 0;)
		eras[states[i].era].first = i;
	for (size_t i = 0; i < n_states; i++)
		keys[states[i].key].count++;
	for (unsigned k = 0; k < KEYS_MAX; k++) {
		keys[k].states = calloc(keys[k].count + 1, sizeof(size_t));
		keys[k].count = 0;
	}
	for (size_t i = 0; i < n_states; i++)
		keys[states[i].key].states[keys[states[i].key].count++] = i;
}

/* The server's state of each key at an RV of an era; NONE: nothing. */
struct moment {
	unsigned era;
	uint64_t rv;
	size_t next;		/* state behind it */
	size_t of[KEYS_MAX];	/* states; SIZE_MAX: absent */
};

static void
go_to(struct moment *m, unsigned era, uint64_t rv)
{
	if (m->era != era || rv < m->rv || m->next == 0) {
		m->next = eras[era].first;
		for (unsigned k = 0; k < KEYS_MAX; k++)
			m->of[k] = SIZE_MAX;
	}
	m->era = era;
	m->rv = rv;
	for (; m->next < n_states && states[m->next].era == era &&
	       (states[m->next].is.rv <= rv || states[m->next].is.type == 'L');
	     m->next++)
		m->of[states[m->next].key] = states[m->next].is.type == 'D' ? SIZE_MAX : m->next;
}

/* ---- readers ---- */

static bool
is_state(const struct event_model_state *told, const struct event_model_state *had)
{
	return had->type != 'D' && told->rv == had->rv && told->hash == had->hash &&
	       strcmp(told->uid, had->uid) == 0;
}

/* The number of keys that a snapshot shows otherwise than the server had them; and the first of them. */
static unsigned
differences(const struct reader *r, const struct moment *m, unsigned *ret_first)
{
	unsigned count = 0;

	for (unsigned k = KEYS_MAX; k-- > 0;) {
		const struct view *v = &r->views[k];

		if (v->present != (m->of[k] != SIZE_MAX) ||
		    (v->present && !is_state(&v->is, &states[m->of[k]].is))) {
			*ret_first = k;
			count++;
		}
	}
	return count;
}

static void
describe(char *text, size_t size, const struct event_model_state *s)
{
	if (s)
		snprintf(text, size, "resourceVersion %" PRIu64 " (%s, %016" PRIx64 ")", s->rv, s->uid,
			 s->hash);
	else
		snprintf(text, size, "absent");
}

static void
show_difference(const struct reader *r, const struct moment *m, unsigned k, bool is_end)
{
	char had[200], told[200];

	describe(had, sizeof(had), m->of[k] != SIZE_MAX ? &states[m->of[k]].is : NULL);
	describe(told, sizeof(told), r->views[k].present ? &r->views[k].is : NULL);
	complain(r, "%s: at resourceVersion %" PRIu64 " of era %u the server had it as %s, %s %s",
		 keys[k].name, m->rv, m->era, had, is_end ? "and at the end the reader" : "the snapshot",
		 told);
}

/* Find the told state among the server's, not before the state told last. */
static void
take_place(struct reader *r, unsigned k, bool present, const struct event_model_state *told)
{
	struct view *v = &r->views[k];
	char now[200], then[200];
	bool earlier = false;
	size_t i;

	for (i = v->at; i < keys[k].count; i++) {
		const struct event_model_state *had = &states[keys[k].states[i]].is;

		if (present ? is_state(told, had) : had->type == 'D')
			break;
	}
	if (i < keys[k].count) {
		v->at = i;
	} else {
		for (i = 0; i < v->at && !earlier; i++)
			earlier = present && is_state(told, &states[keys[k].states[i]].is);
		describe(now, sizeof(now), present ? told : NULL);
		describe(then, sizeof(then), v->present ? &v->is : NULL);
		WRONG(r, "%s: %s after %s: %s", keys[k].name, now, then,
		      !present  ? "the server did not delete it"
		      : earlier ? "the server had that before, and not again"
				: "the server never had that");
	}
	v->present = present;
	v->stale = v->missing = false;
	if (present)
		v->is = *told;
	r->told++;
}

static void
take_told(struct reader *r, const char *key, bool present, const struct event_model_state *told, uint64_t seq)
{
	unsigned k = key_number(key, false);
	struct view *v;

	if (k == NONE) {
		WRONG(r, "%s: no such thing was ever there", key);
		return;
	}
	v = &r->views[k];
	if (present && seq < v->seq)
		WRONG(r, "%s: seq %" PRIu64 " after %" PRIu64, key, seq, v->seq);
	if (!present && v->present && strcmp(told->uid, "-") != 0 && strcmp(told->uid, v->is.uid) != 0)
		WRONG(r, "%s: deleted is %s, and it was %s", key, told->uid, v->is.uid);
	take_place(r, k, present, told);
	if (present)
		v->seq = seq;
}

static void
doubt_all(struct reader *r)
{
	for (unsigned k = 0; k < KEYS_MAX; k++)
		r->views[k].stale = r->views[k].present;
}

static void
forget_stale(struct reader *r)
{
	for (unsigned k = 0; k < KEYS_MAX; k++)
		if (r->views[k].stale || r->views[k].missing)
			take_place(r, k, false, NULL);
}

static void
take_snapshot(struct reader *r, const char *line)
{
	static struct moment m;
	unsigned long long lineage, seq, rv;
	unsigned first = NONE, count, least = UINT_MAX, likely = r->era;
	int synced;

	if (sscanf(line, "T %llx %llu %llu %d", &lineage, &seq, &rv, &synced) != 4) {
		WRONG(r, "no snapshot: %s", line);
		return;
	}
	r->snapshots++;
	if (r->has_lineage && lineage != r->lineage)
		WRONG(r, "another lineage: the count of seq broke off");
	if (seq < r->seq)
		WRONG(r, "seq %llu after %" PRIu64, seq, r->seq);
	r->has_lineage = true;
	r->lineage = lineage;
	r->seq = seq;
	if (!synced)
		return;
	forget_stale(r);
	for (unsigned era = r->era; era < n_eras; era++) {
		if (rv < (era == r->era ? r->rv : eras[era].rv))
			continue;
		go_to(&m, era, rv);
		count = differences(r, &m, &first);
		if (count == 0) {
			r->era = era;
			r->rv = rv;
			return;
		}
		if (count < least) {
			least = count;
			likely = era;
		}
	}
	wrong = true;
	go_to(&m, likely, rv);
	differences(r, &m, &first);
	if (rv < r->rv && likely == r->era)
		complain(r, "a snapshot at resourceVersion %llu after %" PRIu64 ", and of no later era", rv,
			 r->rv);
	else
		show_difference(r, &m, first, false);
}

static void
take_line(struct reader *r, const char *line)
{
	struct event_model_state told = {0};
	unsigned long long rv, hash, seq;
	char key[128], text[32];
	int flag;

	switch (*line) {
	case 'H':
		sscanf(line, "H %d", &r->pid);
		doubt_all(r);
		break;
	case 'T':
		take_snapshot(r, line);
		break;
	case 'B': /* a RESYNC: keys not told before its end are gone */
		doubt_all(r);
		break;
	case 'E':
		forget_stale(r);
		break;
	case 'A':
	case 'U':
		if (sscanf(line, "A %d %127s %63s %llu %llx %llu", &flag, key, told.uid, &rv, &hash, &seq) !=
			    6 &&
		    sscanf(line, "U %127s %63s %llu %llx %31s %*s %llu", key, told.uid, &rv, &hash, text,
			   &seq) != 6) {
			WRONG(r, "what is this: %s", line);
			break;
		}
		told.rv = rv;
		told.hash = hash;
		take_told(r, key, true, &told, seq);
		break;
	case 'D':
		if (sscanf(line, "D 2 %127s", key) == 1 && key_number(key, false) != NONE)
			r->views[key_number(key, false)].missing = true;
		else if (sscanf(line, "D %d %127s %63s", &flag, key, told.uid) == 3)
			take_told(r, key, false, &told, 0);
		else
			WRONG(r, "what is this: %s", line);
		break;
	default:
		break;
	}
}

/* Compare the last states with the server's, if the reader lives. */
static bool
compare(struct reader *r)
{
	static struct moment m;
	unsigned k = NONE;

	if (kill(r->pid, 0) < 0)
		return false;
	go_to(&m, n_eras - 1, UINT64_MAX);
	m.rv = states[n_states - 1].is.rv;
	if (differences(r, &m, &k) > 0) {
		unequal = true;
		show_difference(r, &m, k, true);
	}
	return true;
}

static void
read_told(struct reader *r, FILE *f)
{
	char line[1024], next[1024];
	bool have = false;

	while (fgets(next, sizeof(next), f)) {
		/* a line before an H may be incomplete: its process was killed */
		if (have && *next != 'H')
			take_line(r, line);
		memcpy(line, next, sizeof(line));
		have = strchr(line, '\n');
		r->line++;
	}
	if (have)
		take_line(r, line);
}

int
main(int argc, char **argv)
{
	static struct reader r;
	uint64_t told = 0, snapshots = 0;
	unsigned compared = 0;

	if (argc < 3)
		return 2;
	read_history(argv[1]);
	for (int i = 2; i < argc; i++) {
		FILE *f = fopen(argv[i], "re");

		if (!f)
			return 2;
		memset(&r, 0, sizeof(r));
		r.file = argv[i];
		read_told(&r, f);
		fclose(f);
		told += r.told;
		snapshots += r.snapshots;
		compared += compare(&r);
	}
	printf("%zu states of %u pods in %u eras; %" PRIu64 " told, %" PRIu64
	       " snapshots, %u views compared\n",
	       n_states, n_keys, n_eras, told, snapshots, compared);
	return wrong ? 3 : unequal || compared == 0;
}
