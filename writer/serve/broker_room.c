/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides what is limited among users: connections that have not attached, readers, descriptors, and the
 * memory of queues.
 *
 * Invariant: whatever other users do, there is room for root and the daemon's own user, and some for a new
 * user.
 *
 * Readers and queues stay for long. So a part is kept for root and the daemon's own user, and any other user
 * may have at most as much as is still free for others. The first user gets at most half, two users a third
 * each, and some is always left for the next user.
 *
 * Connections that have not attached stay for less than one turn of the loop if they greet at once. So the
 * newest connection is always accepted, and the oldest one of the user with most of them is closed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "shm-layout/page_size.h"
#include "shm-layout/queue.h"
#include "writer/arena/memory_limit.h"
#include "writer/serve/broker_internal.h"

/* Divisor of all room: the part kept for root and the daemon's own user. */
#define KEPT_PART 8u
/* Divisor of the memory still available: the part for queues. The arena and the daemon use the rest. */
#define MEMORY_PART 4u
/* Divisor of what a user may still have: the part for one queue that is larger than the smallest. */
#define QUEUE_PART 4u
/* Descriptors kept for connections to the API server, files, and root's readers. */
#define DESCRIPTORS_KEPT 64u
/*
 * What a queue costs besides its ring: some 3 KiB (broker_room_test.c). Here a subscriber, place, hearer and
 * ring_out; in the kernel a file, its inode, the mapping and its page table.
 */
#define QUEUE_BOOKS 4096u

/* ---- shares ---- */

/* Use of a room: by all users, by all that are not privileged, and by this client's user. */
struct use {
	uint64_t all, others, own;
};

/* How much more this user may take. */
static uint64_t
left_for(uint64_t room, const struct use *use, bool privileged)
{
	uint64_t unused = room > use->all ? room - use->all : 0, kept = (room + KEPT_PART - 1) / KEPT_PART,
		 taken = use->all - use->others;

	if (privileged || room < 2)
		return unused;
	kept = kept > taken ? kept - taken : 0;
	unused = unused > kept ? unused - kept : 0;
	/* afterwards the user has at most as much as is still free */
	return unused > use->own ? (unused - use->own + 1) / 2 : 0;
}

struct uses {
	struct use readers, files, bytes;
};

static void
add_use(struct use *use, uint64_t n, bool privileged, bool own)
{
	use->all += n;
	use->others += privileged ? 0 : n;
	use->own += own ? n : 0;
}

static void
add_uses(struct uses *uses, struct room_cost cost, bool privileged, bool own)
{
	add_use(&uses->readers, cost.readers, privileged, own);
	add_use(&uses->files, cost.files, privileged, own);
	add_use(&uses->bytes, cost.bytes, privileged, own);
}

static struct uses
uses_of(const struct broker *b, uid_t uid)
{
	struct uses uses = {0};

	for (const struct client *c = b->clients; c; c = c->next)
		add_uses(&uses, (struct room_cost){client_has_slot(c), c->queue_count, c->queue_bytes},
			 c->privileged, c->peer.uid == uid);
	for (const struct leftover_file *f = b->leftovers.first; f; f = f->next)
		add_uses(&uses, f->cost, f->privileged, f->uid == uid);
	return uses;
}

/* Text for a user without room: how many leftovers it has open. Empty: none. */
static void
say_leftovers(const struct broker *b, uid_t uid, char *text, size_t size)
{
	unsigned count = 0;

	for (const struct leftover_file *f = b->leftovers.first; f; f = f->next)
		count += f->uid == uid;
	text[0] = '\0';
	if (count > 0)
		snprintf(text, size, "; its processes have %u descriptors of ended ones open", count);
}

/* ---- readers ---- */

bool
room_for_reader(const struct broker *b, const struct client *c, char *text, size_t size)
{
	struct use use = uses_of(b, c->peer.uid).readers;
	char leftovers[80];

	if (left_for(b->options.max_readers, &use, c->privileged) > 0)
		return true;
	say_leftovers(b, c->peer.uid, leftovers, sizeof(leftovers));
	snprintf(text, size,
		 "too many readers: %" PRIu64 " are attached, %" PRIu64
		 " of this user%s; raise access.maxReaders",
		 use.all, use.own, leftovers);
	return false;
}

static uint64_t
descriptors_for_all(rlim_t limit)
{
	return limit - (limit / 4 < DESCRIPTORS_KEPT ? limit / 4 : DESCRIPTORS_KEPT);
}

