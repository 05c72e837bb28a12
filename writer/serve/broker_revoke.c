/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends readers that cost the others too much: revoked readers (store_revoke()), and readers whose wake-ups
 * take too long. The reader is told why and hung up on. After a revocation its process is refused for a time.
 * After a refusal for wake-ups the whole user is refused, because another process of that user would cost as
 * much again.
 *
 * This may be called during a change or a commit, when the store is out of memory. So nothing that the store
 * would notice happens at once. The reader's queues are muted now, because nothing is kept for later entries.
 * Queues and connection end in the next turn of the loop.
 */
#include <stdio.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/fan_out.h"

/* A user is barred for REST times as long as its wake-ups took: they take half a percent of the time. */
#define REST 200u
#define ANY_PID (-1)

/* pid 0: a process in a pid namespace that we cannot see. */
static bool
is_process(const struct client *c, pid_t pid)
{
	return pid > 0 && c->peer.pid == pid;
}

static struct client *
client_of_slot(struct broker *b, unsigned slot)
{
	struct client *c = b->clients;

	while (c && !(client_has_slot(c) && c->slot == slot))
		c = c->next;
	return c;
}

/* Bar the client's process, or (ANY_PID) all of its user. A full table loses the entry that ends first. */
static void
bar(const struct client *c, pid_t pid, uint64_t ms, const char *why)
{
	struct broker *b = c->broker;
	struct barred *first = &b->barred[0];

	for (unsigned i = 1; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].until_ms < first->until_ms)
			first = &b->barred[i];
	if (ms < b->options.barred_ms)
		ms = b->options.barred_ms;
	*first = (struct barred){pid, c->peer.uid, uv_now(b->loop) + ms, why};
}

/* Log it, tell the reader, and mute its queues. done: what happened to the reader, as "revoked". */
static void
expel(struct client *c, const char *done, enum refusal code, const char *why)
{
	char text[200];

	log_warning("reader %s (pid %ld, uid %lu) %s: %s", c->name[0] ? c->name : "without a name",
		    (long)c->peer.pid, (unsigned long)c->peer.uid, done, why);
	if (c->state != CLIENT_ATTACHED)
		return;
	snprintf(text, sizeof(text), "%s: %s", done, why);
	send_refusal(c->fd, code, text);
	for (unsigned i = 0; c->queues && i < SLOT_QUEUES; i++)
		if (c->queues[i].subscriber)
			fan_out_mute(c->queues[i].subscriber);
	broker_look_at_clients(c->broker);
}

void
broker_revoke(struct broker *b, unsigned slot, const char *why)
{
	struct client *c = client_of_slot(b, slot);

	if (!c || c->revoked)
		return;
	c->revoked = true;
	b->stats.revoked++;
	bar(c, c->peer.pid, 0,
	    "this process was revoked a moment ago, for it held a snapshot for too long: it may come again "
	    "in some seconds");
	expel(c, "revoked", REFUSED_BUSY, why);
}

void
broker_refuse_wakes(struct client *c, uint64_t cost_ns, const char *why)
{
	c->wakes_refused = true;
	c->broker->stats.wakes_refused++;
	bar(c, ANY_PID, cost_ns * REST / 1000000u,
	    "a reader of this user was refused a moment ago, for waking it took too long: come again in some "
	    "seconds");
	expel(c, "woken no more", REFUSED_FULL, why);
}

void
broker_hang_up_revoked(struct broker *b)
{
	struct client *next;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if ((c->revoked || c->wakes_refused) && c->state == CLIENT_ATTACHED)
			client_hang_up(c);
	}
}

const char *
client_is_barred(const struct client *c)
{
	const struct broker *b = c->broker;
	uint64_t now = uv_now(b->loop);

	for (const struct client *other = b->clients; other; other = other->next)
		if (other->revoked && is_process(other, c->peer.pid))
			return "this process was revoked, and still has the snapshot open that it held for "
			       "too long: it must end it first";
	for (unsigned i = 0; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].until_ms > now && c->peer.uid == b->barred[i].uid &&
		    (b->barred[i].pid == ANY_PID || is_process(c, b->barred[i].pid)))
			return b->barred[i].why;
	return NULL;
}

void
broker_forget_process(struct broker *b, pid_t pid)
{
	for (unsigned i = 0; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].pid == pid && pid > 0)
			b->barred[i].until_ms = 0;
}
