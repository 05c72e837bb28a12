/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An orphan: the arena that a dead writer left. The broker passes arenas to readers, which never open one by
 * name. Without a writer there is no broker, so a reader that starts then has nothing to read. With
 * INFORMER_ORPHAN it maps what the last writer left:
 *
 *	O1  open SOCKET.lock, read its note: the arena's path and incarnation	(shm-layout/lock_note.h)
 *	O2  open the arena's file, read-only; its owner is the lock file's, its mode excludes group and others
 *	O3  check that the lock is free
 *	O4  map the file; its incarnation is the note's, and it is complete and not revoked
 *	    If O2, O3 or O4 fails, read the note again. If it changed, repeat from O2, in 4 rounds at most.
 *
 * Invariant: no writer stores into a block of the orphan, except zeros after its state is REVOKED.
 * - Its own writer is gone at O3. That process took the lock before it made the file and drew the
 *   incarnation. The kernel releases the lock after the process's last store.
 * - A later writer copies the blocks of a file that it did not make (writer/store/generation.h). It writes
 *   `superseded_by` and `state` in the old header. Readers look at both in each informer_begin(), and after
 *   each read. Mapped pages stay, at their full length.
 * Order: O3 after O2. It prevents this history: the lock is free; then a writer starts, adopts, publishes and
 * reclaims; then its file is opened.
 *
 * If a writer dies before it writes its note, the previous note remains. That arena may be superseded, but it
 * is complete until it is revoked, so readers map it.
 *
 * Pins in an orphan are not needed and protect nothing: the slot is a page of our own.
 */
#ifndef READER_LIB_ATTACH_ORPHAN_H
#define READER_LIB_ATTACH_ORPHAN_H

#include "reader-lib/attach/mapping.h"

/*
 * Find the orphan of a handle at whose sockets nobody listens. Also finds out whether a writer is starting or
 * ending. `lock` held.
 *
 * ret_mapping  for mapping_make_current(); NULL: look for a writer only
 * ret_pid      the pid in the note, on failure only; 0: unknown
 * Returns      0, with *ret_mapping
 *              -EBUSY   a writer holds the lock
 *              -ENOENT  no writer, and no orphan
 *              -EACCES  this user may not open a file; no writer was seen
 *              other codes: out of a resource, or the orphan is damaged; some with a message
 */
int orphan_find(struct informer *inf, struct mapping **ret_mapping, long *ret_pid);

#endif
