/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Reflector's internals, shared by its files. Each file calls those below it:
 *
 *   reflector.c         the public functions; LIST; starts the next step
 *   reflector_watch.c   WATCH, WatchList, and checks of a silent stream
 *   reflector_status.c  state, figures, log, failures
 *
 * When a step ends, a lower file names the next step by take(), a callback into reflector.c.
 */
#ifndef WRITER_REFLECT_REFLECTOR_INTERNAL_H
#define WRITER_REFLECT_REFLECTOR_INTERNAL_H

#include "writer/base/backoff.h"
#include "writer/reflect/list.h"
#include "writer/reflect/reflector.h"
#include "writer/reflect/watch.h"

enum next_step {
	NEXT_LISTING, /* WatchList if allowed, else LIST */
	NEXT_LIST,    /* LIST */
	NEXT_WATCH,
};

struct reflector {
	/* take this step; no other request runs */
	void (*take)(struct reflector *r, enum next_step step);
	struct source source;
	char *refusal_hint;
	struct reflector_timing timing;
	struct list_choices choices;

	struct list *list;              /* at most one of list and watch runs */
	struct watch *watch;            /* a WATCH or WatchList */
	struct resource_request probe;  /* asks whether the RV is known, beside a silent watch */
	bool probing;
	struct clock_timer timer;	/* backing off, or the progress of a list */
	struct clock_timer silence_timer;       /* checks a silent stream */
	uint64_t watch_ends_ms;         /* when the server must have ended it */
	enum next_step next;
	enum request_result_kind list_why; /* reason of the next LIST or WatchList */
	struct backoff backoff;
	bool waits_for_room;            /* BACKING_OFF: the last step found no room … */
	uint64_t failed_ms;		/* … then */

	bool version_unavailable;	/* the server cannot list at the last RV: list at "" */
	bool list_at_latest;		/* the list under way has RV "" */
	bool paginated;                 /* a list at RV 0 came in pages: ask for pages from now on */
	bool version_confirmed;         /* the server knows the stream's RV */
	/* the last watch, from the same RV, ended in bytes that are no JSON, or found no room */
	bool stream_was_broken;
	/* the last stream was dead: the next one needs a new connection */
	bool connection_suspect;
	bool watch_list_was_cut;         /* the last WatchList ended before its mark */
	uint64_t no_watch_list_until_ms; /* no WatchList until then; 0: it was not refused */
	/* the first 500 in a stream since the last event; 0: none */
	uint64_t internal_errors_since_ms;
	char list_version[RESOURCE_VERSION_MAX + 1]; /* RV of the list's request */

	struct reflector_status status;
	char *last_error;
	char last_reason[RESULT_REASON_MAX + 1];
	uint64_t logged_ms;
	char *logged_error;
	uint64_t break_logged_ms;	/* 0: never */
	uint64_t progress_bytes;	/* at the last line of progress */
	struct resource_request_progress applied; /* the list being applied since applying_ms; 0: none */
	uint64_t applying_ms;
};

/* ---- reflector_status.c ---- */

uint64_t reflector_now_ms(const struct reflector *r);
void reflector_last_version(const struct reflector *r, char version[RESOURCE_VERSION_MAX + 1]);

/* A request succeeded. */
void reflector_note_success(struct reflector *r);
/* A request failed: wait, then take the next step. */
void reflector_back_off(struct reflector *r, enum next_step next, const char *doing,
			const struct request_result *ended);
/* The same for a failure without an answer of the server. */
void reflector_back_off_for(struct reflector *r, enum next_step next, const char *doing, const char *why);

/*
 * A stream that had lived broke off and is watched again at once. It counts as a failure, but readers get no
 * error: nothing is late.
 */
void reflector_note_break(struct reflector *r, const struct request_result *ended);

/*
 * A LIST or WatchList begins: choose its RV, set LISTING, and log progress regularly. Its RV is the last RV.
 * Without one, or if the server cannot list at it, the latest state is asked for. "0" is asked for if
 * old_is_fine and there is no RV.
 */
void reflector_begin_list(struct reflector *r, bool old_is_fine);

/*
 * Log that the state is complete; how: "listed" or "listed by watching". Once a long list is applied
 * (reflector_relax()), also log where its time went.
 */
void reflector_log_listed(struct reflector *r, const char *how, const struct resource_request_progress *p);
/* Log where the time of a long list went, if it is applied. */
void reflector_tell_applied(struct reflector *r);

/* ---- reflector_watch.c ---- */

/* Watch from the last RV, after a list of which it is the RV. */
void reflector_start_watch(struct reflector *r);
/* Watch from the last RV; list if that RV cannot be resumed from (watch_can_resume()). */
void reflector_watch_again(struct reflector *r);
void reflector_stop_watch(struct reflector *r);
/* Is a WatchList allowed now? And start one. */
bool reflector_may_watch_list(const struct reflector *r);
void reflector_start_watch_list(struct reflector *r);

#endif
