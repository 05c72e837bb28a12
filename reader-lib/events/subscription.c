/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the daemon for queues and takes its answers, with `lock` held. A feed fetches its ring in its turn.
 */
#include "reader-lib/events/subscription.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/attach/broker_message.h"
#include "reader-lib/read/resource_open.h"
#include "shm-layout/time_ns.h"

#define REFUSED_NS 1000000000ull
#define BLOCKED_NS 10000000ull

int
subscription_add(struct informer *inf, struct subscription *sub)
{
	uint64_t taken = 0;
	unsigned number;

	_Static_assert(SLOT_QUEUES <= 64, "numbers fit a word");
	for (struct subscription *other = inf->subscriptions->first; other; other = other->next)
		taken |= 1ull << other->number;
	for (number = 0; number < SLOT_QUEUES; number++)
		if (!(taken >> number & 1) && inf->subscriptions->unanswered[number] == 0)
			break;
	if (number == SLOT_QUEUES)
		return -EUSERS;
	sub->number = number;
	sub->state = SUBSCRIPTION_WANTED;
	sub->next = inf->subscriptions->first;
	inf->subscriptions->first = sub;
	return 0;
}

void
subscription_remove(struct informer *inf, struct subscription *sub)
{
	struct message_unsubscribe bye = {.number = sub->number};
	struct subscription **at = &inf->subscriptions->first;

	while (*at && *at != sub)
		at = &(*at)->next;
	if (*at)
		*at = sub->next;
	/*
	 * If the packet cannot be sent, nobody reads the queue: it overflows, and ends with the connection or
	 * the number's next use.
	 */
	if (sub->state != SUBSCRIPTION_WANTED && inf->connection == CONNECTION_UP) {
		message_begin(&bye.head, MESSAGE_UNSUBSCRIBE, sizeof(bye));
		send(inf->socket, &bye, sizeof(bye), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
	ring_free(subscription_take(sub), false);
}

void
subscription_renew(struct informer *inf, struct subscription *sub, uint64_t delay_ns)
{
	sub->state = SUBSCRIPTION_WANTED;
	sub->retry_ns = time_ns(CLOCK_MONOTONIC) + delay_ns;
	connection_timer(inf, sub->retry_ns);
	ring_free(subscription_take(sub), false);
}

/* The daemon's name of the resource. False: it is not cached, or there is nothing to read yet. */
static bool
canonical_name(struct informer *inf, struct subscription *sub, char *name, size_t size)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	struct informer_snapshot snap = {0};
	const struct snapshot *s = snapshot_of(&snap);
	const struct resource_binding *b;
	bool is = false;

	if (!m || snapshot_begin_on(inf, m, &snap) < 0)
		return false;
	if (resource_bind(s, sub->resource, &b) == 0) {
		const struct resource *r = part_resource(s, &b->parts[0]);
		struct value d = r ? value_of_block(&s->view, r->descriptor) : (struct value){0};

		is = descriptor_canonical_name(d, name, size) && snapshot_validate(s, 0) == 0;
	}
	informer_end(&snap);
	return is;
}

/* Send SUBSCRIBE. Returns whether the resource is missing. */
static bool
ask(struct informer *inf, struct subscription *sub)
{
	struct message_subscribe message = {.number = sub->number, .entries = sub->entries};

	_Static_assert(sizeof(message.namespace_) == sizeof(sub->ns) &&
			       sizeof(message.consumer) == sizeof(sub->consumer),
		       "protocol: names");
	if (!canonical_name(inf, sub, message.resource, sizeof(message.resource)))
		return true;
	message_begin(&message.head, MESSAGE_SUBSCRIBE, sizeof(message));
	memcpy(message.namespace_, sub->ns, sizeof(message.namespace_));
	memcpy(message.consumer, sub->consumer, sizeof(message.consumer));
	memcpy(message.name, sub->name, sizeof(message.name));
	if (send(inf->socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* The socket is full for a moment, or gone: then the next receive reports it. */
		sub->retry_ns = time_ns(CLOCK_MONOTONIC) + BLOCKED_NS;
		connection_timer(inf, sub->retry_ns);
		return false;
	}
	sub->state = SUBSCRIPTION_ASKED;
	inf->subscriptions->unanswered[sub->number]++;
	return false;
}

void
subscriptions_step(struct informer *inf)
{
	struct subscription *sub = inf->connection == CONNECTION_UP ? inf->subscriptions->first : NULL;
	uint64_t now = 0;
	bool waits = false;

	for (; sub; sub = sub->next) {
		if (sub->state != SUBSCRIPTION_WANTED)
			continue;
		if (sub->retry_ns) {
			now = now ? now : time_ns(CLOCK_MONOTONIC);
			if (now < sub->retry_ns) {
				connection_timer(inf, sub->retry_ns);
				continue;
			}
			sub->retry_ns = 0;
		}
		waits |= ask(inf, sub);
	}
	atomic_store_explicit(&inf->subscriptions->waits, waits, memory_order_relaxed);
}

void
subscriptions_lost(struct informer *inf)
{
	memset(inf->subscriptions->unanswered, 0, sizeof(inf->subscriptions->unanswered));
	for (struct subscription *sub = inf->subscriptions->first; sub; sub = sub->next) {
		sub->state = SUBSCRIPTION_WANTED;
		sub->retry_ns = 0;
	}
}

void
subscriptions_begin_anew(struct informer *inf)
{
	for (struct subscription *sub = inf->subscriptions->first; sub; sub = sub->next) {
		sub->retry_ns = 0;
		/* A ring of the arena before was never fetched: a ring of this arena replaces it. */
		ring_free(subscription_take(sub), false);
	}
}

/* Count an answer to a number. Returns its subscription; NULL: another answer follows, or nobody wants it. */
static struct subscription *
answered(struct informer *inf, uint32_t number)
{
	if (number >= SLOT_QUEUES || inf->subscriptions->unanswered[number] == 0)
		return NULL;
	inf->subscriptions->unanswered[number]--;
	for (struct subscription *sub = inf->subscriptions->first; sub; sub = sub->next)
		if (sub->number == number)
			return sub->state == SUBSCRIPTION_ASKED && inf->subscriptions->unanswered[number] == 0
				       ? sub
				       : NULL;
	return NULL;
}

/* fd: the queue; -1: it came, but this process could not open it */
static void
receive_ring(struct informer *inf, const struct message_subscribed *answer, int fd)
{
	struct subscription *sub = answered(inf, answer->number);
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	char reason[256];
	struct ring *ring = NULL;
	int r;

	if (!sub || !m) {
		if (fd >= 0)
			close(fd);
		return;
	}
	r = fd >= 0 ? ring_new(inf, m, fd, answer, &ring)
		    : error_set(-EMFILE, "cannot take the queue of %s: %s", sub->resource->name,
				errno_text(EMFILE));
	if (r < 0 || !ring) {
		informer_error_text(r, reason, sizeof(reason));
		log_retry(inf, INFORMER_LOG_WARNING, reason);
		subscription_renew(inf, sub, REFUSED_NS);
		return;
	}
	sub->state = SUBSCRIPTION_OPEN;
	log_recovered(inf);
	log_say(inf, INFORMER_LOG_DEBUG, "subscribed to %s: %u entries, from seq %llu on",
		sub->resource->name, ring->capacity, (unsigned long long)answer->base);
	/*
	 * Meets subscription_take() and subscription_has_arrived(): the ring is whole before the feed's
	 * thread finds it. Acquire: a ring that was never fetched is freed here.
	 */
	ring_free(atomic_exchange_explicit(&sub->arrived, ring, memory_order_acq_rel), false);
}

static void
receive_refusal(struct informer *inf, const void *packet, size_t length)
{
	struct message_unsubscribed answer;
	struct subscription *sub;
	const char *text = (const char *)packet + sizeof(answer);
	char clean[200], reason[512];
	size_t n = length - sizeof(answer);

	memcpy(&answer, packet, sizeof(answer));
	sub = answered(inf, answer.number);
	if (!sub)
		return;
	message_text(text, answer.text_length < n ? answer.text_length : n, clean, sizeof(clean));
	error_set(INFORMER_E_REFUSED, "informerd refuses events of %s%s%s: %s; asking again every second",
		  sub->resource->name, sub->consumer[0] ? " to consumer " : "", sub->consumer, clean);
	informer_error_text(INFORMER_E_REFUSED, reason, sizeof(reason));
	log_retry(inf, INFORMER_LOG_WARNING, reason);
	subscription_renew(inf, sub, REFUSED_NS);
}

bool
subscriptions_receive(struct informer *inf, const void *packet, size_t length, const int *fds, unsigned count)
{
	struct message_subscribed answer;
	struct message_head head;

	if (!message_ok(packet, length, sizeof(head)))
		return false;
	memcpy(&head, packet, sizeof(head));
	if (head.type == MESSAGE_SUBSCRIBED && length >= sizeof(answer) && (count == 1 || !fds)) {
		memcpy(&answer, packet, sizeof(answer));
		receive_ring(inf, &answer, fds ? fds[0] : -1);
		return true;
	}
	if (head.type == MESSAGE_UNSUBSCRIBED && length >= sizeof(struct message_unsubscribed) &&
	    count == 0) {
		receive_refusal(inf, packet, length);
		return true;
	}
	return false;
}
