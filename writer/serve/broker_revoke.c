/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers that were revoked (store_revoke()): they are told why, hung up on, and their processes are not let
 * in again for a while.
 *
 * A revocation may come amid a change or a commit, when the store is out of memory. So nothing is done here
 * at once that the store would notice: its queues take no more (what is pushed from now on may come to stand
 * where nothing is kept for it), and they end with the next turn of the loop, as the connection does.
 */
#include <stdio.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/fan_out.h"

static bool
is_process(const struct client *c, pid_t pid, uid_t uid)
{
	return pid > 0 && c->peer.pid == pid && c->peer.uid == uid;
}

static struct client *
client_of_slot(struct broker *b, unsigned slot)
{
	struct client *c = b->clients;

	while (c && !(client_has_slot(c) && c->slot == slot))
		c = c->next;
	return c;
}

/* The one that is forgotten first gives way. */
static void
bar(struct broker *b, const struct client *c)
{
	struct barred *first = &b->barred[0];

	for (unsigned i = 1; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].until_ms < first->until_ms)
			first = &b->barred[i];
	*first = (struct barred){c->peer.pid, c->peer.uid, uv_now(b->loop) + b->options.barred_ms};
}

void
broker_revoke(struct broker *b, unsigned slot, const char *why)
{
	struct client *c = client_of_slot(b, slot);
	char text[200];

	if (!c || c->revoked)
		return;
	c->revoked = true;
	b->stats.revoked++;
	bar(b, c);
	log_warning("reader %s (pid %ld, uid %lu) revoked: %s", c->name[0] ? c->name : "without a name",
		    (long)c->peer.pid, (unsigned long)c->peer.uid, why);
	if (c->state != CLIENT_ATTACHED)
		return;
	snprintf(text, sizeof(text), "revoked: %s", why);
	client_send_refusal(c, REFUSED_BUSY, text);
	for (unsigned i = 0; c->queues && i < SLOT_QUEUES; i++)
		if (c->queues[i].subscriber)
			fan_out_mute(c->queues[i].subscriber);
	broker_look_at_clients(b);
}

void
broker_hang_up_revoked(struct broker *b)
{
	struct client *next;

	for (struct client *c = b->clients; c; c = next) {
		next = c->next;
		if (c->revoked && c->state == CLIENT_ATTACHED)
			client_hang_up(c);
	}
}

const char *
client_is_barred(const struct client *c)
{
	const struct broker *b = c->broker;
	uint64_t now = uv_now(b->loop);

	for (const struct client *other = b->clients; other; other = other->next)
		if (other->revoked && is_process(other, c->peer.pid, c->peer.uid))
			return "this process was revoked, and still has the snapshot open that it held for "
			       "too long: it must end it first";
	for (unsigned i = 0; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].until_ms > now && is_process(c, b->barred[i].pid, b->barred[i].uid))
			return "this process was revoked a moment ago, for it held a snapshot for too long: "
			       "it may come again in some seconds";
	return NULL;
}

void
broker_forget_process(struct broker *b, pid_t pid)
{
	for (unsigned i = 0; i < BROKER_BARRED_MAX; i++)
		if (b->barred[i].pid == pid)
			b->barred[i].until_ms = 0;
}
