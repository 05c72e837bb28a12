/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_check HISTORY BOUND FILE...: compares what handlers were told (tests/support/event_model.h) with
 * what the server was.
 *
 *	- each state told is one that the server had under that resourceVersion, and of the handler's
 *	  selection
 *	- of one object never an older state after a newer one; an add of what was absent, an update of what
 *	  was present with the state that was told last as the old one, a delete of what was present; what is
 *	  not so was announced by COALESCED or RESYNC
 *	- up to resourceVersion BOUND a steady handler sees no COALESCED and no RESYNC, and every single
 *	  state, in the order of the server: no resourceVersion is lower than one before it, of any key
 *	- what the calls lead to is what the server has (of a handler whose process lives)
 *
 * Exits 0; 1 when only the last is not so (yet); 3 when another is not.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/event_model.h"

#define KEYS_MAX 4096u

/* A server's state, by resourceVersion; before and after are states of the same key. */
struct state {
	struct event_model_state is;
	unsigned key;
	uint64_t before;
};

static struct state *states; /* by rv; rv 0: none */
static uint64_t n_states, bound;
static char *keys[KEYS_MAX];
static unsigned n_keys;
static uint64_t newest[KEYS_MAX]; /* newest state of a key */

/*
 * What a handler was told of a key.
 *
 * rv      0: absent
 * again   told since the RESYNC began
 * last    the newest state told, present or not
 * unsure  told by an earlier process and not since; a deletion that it did not acknowledge may be lost
 * ended   told as gone, once
 * unread  told but not readable, and to be told again
 */
struct view {
	uint64_t rv, last;
	bool again;
	bool unsure;
	bool ended;
	bool unread;
};

struct handler {
	const char *file;
	unsigned line, label, field;
	int pid;
	char ns[32];
	bool named, steady, done, loose, resyncing, whole, begun;
	uint64_t newest;	/* resourceVersion told */
	struct view *views;
	unsigned events;
};

static bool unequal, wrong;

static void __attribute__((format(printf, 2, 3)))
say(const struct handler *h, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", h->file, h->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

#define WRONG(h, ...) (wrong = true, say(h, __VA_ARGS__))

static unsigned
key_number(const char *key)
{
	for (unsigned i = 0; i < n_keys; i++)
		if (strcmp(keys[i], key) == 0)
			return i;
	if (n_keys == KEYS_MAX)
		exit(2);
	keys[n_keys] = strdup(key);
	return n_keys++;
}

static void
read_history(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "re");
	struct state s = {0};

	if (!f)
		exit(2);
	while (fgets(line, sizeof(line), f)) {
		if (!event_model_read(line, &s.is))
			exit(2);
		if (s.is.rv >= n_states) {
			states = realloc(states, (s.is.rv + 1000) * sizeof(*states));
			if (!states)
				exit(2);
			memset(states + n_states, 0, (s.is.rv + 1000 - n_states) * sizeof(*states));
			n_states = s.is.rv + 1000;
		}
		s.key = key_number(s.is.key);
		s.before = newest[s.key];
		newest[s.key] = s.is.rv;
		states[s.is.rv] = s;
	}
	fclose(f);
}

static bool
selected(const struct handler *h, const struct state *s)
{
	size_t n = strlen(h->ns);

	return (strcmp(h->ns, "-") == 0 ||
		(strncmp(keys[s->key], h->ns, n) == 0 && keys[s->key][n] == '/')) &&
	       (s->is.labels >> h->label & 1) && (s->is.fields >> h->field & 1);
}

static bool
has_selectors(const struct handler *h)
{
	return h->label || h->field;
}

/* The server's state of that resourceVersion, if it equals the told state. */
static const struct state *
real(const struct handler *h, const char *key, const char *uid, const char *rv, unsigned long long hash)
{
	uint64_t n = strtoull(rv, NULL, 10);
	const struct state *s = n < n_states ? &states[n] : NULL;

	if (!s || s->is.rv == 0 || strcmp(keys[s->key], key) != 0 || (uid && strcmp(s->is.uid, uid) != 0) ||
	    s->is.hash != hash) {
		WRONG(h, "%s was never this under resourceVersion %s: %s %016llx", key, rv,
		      uid ? uid : "(its old state)", hash);
		return NULL;
	}
	return s;
}

/* True if a steady handler must be told every state. */
static bool
whole(const struct handler *h, const struct state *s)
{
	return h->steady && !h->loose && s->is.rv <= bound;
}

/* A change of any key, without objects present when the handler came. */
static void
in_order(struct handler *h, const struct state *s, const char *line)
{
	if (whole(h, s) && s->is.rv < h->newest)
		WRONG(h, "another key's %llu was told before: %s", (unsigned long long)h->newest, line);
}

static void
present(struct handler *h, const struct state *s)
{
	struct view *v = &h->views[s->key];

	h->newest = s->is.rv > h->newest ? s->is.rv : h->newest;
	v->rv = v->last = s->is.rv;
	v->again = true;
	v->unsure = v->ended = v->unread = false;
}

