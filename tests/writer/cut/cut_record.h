/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording what a piece of a writer's code does to the files of one directory, store by store and call by
 * call, so that a test can look at each moment between (cut_log.h).
 *
 * While `body` runs, whatever maps a file of the directory for writing is read-only: a store traps (SIGSEGV),
 * is let through with the trap flag set, and traps again behind it (SIGTRAP), where what it changed is noted.
 * So every instruction that changes a file is one cut, whatever it is. What the kernel does on request, that
 * is calls, comes by the hooks below: the test's program wraps them (-Wl,--wrap).
 *
 * Threads: one. Needs Linux on x86-64.
 */
#ifndef TESTS_SUPPORT_CUT_RECORD_H
#define TESTS_SUPPORT_CUT_RECORD_H

#include "tests/writer/cut/cut_log.h"

/* NULL; or why nothing can be recorded here, in words for SKIP. */
const char *cut_impossible(void);

/*
 * Run body(context), and write down what it does to the files of this directory (a path; plain files of
 * CUT_FILE_BYTES at most), by mappings that exist already and by those that it makes. Aborts with a message
 * when that cannot be done.
 */
struct cut_log *cut_record(const char *directory, void (*body)(void *context), void *context);
/* When body did not return (a test that failed): end the recording that is under way, if any. */
void cut_abandon(void);

/* ---- hooks: to be called by what wraps the functions of these names; without a recording they do nothing
 * ---- */

void cut_mapped(void *map, size_t length, int protection, int flags, int fd); /* behind mmap() */
void cut_unmapped(void *map, size_t length);                                  /* before munmap() */
void cut_called(void); /* behind whatever else changes files: openat(), ftruncate(), unlinkat(), … */
void cut_punched(int fd, uint64_t from, uint64_t length); /* behind fallocate() that takes pages */
/* Instead of memcpy() of what a call reads: true when it has been done, page by page. */
bool cut_copies(void *to, const void *from, size_t length);

#endif
