/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts files of ended readers and queues that some process still has open or mapped. The kernel charges
 * their memory to informerd, so they count for their user like files in use (broker_room.c). Otherwise a user
 * could attach, end and attach again without end, until informerd is killed for lack of memory.
 *
 * A file can be leased for writing only when no other process has it open or mapped. So each reader gets an
 * open file of its own. Locks on a file make the lease slow, so one look takes at most LOOK_NS and one file
 * more.
 *
 * Invariant: a file counts until it is seen to be closed. Where the kernel refuses every lease (a filter), no
 * file counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"

#define LOOK_NS 100000u

int
file_open_again(int fd, int flags)
{
	char path[64];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

/* True if no other process has the file open, or if leases do not work here. */
static bool
is_let_go(int fd)
{
	/* the lease ends with the descriptor */
	return fcntl(fd, F_SETLEASE, F_WRLCK) == 0 || errno != EAGAIN;
}

static void
append(struct leftovers *l, struct leftover_file *file)
{
	file->next = NULL;
	*(l->first ? &l->last->next : &l->first) = file;
	l->last = file;
	l->count++;
}

static struct leftover_file *
take_first(struct leftovers *l)
{
	struct leftover_file *file = l->first;

	l->first = file->next;
	l->count--;
	return file;
}

static void
discard(struct leftover_file *file)
{
	close(file->fd);
	free(file);
}

void
leftovers_add(struct client *c, int fd, struct room_cost cost)
{
	struct broker *b = c->broker;
	struct leftover_file *file;

	if (fd < 0)
		return;
	file = b->closing ? NULL : malloc(sizeof(*file));
	if (!file) {
		close(fd);
		return;
	}
	*file = (struct leftover_file){
		.cost = cost, .uid = c->peer.uid, .privileged = c->privileged, .fd = fd};
	append(&b->leftovers, file);
	broker_look_later(b);
}

bool
leftovers_look(struct broker *b, const uid_t *uid)
{
	struct leftovers *l = &b->leftovers;
	uint64_t until = time_ns(CLOCK_MONOTONIC) + LOOK_NS, left = l->count;
	bool any = false;

	for (; left > 0 && l->first && time_ns(CLOCK_MONOTONIC) <= until; left--) {
		struct leftover_file *file = take_first(l);

		if ((uid && file->uid != *uid) || !is_let_go(file->fd)) {
			append(l, file);
		} else {
			discard(file);
			any = true;
		}
	}
	return any && left > 0;
}

void
leftovers_done(struct broker *b)
{
	while (b->leftovers.first)
		discard(take_first(&b->leftovers));
}