static void
take_add(struct handler *h, const char *line)
{
	char key[128], uid[64], rv[32];
	unsigned long long hash;
	const struct state *s;
	struct view *v;
	int initial;

	if (sscanf(line, "A %d %127s %63s %31s %llx", &initial, key, uid, rv, &hash) != 5) {
		WRONG(h, "no add: %s", line);
		return;
	}
	s = real(h, key, uid, rv, hash);
	if (!s)
		return;
	/* a consumer whose name was forgotten begins anew, as this shows */
	if (!h->begun && initial && !h->resyncing)
		memset(h->views, 0, KEYS_MAX * sizeof(*h->views));
	h->begun = true;
	v = &h->views[s->key];
	if (!selected(h, s) || s->is.type == 'D')
		WRONG(h, "an add of what is not in the selection: %s", line);
	if (v->rv && !v->unread && !h->resyncing && !(h->named && h->loose))
		WRONG(h, "an add of what is there (%llu): %s", (unsigned long long)v->rv, line);
	if (s->is.rv < v->last || (s->is.rv == v->last && !h->resyncing && !(h->named && h->loose)))
		WRONG(h, "an older state after %llu: %s", (unsigned long long)v->last, line);
	if (initial && h->whole && !h->resyncing && !h->loose)
		WRONG(h, "an initial add after all were told: %s", line);
	if (!initial && whole(h, s) && s->is.type != 'A' && !(s->before && !selected(h, &states[s->before])))
		WRONG(h, "states before this one were not told: %s", line);
	if (!initial)
		in_order(h, s, line);
	present(h, s);
}

static void
take_update(struct handler *h, const char *line)
{
	char key[128], uid[64], rv[32], old_rv[32];
	unsigned long long hash, old_hash;
	const struct state *s, *o;
	struct view *v;
	bool twice;

	if (sscanf(line, "U %127s %63s %31s %llx %31s %llx", key, uid, rv, &hash, old_rv, &old_hash) != 6) {
		WRONG(h, "no update: %s", line);
		return;
	}
	s = real(h, key, uid, rv, hash);
	if (!s)
		return;
	h->begun = true;
	v = &h->views[s->key];
	if (!selected(h, s) || s->is.type == 'D')
		WRONG(h, "an update to what is not in the selection: %s", line);
	if (strcmp(old_rv, "=") == 0) {
		if (v->rv != s->is.rv)
			WRONG(h, "a resync of another state than %llu: %s", (unsigned long long)v->rv, line);
		return;
	}
	/* the arena was revoked during the call, so the call may be unread */
	twice = h->loose && strcmp(old_rv, "-") == 0;
	if (s->is.rv < v->last || (s->is.rv == v->last && !twice && !(h->loose && h->named)))
		WRONG(h, "an older state after %llu: %s", (unsigned long long)v->last, line);
	if (!v->rv && !v->unread && !(v->ended && twice) && !(h->loose && h->named) && !h->resyncing)
		WRONG(h, "an update of what is not there: %s", line);
	if (v->rv && !v->unsure && !v->unread && strcmp(states[v->rv].is.uid, s->is.uid) != 0)
		WRONG(h, "an update of another object of that name: %s", line);
	if (strcmp(old_rv, "-") == 0) {
		if (!h->loose && !h->resyncing)
			WRONG(h, "the old state is not known, and nobody said COALESCED: %s", line);
	} else {
		o = real(h, key, NULL, old_rv, old_hash);
		if (o && o->is.rv != v->rv)
			WRONG(h, "the old state is not the one told, %llu: %s", (unsigned long long)v->rv,
			      line);
		if (o && whole(h, s) && s->before != o->is.rv)
			WRONG(h, "states between were not told: %s", line);
	}
	in_order(h, s, line);
	present(h, s);
}

static void
take_delete(struct handler *h, const char *line)
{
	char key[128], uid[64], rv[32];
	const struct state *s = NULL;
	unsigned long long hash;
	unsigned number;
	struct view *v;
	bool twice;
	int known;

	if (sscanf(line, "D %d %127s %63s %31s %llx", &known, key, uid, rv, &hash) != 5) {
		WRONG(h, "no delete: %s", line);
		return;
	}
	h->begun = true;
	number = key_number(key);
	v = &h->views[number];
	if (strcmp(rv, "-") != 0)
		s = real(h, key, uid, rv, hash);
	if (known && !s)
		WRONG(h, "the final state is said to be known: %s", line);
	/* the arena was revoked during the first call, which may be unread */
	twice = v->unread || (v->ended && h->loose);
	if (!v->rv && !(h->loose && h->named) && !h->resyncing && !twice)
		WRONG(h, "a delete of what is not there: %s", line);
	if (s && v->rv && s->is.rv < v->rv && !(h->loose && h->named))
		WRONG(h, "a delete with an older state than %llu: %s", (unsigned long long)v->rv, line);
	if (s && known && !has_selectors(h) && s->is.type != 'D')
		WRONG(h, "a final state that is none: %s", line);
	if (s && known && !selected(h, s))
		WRONG(h, "a final state outside the selection: %s", line);
	if (s && known && whole(h, s) && s->is.type == 'D' && s->before != v->rv)
		WRONG(h, "states before its end were not told: %s", line);
	if (s && known && s->is.type == 'D') { /* otherwise it left the selection in its earlier state */
		in_order(h, s, line);
		h->newest = s->is.rv > h->newest ? s->is.rv : h->newest;
	}
	if (s && s->is.rv > v->last)
		v->last = s->is.rv;
	v->ended = v->rv != 0;
	v->unread = false;
	v->rv = 0;
}