bool
room_for_descriptor(int fd)
{
	struct rlimit limit;

	/* The kernel gives the lowest free descriptor, so all below fd are in use. */
	return getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd < descriptors_for_all(limit.rlim_cur);
}

/* ---- connections that have not attached ---- */

void
room_enter(struct client *c)
{
	c->broker->pending[c->broker->pending_count++] = c;
}

void
room_leave(struct client *c)
{
	struct broker *b = c->broker;
	unsigned i = 0;

	while (i < b->pending_count && b->pending[i] != c)
		i++;
	if (i == b->pending_count)
		return;
	b->pending_count--;
	memmove(&b->pending[i], &b->pending[i + 1], (b->pending_count - i) * sizeof(struct client *));
}

static bool
stands_in_way(const struct client *c, bool reports)
{
	return !reports || c->state == CLIENT_REPORTING;
}

static unsigned
pending_of(const struct broker *b, uid_t uid, bool reports)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->pending_count; i++)
		n += b->pending[i]->peer.uid == uid && stands_in_way(b->pending[i], reports);
	return n;
}

/* The client that gives way. It is privileged only if there is no other. */
static struct client *
oldest_of_most(const struct broker *b, bool reports)
{
	struct client *found = NULL;
	unsigned most = 0;

	for (unsigned i = 0; i < b->pending_count; i++) {
		struct client *c = b->pending[i];
		unsigned n = pending_of(b, c->peer.uid, reports);

		if (!stands_in_way(c, reports) || (found && !found->privileged && c->privileged))
			continue;
		if (!found || n > most || (found->privileged && !c->privileged)) {
			found = c;
			most = n;
		}
	}
	return found;
}

struct client *
room_pending_in_way(const struct broker *b)
{
	return b->pending_count == BROKER_PENDING_MAX ? oldest_of_most(b, false) : NULL;
}

struct client *
room_report_in_way(const struct broker *b)
{
	unsigned n = 0;

	for (unsigned i = 0; i < b->pending_count; i++)
		n += b->pending[i]->state == CLIENT_REPORTING;
	return n >= BROKER_REPORTS_MAX ? oldest_of_most(b, true) : NULL;
}

/* ---- queues ---- */

/* True if the user may have one more queue's file. Queues may take half of descriptors_for_all(). */
static bool
has_room_for_file(const struct use *files, bool privileged)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	       left_for(descriptors_for_all(limit.rlim_cur) / 2, files, privileged) > 0;
}

uint64_t
room_queue_cost(uint32_t entries)
{
	return page_round_up(queue_bytes(entries)) + QUEUE_BOOKS;
}

uint64_t
room_ended_queue_cost(void)
{
	return page_size() + QUEUE_BOOKS;
}

/* What all queues may cost at the moment, and whether a memory cgroup sets that limit. */
static uint64_t
queue_limit(const struct broker *b, uint64_t used, bool *ret_by_group)
{
	uint64_t left = memory_limit_left(), part = left == UINT64_MAX ? left : (left + used) / MEMORY_PART;

	*ret_by_group = part < b->options.queue_memory;
	return *ret_by_group ? part : b->options.queue_memory;
}

void
room_queue_use(const struct broker *b, uint64_t *ret_bytes, uint64_t *ret_limit)
{
	bool by_group;

	*ret_bytes = uses_of(b, 0).bytes.all;
	*ret_limit = queue_limit(b, *ret_bytes, &by_group);
}

uint32_t
room_for_queue(const struct client *c, uint32_t wanted, char *text, size_t size)
{
	const struct broker *b = c->broker;
	struct uses uses = uses_of(b, c->peer.uid);
	struct use use = uses.bytes;
	bool by_group;
	uint64_t room = queue_limit(b, use.all, &by_group), left = left_for(room, &use, c->privileged);
	char leftovers[80];

	say_leftovers(b, c->peer.uid, leftovers, sizeof(leftovers));
	if (!has_room_for_file(&uses.files, c->privileged)) {
		snprintf(text, size, "too many queues%s: raise informerd's limit of open files", leftovers);
		return 0;
	}
	while (wanted > QUEUE_ENTRIES_MIN && room_queue_cost(wanted) > left / QUEUE_PART)
		wanted /= 2;
	if (room_queue_cost(wanted) <= left)
		return wanted;
	snprintf(text, size,
		 "the memory for queues is used up: %" PRIu64 " of %" PRIu64 " KiB, %" PRIu64
		 " KiB by this user%s; raise %s",
		 use.all >> 10, room >> 10, use.own >> 10, leftovers,
		 by_group ? "the memory limit of informerd's control group" : "events.maxQueueMemory");
	return 0;
}
