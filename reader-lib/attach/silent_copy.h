/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private copy of what a writer has published that lives and does not answer: it was stopped (SIGSTOP, a
 * debugger), or hangs on a disk. It may go on at any time, and would reuse memory without asking us, for no
 * broker has given us a slot. So its arena is not read, but copied:
 *
 *	C1  as O1 and O2 of an orphan (orphan.h), but the lock is held, and the header's heartbeat is old
 *	C2  header.epoch, header.root (acquire each), the epoch of the root there, committed_bytes
 *	C3  copy the file's bytes up to committed_bytes, without its holes, into memory of our own; full fence
 *	C4  the same again, with state and superseded_by: all is what it was, so the copy is good
 *	C5  empty the copy's shortcuts
 *
 * Invariant: what the root reaches stands in the copy as it was published. For nothing that the newest root
 * reaches is written before a newer root is published (PROTOCOLS.md, Pin: W1 comes before W3), and who sees
 * by C3 a byte that came later sees that root at C4. Offsets come back, epochs do not: so they
 * are compared, too (twice, for a writer of layout 1.1 tells none in the header). Shortcuts are the one thing
 *that changes in place, and ahead of its root: a cell may have been copied after the object's bytes were, and
 *lead to what stood there before; empty ones lead nowhere.
 *
 * Cost: as much memory as the arena has, and the time to copy it (2 to 4 s for 1 GiB), with `lock` held.
 */
#ifndef READER_LIB_ATTACH_SILENT_COPY_H
#define READER_LIB_ATTACH_SILENT_COPY_H

#include "reader-lib/attach/mapping.h"

/* No sign of life for so long: a writer's heart beats once a second. */
#define SILENT_NS 3000000000ull
/* More is not copied. */
#define SILENT_COPY_MAX (1024ull << 20)

/*
 * Make the copy. `lock` held.
 *
 * Returns 0, with *ret_mapping for make_current(); -EAGAIN: not now: the writer shows signs of life, or went
 *         away; -ENOENT, -EACCES: there is nothing to copy for us; other codes with a message in the handle
 */
int silent_copy(struct informer *inf, struct mapping **ret_mapping);

#endif
