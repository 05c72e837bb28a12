/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload: SIGHUP makes the daemon read its configuration again, and go over to it without ending.
 *
 *	SIGHUP ─▶ the file and the flags, as at the start ─▶ names ─▶ what differs (reload_plan.h) ─▶ in force
 *	             └───────── wrong: refused as a whole ──────┘
 *
 * Refused is what would be refused at the start, with the same message; then everything goes on as before,
 * and `informerctl stat`, /metrics and the log say so. What differs is taken over at once, or, where a
 * running daemon cannot, said to need a restart, field by field; that stays as it was, and is said again with
 * each reload.
 *
 * What a resource becomes, and how (cached_resource.h): other indexes and less of each object from what the
 * store has, more of each object or another selection by one list. A resource that has something queued
 * becomes another one when that is applied; another SIGHUP may come before. New resources are made before
 * anything else is touched, so that what is wrong with one refuses the whole.
 *
 * New names are asked for at the API server; while that does not answer the reload waits, and another SIGHUP
 * takes its place.
 *
 * systemd (Type=notify-reload) is told RELOADING=1, and READY=1 when it is decided: in force, refused, or
 * waiting for the server.
 */
#ifndef WRITER_DAEMON_RELOAD_H
#define WRITER_DAEMON_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

struct daemon;

/* What became of reloads so far; it outlives the generations of the arena. Zeroed: there were none. */
struct reload_record {
	uint64_t succeeded, failed;
	bool last_failed;
	uint64_t last_wall_ns;		/* when the last one was decided; 0: never */
	uint64_t last_success_wall_ns;	/* when what is in force was read; the start counts */
	char *error;			/* why the last one was refused; NULL: it was not */
	char *changes;			/* what the last one changed; "": nothing, NULL: not known */
	char *later;			/* which fields wait for a restart; "" or NULL: none */
	/* one was under way when the daemon moved to a new generation: it is to be begun anew */
	bool interrupted;
};
void reload_record_done(struct reload_record *record);

/* SIGHUP: read the configuration again. */
void daemon_reload(struct daemon *d);

/* Give up a reload that waits for its names; at the end of a generation. */
void daemon_reload_end(struct daemon *d);

/* What an undecided reload waits for; NULL: there is none. Lent. */
const char *daemon_reload_waits(const struct daemon *d);

#endif
