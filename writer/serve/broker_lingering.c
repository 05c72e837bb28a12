/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lingers: files and eventfds that readers were handed, that have served their purpose, and that
 * somebody has open all the same. The memory that the kernel needs for them is charged to us, so they count
 * for their user as if they were in use (broker_room.c): else who takes them, ends and comes again, without
 * end, would have us killed for want of memory.
 *
 * A file that nobody else has open, or mapped, is one that can be leased for writing; so a reader gets an
 * open file of its own of each. An eventfd cannot be leased; but an epoll instance lists it for as long as
 * anybody has it open. It never wakes us, and is asked before anybody else has the eventfd: so nobody who
 * waits for that makes it dear.
 *
 * Locks on a file make looking at it slow, so one look takes LOOK_NS and one file more at most; what it does
 * not come to goes on to count. Invariant: what is not seen to be closed counts. Where the kernel does not
 * answer (before Linux 5.3, or a filter), that is found out once, and nothing counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"

/* So many are looked at in one go, and those that were not looked at for longest: some 100 µs. */
#define LOOK_AT_ONCE 64u
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

/* The descriptor is the only one left, and the only open file. */
static bool
is_let_go(int fd)
{
	/* it ends with the descriptor */
	return fcntl(fd, F_SETLEASE, F_WRLCK) == 0 || errno != EAGAIN;
}

/* Does the kernel tell of files? A descriptor, and a mapping alone, are seen; and when they are gone. */
static bool
tells_of_files(void)
{
	int fd = memfd_create("informer-probe", MFD_CLOEXEC), other = -1, ours = -1;
	void *page = MAP_FAILED;
	bool tells = false;

	if (fd < 0 || ftruncate(fd, 1) < 0)
		goto out;
	other = file_open_again(fd, O_RDWR);
	ours = file_open_again(fd, O_RDONLY);
	if (other < 0 || ours < 0 || is_let_go(ours))
		goto out;
	page = mmap(NULL, 1, PROT_READ, MAP_SHARED, other, 0);
	close(other);
	other = -1;
	if (page == MAP_FAILED || is_let_go(ours))
		goto out;
	munmap(page, 1);
	page = MAP_FAILED;
	tells = fcntl(ours, F_SETLEASE, F_WRLCK) == 0;
out:
	if (page != MAP_FAILED)
		munmap(page, 1);
	if (other >= 0)
		close(other);
	if (ours >= 0)
		close(ours);
	if (fd >= 0)
		close(fd);
	return tells;
}

/* ---- those that linger ---- */

static void
append(struct lingering *l, struct lingering_item *item)
{
	item->next = NULL;
	if (l->last)
		l->last->next = item;
	else
		l->first = item;
	l->last = item;
	l->count++;
}

static void
discard(struct lingering_item *item)
{
	if (item->fd >= 0)
		close(item->fd);
	free(item);
}

static void
begin_to_count(struct client *c, struct lingering_item item)
{
	struct broker *b = c->broker;
	struct lingering_item *new = b->closing ? NULL : malloc(sizeof(*new));

	if (!new) {
		if (item.fd >= 0)
			close(item.fd);
		return;
	}
	*new = item;
	new->uid = c->peer.uid;
	new->privileged = c->privileged;
	append(&b->lingering, new);
	broker_look_later(b);
}

void
lingering_add_file(struct client *c, int fd, struct lingering_cost cost)
{
	if (fd >= 0)
		begin_to_count(c, (struct lingering_item){.cost = cost, .fd = fd});
}

void
lingering_add_eventfd(struct client *c, uint64_t number, struct lingering_cost cost)
{
	if (number)
		begin_to_count(c, (struct lingering_item){.cost = cost, .fd = -1, .number = number});
}

/* Take out those that are looked at next, of one user or of all. */
static size_t
take_next(struct broker *b, const uid_t *uid, struct lingering_item **ret_items)
{
	struct lingering *l = &b->lingering;
	struct lingering_item **at = &l->first, *last = NULL;
	size_t count = 0;

	while (*at) {
		struct lingering_item *item = *at;

		if (count < LOOK_AT_ONCE && (!uid || item->uid == *uid)) {
			*at = item->next;
			ret_items[count++] = item;
			l->count--;
		} else {
			last = item;
			at = &item->next;
		}
	}
	l->last = last;
	return count;
}

/* Which of these eventfds are open? All, when the kernel does not say. */
static void
look_at_eventfds(int epoll, struct lingering_item *const *items, size_t count)
{
	char path[64], line[200];
	FILE *list;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", epoll);
	list = fopen(path, "re");
	if (!list)
		return;
	for (size_t i = 0; i < count; i++)
		items[i]->open &= items[i]->fd >= 0;
	while (fgets(line, sizeof(line), list)) {
		const char *data = strncmp(line, "tfd:", 4) == 0 ? strstr(line, "data:") : NULL;
		uint64_t number = data ? strtoull(data + strlen("data:"), NULL, 16) : 0;

		for (size_t i = 0; number && i < count; i++)
			items[i]->open |= items[i]->fd < 0 && items[i]->number == number;
	}
	fclose(list);
}

bool
lingering_look(struct broker *b, const uid_t *uid)
{
	struct lingering_item *items[LOOK_AT_ONCE];
	size_t count = take_next(b, uid, items), closed = 0;
	uint64_t until = time_ns(CLOCK_MONOTONIC) + LOOK_NS;
	bool eventfds = false;

	for (size_t i = 0; i < count; i++) {
		items[i]->open = items[i]->fd < 0 || time_ns(CLOCK_MONOTONIC) > until ||
				 !is_let_go(items[i]->fd);
		eventfds |= items[i]->fd < 0;
	}
	if (eventfds)
		look_at_eventfds(b->lingering.epoll, items, count);
	for (size_t i = 0; i < count; i++) {
		closed += !items[i]->open;
		if (items[i]->open)
			append(&b->lingering, items[i]);
		else
			discard(items[i]);
	}
	return closed == LOOK_AT_ONCE;
}

/* ---- life ---- */

uint64_t
lingering_watch(struct broker *b, int eventfd)
{
	struct epoll_event event = {.events = EPOLLONESHOT, .data.u64 = b->lingering.numbers + 1};

	if (b->lingering.epoll < 0 || epoll_ctl(b->lingering.epoll, EPOLL_CTL_ADD, eventfd, &event) < 0)
		return 0;
	return ++b->lingering.numbers;
}

/* Does the kernel tell of eventfds? */
static bool
tells_of_eventfds(struct broker *b)
{
	struct lingering_item item = {.fd = -1, .open = true}, *items = &item;
	int fd = eventfd(0, EFD_CLOEXEC);
	bool tells;

	if (fd < 0)
		return false;
	item.number = lingering_watch(b, fd);
	look_at_eventfds(b->lingering.epoll, &items, 1);
	tells = item.number && item.open;
	close(fd);
	look_at_eventfds(b->lingering.epoll, &items, 1);
	return tells && !item.open;
}

void
lingering_init(struct broker *b)
{
	struct lingering *l = &b->lingering;

	l->files = tells_of_files();
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll >= 0 && !tells_of_eventfds(b)) {
		close(l->epoll);
		l->epoll = -1;
	}
	if (!l->files || l->epoll < 0)
		log_info("the kernel does not say what readers keep open after their end: it counts for "
			 "nobody");
}

void
lingering_done(struct broker *b)
{
	struct lingering *l = &b->lingering;

	while (l->first) {
		struct lingering_item *item = l->first;

		l->first = item->next;
		discard(item);
	}
	if (l->epoll >= 0)
		close(l->epoll);
}
