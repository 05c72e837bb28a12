/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Succession: how one informerd follows another on the same socket. Nobody writes before the lock (lock.h) is
 * its own, and who holds it is known by what it does, not by a pid that somebody wrote down:
 *
 *	nobody holds it			it is taken
 *	the holder answers		it lives and serves: -EBUSY, or, where that is wanted, it is asked to
 *hand over (shm-layout/protocol.h, TAKEOVER)
 *	it is killed, and still dying	waited for, as long as that can be seen
 *	nobody can connect		it has just begun, or ends in good order: waited for, for a while
 *	it says nothing			it is stopped, or very busy: so too
 *
 * Both sides of a takeover stand here. Between them the lock is never free, and the listening socket never
 * closed. Until the holder has heard that both arrived, it can go on with them by itself; it does so only
 *when its successor has hung up, that is, cannot have them any more: so at no time two may write.
 */
#ifndef WRITER_DAEMON_SUCCESSION_H
#define WRITER_DAEMON_SUCCESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "writer/daemon/lock.h"

#define SUCCESSION_PATIENCE_MS 10000u /* for one who neither answers nor is seen dying, … */
#define SUCCESSION_DYING_MS 300000u   /* … who is, … */
#define SUCCESSION_FINISH_MS 60000u   /* … and who said that it will hand over */

/* What a predecessor leaves. Zeroed: nothing. */
struct inheritance {
	struct lock lock;
	int listener; /* 0: none */
};

/*
 * socket      its path
 * takeover    ask one that serves to hand over
 * prepare     called once before that: what can go wrong is found out while the other one still serves.
 *             Negative errno: it is not asked. Only with takeover
 * wait        let some ms pass; false: give up
 */
struct succession {
	const char *socket;
	bool takeover;
	int (*prepare)(void *context);
	bool (*wait)(void *context, unsigned ms);
	void *context;
};

/*
 * Get the lock, and the listening socket where it was handed over. systemd is told which process is the main
 * one now before the predecessor ends.
 *
 * Returns 0; -EBUSY with message: who holds it stays; -ECANCELED: given up by wait(); what prepare() said;
 *         other negative errno, with message
 */
int succession_begin(const struct succession *succession, struct inheritance *ret, char **ret_error);

/*
 * Give lock and listener to the successor that asked for them over this connection, and wait until it has
 * them. Nothing may be written any more.
 *
 * Returns true: they are its own, and so closed here. False: it is gone without them; they are still here
 */
bool succession_give(int connection, struct inheritance *inheritance);

/* Let go of what was left. A zeroed one is fine. */
void inheritance_release(struct inheritance *inheritance);

#endif
