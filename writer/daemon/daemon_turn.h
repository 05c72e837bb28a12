/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Daemon turn: what each turn of the loop does, and each heartbeat.
 *
 * Invariant: what a turn has read and queued is applied and committed in the same turn, up to a batch; while
 * something is left, the poll does not wait. READY=1 is said once, when every resource was whole once.
 */
#ifndef WRITER_DAEMON_DAEMON_TURN_H
#define WRITER_DAEMON_DAEMON_TURN_H

struct daemon;

/* From now on, with each turn and each second. There are applier, resources and readers' queues. */
void daemon_start_turns(struct daemon *d);

/* A heartbeat; also before there is an applier or anything else but an arena. */
void daemon_beat(struct daemon *d);

/*
 * Old deletions are forgotten, queues that nobody reads overflow; what consumers acknowledged is kept, also
 * when nothing else is committed. A part of each heartbeat.
 */
void daemon_age_events(struct daemon *d);

#endif