static void
fall_behind(struct handler *h)
{
	/* changes outside its selection are not told: it may be ahead by this much */
	if (h->steady && h->newest + 400 < bound)
		WRONG(h, "a reader that keeps up fell behind");
	h->loose = true;
}

/* The object expired during the call. It counts as told, in an unknown state. */
static void
take_expired(struct handler *h, const char *line)
{
	char type, key[128];

	if (sscanf(line, "I %c %127s", &type, key) != 2) {
		WRONG(h, "no line of what expired: %s", line);
		return;
	}
	fall_behind(h);
	h->begun = true;
	for (unsigned i = 0; i < KEYS_MAX; i++)
		h->views[i].unread |= i < n_keys && (strcmp(key, "?") == 0 || strcmp(key, keys[i]) == 0);
}

static void
begin_life(struct handler *h, const char *line)
{
	int named, steady;

	if (sscanf(line, "H %d %31s %u %u %d %d", &h->pid, h->ns, &h->label, &h->field, &named, &steady) != 6)
		WRONG(h, "no beginning: %s", line);
	h->named = named;
	h->steady = steady;
	h->done = h->resyncing = h->whole = h->begun = false;
	/* events that the earlier process did not acknowledge may come again */
	h->loose = named;
	for (unsigned i = 0; i < KEYS_MAX; i++) {
		h->views[i].last = 0;
		h->views[i].unsure = h->views[i].rv != 0;
	}
}

static void
take_line(struct handler *h, const char *line)
{
	switch (*line) {
	case 'H':
		begin_life(h, line);
		break;
	case 'A':
		take_add(h, line);
		break;
	case 'U':
		take_update(h, line);
		break;
	case 'D':
		take_delete(h, line);
		break;
	case 'I':
		take_expired(h, line);
		break;
	case 'C':
	case 'R':
		fall_behind(h);
		break;
	case 'B':
		h->resyncing = true;
		for (unsigned i = 0; i < KEYS_MAX; i++)
			h->views[i].again = false;
		break;
	case 'E':
		h->resyncing = false;
		for (unsigned i = 0; i < KEYS_MAX; i++)
			if (!h->views[i].again)
				h->views[i].rv = 0;
		break;
	case 'S':
		h->whole = true;
		break;
	case 'X':
		h->done = true;
		break;
	default:
		WRONG(h, "what is this: %s", line);
	}
	h->events += *line == 'A' || *line == 'U' || *line == 'D';
}

/* Compare the last states with the server's; 1: compared. */
static bool
compare(struct handler *h)
{
	if (h->done || kill(h->pid, 0) < 0)
		return false;
	for (unsigned i = 0; i < n_keys; i++) {
		const struct state *s = &states[newest[i]];
		uint64_t expected = newest[i] && s->is.type != 'D' && selected(h, s) ? s->is.rv : 0;

		if (h->views[i].rv != expected) {
			unequal = true;
			say(h, "%s: the server has %llu, it was told %llu", keys[i],
			    (unsigned long long)expected, (unsigned long long)h->views[i].rv);
			break;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	unsigned compared = 0, steady = 0, coalesced = 0, resyncs = 0, deletes = 0;
	uint64_t events = 0;
	char line[1024];

	if (argc < 4)
		return 2;
	read_history(argv[1]);
	bound = strtoull(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++) {
		struct handler h = {.file = argv[i], .views = calloc(KEYS_MAX, sizeof(*h.views))};
		FILE *f = fopen(argv[i], "re");

		if (!f || !h.views)
			return 2;
		while (fgets(line, sizeof(line), f)) {
			if (!strchr(line, '\n'))
				break;
			h.line++;
			take_line(&h, line);
			coalesced += *line == 'C';
			resyncs += *line == 'R';
			deletes += *line == 'D';
		}
		fclose(f);
		events += h.events;
		steady += h.steady;
		compared += compare(&h);
		free(h.views);
	}
	printf("%llu events to %d handlers (%u deletes), %u COALESCED, %u RESYNC, %u views compared, %u "
	       "steady, %u names\n",
	       (unsigned long long)events, argc - 3, deletes, coalesced, resyncs, compared, steady, n_keys);
	return wrong ? 3 : unequal || compared == 0;
}
