/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raises the number of descriptors that the process may open. The soft limit protects programs that call
 * select(); informerd does not, and each reader takes five descriptors. Programs that we start may call it,
 * so they get the old limit.
 *
 * Threads: make the first call before threads start.
 */
#ifndef WRITER_BASE_DESCRIPTOR_LIMIT_H
#define WRITER_BASE_DESCRIPTOR_LIMIT_H

#include <sys/types.h>

/*
 * Check that `count` more descriptors can be opened now; at most DESCRIPTORS_ASKED_MAX. 0, -EMFILE, -ENFILE.
 */
#define DESCRIPTORS_ASKED_MAX 32u
int descriptor_limit_ask(unsigned count);
/* Raise the soft limit to the hard limit. */
void descriptor_limit_raise(void);
/* Give a process that we started the old limit; on failure it keeps the raised one. */
void descriptor_limit_give_back(pid_t pid);

#endif
