/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reflector: keeps one resource's DeltaFIFO fed. LIST, then WATCH from the list's RV, again and again; or a
 * WatchList, one stream that brings first the state, then what happens to it:
 *
 *	            ┌────────── whole ──────────┐   ┌── ended, having lived: at once ──┐
 *	start ──▶ LISTING ◀──── 410, lost ──── WATCHING ◀───────────────────────────────┘
 *	  │         │ failed                   ▲  │ failed, throttled, refused
 *	  │         ▼                          │  ▼
 *	  │       BACKING_OFF ── list again    BACKING_OFF ── watch again from the last RV
 *	  └── with a stored RV ────────────────┘
 *
 * Which ends of a watch make it list again:
 *
 *	410, or an RV that is ahead of the server               list
 *	an event that cannot be kept                            list (of another kind or apiVersion, or
 *	                                                        without metadata: dropped)
 *	the same broken or too large event twice                list
 *	429, within the stream or instead of it                 watch again
 *	InternalError within the stream                         watch again for 30 s, then list
 *	another ERROR event (a StorageReadError, too)           list
 *	a broken connection                                     watch again, at once if it had lived
 *	another answer than 200, no connection                  watch again
 *	any of these, and the RV is "0" still                   list (watch.h)
 *
 * A watch has lived when it was accepted, and told something or lasted a second. Its end is no reason to
 * wait, whoever made it: what happens until the next one begins is heard late. What fails without having
 * lived is waited after, each time longer.
 *
 * WatchList, where it may be used: refused as invalid, taken for a plain WATCH (a bookmark before the end
 * mark), or accepted and without a byte for 30 s before the mark: LIST, and for an hour no other try.
 * Expired: again at RV "". 429, connection refused, ended before the mark: again after a wait, the second
 * time by LIST. Anything else, also not even accepted for 30 s: LIST this time.
 *
 * Nothing goes back by a list: later ones ask for what is not older than the last RV, and an answer that is
 * older all the same is not taken, but the latest state asked for (client-go takes it). So it is where
 * content has no RV. What a server says of its latest state is so, also if it was set back; and so is every
 * event.
 *
 * A list that fails changes nothing. 401, 403 and 404 are REFUSED: tried again with the same backoff, with
 * the RBAC rule to add in the message; other resources have their own Reflectors and notice nothing.
 *
 * An RV that the server does not know yet (restored from a backup, or another server) is not refused but
 * answered with silence. So a watch that hears nothing for `silence_ms` asks the server whether it knows the
 * RV, and lists if not. A server that sent a bookmark sends one a minute (before the first it may be silent:
 * there is none of the RV at which the stream began, other than a WatchList's end mark): when they stop, or
 * the WATCH was not even accepted, and the server answers questions all the same, the stream is dead, and one
 * watches again; so with a stream that the server ought to have ended by now. (A connection that is dead is
 * noticed by the transport within a minute, kube/transport_ping.h: then the watch fails and is begun anew.)
 *
 * Source    client-go tools/cache/reflector.go;
 *           apiserver pkg/storage/cacher, cacheWatcher.process()
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_REFLECT_REFLECTOR_H
#define WRITER_REFLECT_REFLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "shm-layout/root.h"
#include "writer/base/backoff.h"
#include "writer/reflect/source.h"
#include "writer/reflect/request_result.h"
#include "writer/config/list_choices.h"

struct reflector;

/* Zero means the default. */
struct reflector_timing {
	uint64_t silence_ms;		/* 90,000 */
	uint64_t progress_ms;		/* 2,000: how often a long list is logged */
	unsigned watch_timeout_s;	/* 300: the server ends a watch between this and twice this */
	struct backoff_pace backoff;	/* backoff.h says what is usual */
	uint64_t overdue_ms;		/* 30,000: what it may be late with that */
	/* 30,000: a WatchList without a byte before its end mark is given up */
	uint64_t quiet_ms;
	uint64_t no_watch_list_ms;	/* 3,600,000: how long it is believed that the server cannot do it */
	uint64_t internal_errors_ms;	/* 30,000: how long 500s within streams are met with another watch */
};

struct reflector_options {
	const struct source *source;	/* copied */
	const char *refusal_hint;	/* what to do about 403; copied; may be NULL */
	struct reflector_timing timing;
	struct list_choices choices;
};

/* NULL: no memory. */
struct reflector *reflector_new(const struct reflector_options *options);
/* Also while it runs. NULL is fine. */
void reflector_free(struct reflector *r);

/*
 * Start with a LIST; or, when the store's content stands at a known RV (adoption), with a WATCH from there
 * and no LIST.
 * version  length 0, or "0": LIST
 */
void reflector_start(struct reflector *r, const char *version, size_t length);

/*
 * Leave what is under way and list anew at once, because of `why`. The FIFO's version, which was reset
 * before, says at which RV; after RESULT_DIFFERS it is the latest. Nothing before reflector_start().
 */
void reflector_relist(struct reflector *r, enum request_result_kind why);

/*
 * There is room again, or may be: what failed for want of it is tried at once, or as soon as its first wait
 * is over. Nothing else is hurried.
 */
void reflector_retry(struct reflector *r);
/* It is backing off because something found no room. */
bool reflector_waits_for_room(const struct reflector *r);

/*
 * The FIFO was popped from; goes on with a paused stream, and tells of a long list whose last Delta that
 * was.
 */
void reflector_relax(struct reflector *r);

enum reflector_state {
	REFLECTOR_IDLE,
	REFLECTOR_LISTING,
	REFLECTOR_WATCHING,
	REFLECTOR_BACKING_OFF,
	REFLECTOR_REFUSED
};
const char *reflector_state_name(enum reflector_state state);

struct reflector_status {
	enum reflector_state state;
	uint64_t next_try_ms;		/* BACKING_OFF, REFUSED: when */
	uint64_t list_items;		/* LISTING: so far */
	int64_t list_remaining;		/* LISTING: -1 unknown */
	uint64_t list_bytes;
	uint64_t lists, watch_lists, watches, events, bookmarks, bad_events, failures; /* since the start */
	/* lists and watch_lists, by what made them necessary; RESULT_OK: the first one */
	uint64_t lists_for[RESULT_KINDS];
	bool paused;			/* the stream waits for the store */
	const char *last_error;		/* "" when the last thing that was tried worked; lent */
	const char *last_reason;	/* the Status' reason, or "" */
	int last_code;			/* HTTP status or Status code, or 0 */
};
void reflector_get_status(const struct reflector *r, struct reflector_status *ret);

#endif
