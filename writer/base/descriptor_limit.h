/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many descriptors the process may have open. The soft limit is for programs that call select(); we do
 * not, and each reader takes five. What we start may: it gets the limit that we were given.
 *
 * Threads: the first call before there are others.
 */
#ifndef WRITER_BASE_DESCRIPTOR_LIMIT_H
#define WRITER_BASE_DESCRIPTOR_LIMIT_H

#include <sys/types.h>

/* Whether so many more can be had at the moment, DESCRIPTORS_ASKED_MAX at most. 0, -EMFILE, -ENFILE. */
#define DESCRIPTORS_ASKED_MAX 32u
int descriptor_limit_ask(unsigned count);
/* To the hard limit. */
void descriptor_limit_raise(void);
/* Give a process that we started what we had before; where it cannot be, it keeps what it inherited. */
void descriptor_limit_give_back(pid_t pid);

#endif
