/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the Reflector share. Each calls those below it:
 *
 *   reflector.c         the outside; LIST; which step is next, once one says so
 *   reflector_watch.c   WATCH, WatchList, and when their silence means something
 *   reflector_status.c  state, figures, log, and what failed
 *
 * A step's end begins another: a file below says which by take(), which reflector.c hands down.
 */
#ifndef WRITER_REFLECT_REFLECTOR_INTERNAL_H
#define WRITER_REFLECT_REFLECTOR_INTERNAL_H

#include "writer/base/backoff.h"
#include "writer/reflect/list.h"
#include "writer/reflect/reflector.h"
#include "writer/reflect/watch.h"

enum next_step {
	NEXT_LISTING,		/* by WatchList where that may be, else by LIST */
	NEXT_LIST,		/* by LIST */
	NEXT_WATCH,
};

struct reflector {
	/* go on with that; nothing else is under way */
	void (*take)(struct reflector *r, enum next_step step);
	struct source source;
	char *refusal_hint;
	struct reflector_timing timing;
	struct list_choices choices;

	struct list *list;              /* at most one of the two is under way */
	struct watch *watch;		/* a WatchList, too */
	struct resource_request probe;  /* asks whether the RV is known, beside a silent watch */
	bool probing;
	struct clock_timer timer;	/* backing off, or the progress of a list */
	struct clock_timer vigil;	/* over the stream */
	uint64_t watch_ends_ms;		/* when the server ought to have ended it */
	enum next_step next;
	enum request_result_kind list_why;	/* what the next LIST or WatchList will be for */
	struct backoff backoff;
	bool waits_for_room;		/* BACKING_OFF: what failed found no room … */
	uint64_t failed_ms;		/* … then */

	bool version_unavailable;	/* the server cannot list at the last RV: list at "" */
	bool list_at_latest;		/* the list under way has RV "" */
	bool paginated;			/* a list at RV 0 came in pages: so will others */
	bool version_confirmed;		/* the server knows the RV from which the stream goes on */
	/* the last watch, from the same RV, ended in bytes that are no JSON, or do not fit */
	bool stream_was_broken;
	/* the stream that just ended was dead, and so may its connection be */
	bool connection_doubted;
	bool watch_list_was_cut;	/* the last WatchList was ended before its mark */
	uint64_t no_watch_list_until_ms; /* the server cannot do it; 0: nothing is known against it */
	/* the first 500 in a stream, of those that nothing else came between; 0: none */
	uint64_t internal_errors_since_ms;
	char list_version[RESOURCE_VERSION_MAX + 1]; /* asked for */

	struct reflector_status status;
	char *last_error;
	char last_reason[RESULT_REASON_MAX + 1];
	uint64_t logged_ms;
	char *logged_error;
	uint64_t break_logged_ms;	/* 0: never */
	uint64_t progress_bytes;	/* at the last line of progress */
	struct resource_request_progress applied; /* of what is being applied since applying_ms; 0: nothing */
	uint64_t applying_ms;
};

/* ---- reflector_status.c ---- */

uint64_t reflector_now_ms(const struct reflector *r);
void reflector_last_version(const struct reflector *r, char version[RESOURCE_VERSION_MAX + 1]);

/* Something worked. */
void reflector_note_success(struct reflector *r);
/* Something failed: wait, then take the next step. */
void reflector_back_off(struct reflector *r, enum next_step next, const char *doing,
			const struct request_result *ended);
/* The same for a reason of our own. */
void reflector_back_off_for(struct reflector *r, enum next_step next, const char *doing, const char *why);

/*
 * A stream that had lived broke off, and is watched again at once. It counts as a failure, but readers are
 * not told of one: nothing is late.
 */
void reflector_note_break(struct reflector *r, const struct request_result *ended);

/*
 * A list begins, in either way: at the last RV; or at the latest state, or where that is fine at an old one,
 * if there is no RV, or none that the server can list at. LISTING, with a line in the log every while.
 */
void reflector_begin_list(struct reflector *r, bool old_is_fine);

/*
 * The state is whole, "listed" or "listed by watching": a line in the log; and where the time went if it was
 * long, as soon as it is applied (reflector_relax()).
 */
void reflector_log_listed(struct reflector *r, const char *how, const struct resource_request_progress *p);
/* The latter, if it is. */
void reflector_tell_applied(struct reflector *r);

/* ---- reflector_watch.c ---- */

/* Watch from the last RV: the list's, which was just applied. */
void reflector_start_watch(struct reflector *r);
/* Go on from the last RV; or, where that is none to go on from (watch_can_resume()), list. */
void reflector_watch_again(struct reflector *r);
void reflector_stop_watch(struct reflector *r);
/* Whether a WatchList may be tried; and do so. */
bool reflector_may_watch_list(const struct reflector *r);
void reflector_start_watch_list(struct reflector *r);

#endif
