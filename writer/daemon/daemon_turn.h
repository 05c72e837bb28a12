/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each turn of the loop does, and each heartbeat.
 *
 * Invariants
 * - What a turn has read and queued is applied and committed in the same turn, up to a batch. While something
 *   is left, the poll does not wait.
 * - READY=1 is sent once, when every resource was complete once.
 */
#ifndef WRITER_DAEMON_DAEMON_TURN_H
#define WRITER_DAEMON_DAEMON_TURN_H

struct daemon;

/* Run with each turn and each second from now on. Applier, resources and readers' queues exist. */
void daemon_start_turns(struct daemon *d);

/* One heartbeat. Needs an arena only. */
void daemon_beat(struct daemon *d);

/*
 * Part of each heartbeat: forget old deletions, overflow queues that nobody reads, and commit what consumers
 * acknowledged.
 */
void daemon_age_events(struct daemon *d);

#endif
