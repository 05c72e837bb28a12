/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An orphan: the arena of a writer that is gone. Readers get arenas from the broker, never by name; but while
 * no writer lives there is no broker, and who starts then would have nothing. Who asked for it
 * (INFORMER_ORPHAN) takes what the last writer left:
 *
 *	O1  open SOCKET.lock, read its note: the arena's path and incarnation	(shm-layout/lock_note.h)
 *	O2  open that file, read-only; it belongs to whom the lock file belongs, to nobody else's hands (0600)
 *	O3  the lock is free
 *	O4  map it; its incarnation is the note's, it is whole, and not revoked
 *	    whatever of this fails: read the note again; another one: from O1 again
 *
 * Invariant: none of its blocks is ever written again, but to be zeroed after its state said REVOKED. An
 * incarnation is drawn by one writer process for the file that it makes; that process took the lock before it
 * made the file, and the kernel takes it back only when the process, and so its last store, is over. O3 comes
 * after the file was there (O2), so that process is gone. And no other writer stores into blocks of a file
 * that it did not make: it copies them (writer/store/generation.h), and writes the words `superseded_by` and
 * `state` in the old header, which readers look at in each informer_begin(), and after each read. The pages
 * stay while they are mapped, at their full length. A bad history that O3 after O2 excludes: the lock is
 * free, a writer starts, adopts, publishes and reclaims; then its file is opened.
 *
 * A writer that starts and dies before it wrote a note leaves the one before, whose arena it may have
 * superseded, but which is whole as long as it is not revoked: so it is taken, too.
 *
 * No pin protects anything here, and none is needed: the slot is a page of our own.
 */
#ifndef READER_LIB_ATTACH_ORPHAN_H
#define READER_LIB_ATTACH_ORPHAN_H

#include "reader-lib/attach/mapping.h"

/*
 * Nobody listens at this handle's sockets: find the orphan, and whether a writer is there all the same, one
 * that starts or ends. `lock` held.
 *
 * ret_mapping  for make_current(); NULL: no orphan is wanted, and -ENOENT says that no writer is there
 * ret_pid      of that writer, as its note says; 0: not known
 * Returns      0, with *ret_mapping; -EBUSY: a writer holds the lock; -ENOENT: there is no writer, and
 * nothing to read; -EACCES: nor that, as far as this user may see; other codes: something has run out, or
 *              what was left is damaged
 */
int orphan_find(struct informer *inf, struct mapping **ret_mapping, long *ret_pid);

#endif
