/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what a piece of a writer's code does to the files of one directory, store by store and call by
 * call. A test can then look at each moment between (cut_log.h).
 *
 * While `body` runs, all writable mappings of the directory's files are read-only. A store traps (SIGSEGV),
 * runs with the trap flag set, and traps again after it (SIGTRAP), where its change is noted. So every
 * instruction that changes a file is one cut. Changes by system calls are seen by the hooks below: the
 * test's program wraps the calls (-Wl,--wrap).
 *
 * Threads: one. Needs Linux on x86-64.
 */
#ifndef TESTS_SUPPORT_CUT_RECORD_H
#define TESTS_SUPPORT_CUT_RECORD_H

#include "tests/writer/cut/cut_log.h"

/* NULL, or the reason why nothing can be recorded here, for SKIP. */
const char *cut_impossible(void);

/*
 * Run body(context), and record what it does to the files of this directory, through existing mappings and
 * those that it makes. The directory is a path, and has only plain files of at most CUT_FILE_BYTES. Aborts
 * with a message if that is impossible.
 */
struct cut_log *cut_record(const char *directory, void (*body)(void *context), void *context);
/* After body did not return (a failed test): end the running recording, if any. */
void cut_abandon(void);

/* ---- hooks: the wrappers of these functions call them; without a recording they do nothing ---- */

void cut_mapped(void *map, size_t length, int protection, int flags, int fd); /* behind mmap() */
void cut_unmapped(void *map, size_t length);                                  /* before munmap() */
void cut_called(void); /* behind whatever else changes files: openat(), ftruncate(), unlinkat(), … */
void cut_punched(int fd, uint64_t from, uint64_t length); /* behind fallocate() that takes pages */
/* Instead of memcpy() of what a call reads: true when it has been done, page by page. */
bool cut_copies(void *to, const void *from, size_t length);

#endif
