/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what a writer's code does to the files of one directory, store by store and call by call. A test
 * can then check each moment in between (cut_log.h).
 *
 * While `body` runs, all writable mappings of the directory's files are read-only. A store traps (SIGSEGV),
 * runs with the trap flag set, and traps again (SIGTRAP), where its change is noted. So every instruction
 * that changes a file is one cut. Hooks see changes by system calls: the test's program wraps the calls
 * (-Wl,--wrap).
 *
 * Threads: one. Needs Linux on x86-64.
 */
#ifndef TESTS_SUPPORT_CUT_RECORD_H
#define TESTS_SUPPORT_CUT_RECORD_H

#include "tests/writer/cut/cut_log.h"

/* NULL, or the reason why this machine cannot record, for SKIP. */
const char *cut_impossible(void);

/*
 * Run body(context), and record what it does to the files of the directory, through existing and new
 * mappings. The directory is a path, and has only plain files of at most CUT_FILE_BYTES. Aborts with a
 * message if that is impossible.
 */
struct cut_log *cut_record(const char *directory, void (*body)(void *context), void *context);
/* End the running recording, if any, after a failed test left body. */
void cut_abandon(void);

/* ---- hooks for the wrappers of these calls; without a recording they do nothing ---- */

void cut_mapped(void *map, size_t length, int protection, int flags, int fd); /* after mmap() */
void cut_unmapped(void *map, size_t length);                                  /* before munmap() */
void cut_called(void); /* after other calls that change files: openat(), ftruncate(), unlinkat(), … */
void cut_punched(int fd, uint64_t from, uint64_t length); /* after fallocate() that takes pages */
/* Replaces memcpy() of the bytes that a call reads. True if it copied, page by page. */
bool cut_copies(void *to, const void *from, size_t length);

#endif
