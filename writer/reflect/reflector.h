/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Reflector keeps one resource's DeltaFIFO fed. It repeats LIST and then WATCH from the list's RV. Or it
 * uses a WatchList: one stream that first brings the state and then its changes.
 *
 *	            ┌────────── whole ──────────┐   ┌── ended, having lived: at once ──┐
 *	start ──▶ LISTING ◀──── 410, lost ──── WATCHING ◀───────────────────────────────┘
 *	  │         │ failed                   ▲  │ failed, throttled, refused
 *	  │         ▼                          │  ▼
 *	  │       BACKING_OFF ── list again    BACKING_OFF ── watch again from the last RV
 *	  └── with a stored RV ────────────────┘
 *
 * After a watch has ended, the Reflector lists or watches again:
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
 * A watch has lived if it was accepted, and brought an event or lasted a second. The next watch then begins
 * at once, since changes are seen late until it does. Otherwise the Reflector waits first, longer after each
 * failure.
 *
 * A failed WatchList:
 *
 *	refused as invalid, or taken for a plain WATCH (a       LIST, and no WatchList for an hour
 *	bookmark before the end mark), or accepted and without
 *	a byte for 30 s before the mark
 *	the RV is expired                                       again at RV ""
 *	429, connection refused                                 again after a wait
 *	ended before the mark                                   again after a wait, the second time by LIST
 *	anything else, also not even accepted for 30 s          LIST this time
 *
 * A list never sets content back. Later lists ask for a state not older than the last RV. If the answer is
 * older all the same, it is discarded and the latest state is listed (client-go accepts it). Content without
 * an RV is also replaced by the latest state. The server's latest state is always accepted, even after the
 * server was set back; so is every event.
 *
 * A failed list changes nothing. 401, 403 and 404 mean REFUSED: the Reflector tries again with the same
 * backoff, and its message names the RBAC rule to add. Other resources have their own Reflectors and are not
 * affected.
 *
 * A server that does not know the RV yet (restored from a backup, or another server) accepts the watch and
 * stays silent. So after `silence_ms` without an event the Reflector asks the server whether it knows the
 * RV, and lists if not. A server that has sent a bookmark sends one every minute. (Before the first it may
 * be silent: none is sent at the RV at which the stream began, except a WatchList's end mark.) The stream is
 * dead if the server answers questions but its bookmarks stopped, or it did not accept the WATCH, or it did
 * not end the stream in time. The Reflector then watches again. A dead connection is found by the transport
 * within a minute (kube/transport_ping.h): the watch fails and is begun anew.
 *
 * Source    client-go tools/cache/reflector.go; apiserver pkg/storage/cacher, cacheWatcher.process()
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
	uint64_t progress_ms;           /* 2,000: between progress lines of a long list */
	unsigned watch_timeout_s;	/* 300: the server ends a watch between this and twice this */
	struct backoff_pace backoff;    /* backoff.h has the defaults */
	uint64_t overdue_ms;            /* 30,000: how late the server may end a watch */
	/* 30,000: a WatchList without a byte before its end mark is given up */
	uint64_t quiet_ms;
	uint64_t no_watch_list_ms;   /* 3,600,000: no WatchList for so long after the server refused one */
	uint64_t internal_errors_ms; /* 30,000: after 500s within streams for so long, list */
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
 * Start with a LIST. If the store's content has a known RV (adoption), start with a WATCH from it and no
 * LIST.
 * version  length 0, or "0": LIST
 */
void reflector_start(struct reflector *r, const char *version, size_t length);

/*
 * Stop the present request and list again at once, because of `why`. The FIFO's version, which the caller
 * has reset, is the RV of the list. After RESULT_DIFFERS the latest state is listed. Before
 * reflector_start() this does nothing.
 */
void reflector_relist(struct reflector *r, enum request_result_kind why);

/*
 * There may be room again. If the last step failed for lack of room, it is tried at once, or once the first
 * wait of the backoff is over. Other steps keep their wait.
 */
void reflector_retry(struct reflector *r);
/* True if the Reflector backs off because something found no room. */
bool reflector_waits_for_room(const struct reflector *r);

/* The FIFO was popped: resume a paused stream. Report a long list whose last Delta was popped. */
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
	/* lists and watch_lists, by their reason; RESULT_OK: the first one */
	uint64_t lists_for[RESULT_KINDS];
	bool paused;                    /* the stream waits until the FIFO is popped */
	const char *last_error;         /* "" when the last request succeeded; lent */
	const char *last_reason;	/* the Status' reason, or "" */
	int last_code;			/* HTTP status or Status code, or 0 */
};
void reflector_get_status(const struct reflector *r, struct reflector_status *ret);

#endif
