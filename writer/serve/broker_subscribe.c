/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the packets of an attached client: which queues it wants. A client is dropped when it sends a
 * packet that is no message of an attached client, or does not take the answers.
 *
 * A queue ends with its reader, by UNSUBSCRIBE, or when its number is subscribed again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/log.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/consumers.h"
#include "writer/serve/fan_out.h"

#define BEHIND_LINE_MS 60000u

/* Entries of all queues of one reader. Beyond this a queue gets QUEUE_ENTRIES_MIN. */
#define ENTRIES_MAX ((uint64_t)SLOT_QUEUES * QUEUE_ENTRIES_DEFAULT)

static void
send_unsubscribed(struct client *c, uint32_t number, enum refusal code, const char *text)
{
	size_t length = strlen(text);
	struct message_unsubscribed message = {
		.number = number, .code = code, .text_length = (uint32_t)length};
	struct iovec io[2] = {{&message, sizeof(message)}, {(void *)(uintptr_t)text, length}};
	struct msghdr packet = {.msg_iov = io, .msg_iovlen = 2};

	message_head_init(&message.head, MESSAGE_UNSUBSCRIBED, sizeof(message) + length);
	if (sendmsg(c->fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		client_hang_up_for(c, "it does not take what it is sent");
}

static void
on_due(void *context)
{
	struct client *c = context;

	c->broker->wake.queue_due[c->sleeper] = true;
}

/* Log that a queue of the reader overflowed: at most once a minute, so that no reader fills the log. */
static void
on_overflow(void *context, const struct subscriber *s)
{
	struct client *c = context;
	uint64_t now = uv_now(c->broker->loop);

	if (c->behind_said_ms && now - c->behind_said_ms < BEHIND_LINE_MS)
		return;
	for (unsigned i = 0; c->queues && i < SLOT_QUEUES; i++) {
		if (c->queues[i].subscriber != s)
			continue;
		c->behind_said_ms = now;
		log_info("%s: handler %s of %s (pid %ld, uid %lu) does not keep up: its queue overflowed, it "
			 "is "
			 "told newest states when it looks",
			 subscriber_resource_name(s), c->queues[i].name, c->name, (long)c->peer.pid,
			 (unsigned long)c->peer.uid);
	}
}

/* Why the queue is refused. code 0: it is not. */
struct refused {
	enum refusal code;
	char text[300];
};

static void
refuse(struct refused *refused, enum refusal code, const char *text)
{
	refused->code = code;
	snprintf(refused->text, sizeof(refused->text), "%s", text);
}

static bool
is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < 0x21 || text[i] > 0x7e)
			return false;
	return true;
}

/* How many of the wanted entries the reader may have. 0, wanted or returned: the configured default. */
static uint32_t
entries_left(const struct client *c, uint32_t wanted)
{
	uint64_t used = 0, left;

	for (unsigned i = 0; i < SLOT_QUEUES; i++)
		used += c->queues[i].entries;
	left = used < ENTRIES_MAX ? ENTRIES_MAX - used : 0;
	if (left < QUEUE_ENTRIES_MIN)
		left = QUEUE_ENTRIES_MIN;
	if (!wanted && left >= QUEUE_ENTRIES_DEFAULT)
		return 0;
	return wanted && wanted < left ? wanted : (uint32_t)left;
}

/* Take the seat of the named consumer, if there is a name. */
static void
take_seat(struct client *c, struct reader_queue *queue, struct queue_cursor *cursor,
	  struct message_subscribed *answer, struct refused *refused)
{
	int r;

	if (!queue->consumer[0])
		return;
	r = consumers_sit(c->broker->options.source.consumers, c->peer.uid, queue->consumer,
			  strlen(queue->consumer), cursor, &queue->seat, answer->lineage, &answer->seq);
	if (r >= 0)
		answer->has_cursor = (uint32_t)r;
	else if (r == -EBUSY)
		refuse(refused, REFUSED_CONSUMER,
		       "another reader is attached as this consumer; two that shared a cursor would lose "
		       "events");
	else if (r == -EUSERS)
		refuse(refused, REFUSED_FULL,
		       "too many consumers are attached; raise consumers.perUser or consumers.total");
	else
		refuse(refused, REFUSED_FULL, strerror(-r));
}

/* Pass on which resource a reader wants. Text that cannot be a resource's name is ignored. */
static void
want(const struct client *c, const char *resource, size_t size)
{
	const struct broker_options *options = &c->broker->options;
	size_t length = strnlen(resource, size);

	if (options->wanted && length > 0 && is_printable(resource, length))
		options->wanted(options->context, resource, length);
}

/* room_for_queue(). If there is no room, first discard leftovers that were closed meanwhile. */
static uint32_t
find_room(const struct client *c, uint32_t wanted, char *text, size_t size)
{
	uint32_t entries = room_for_queue(c, wanted, text, size);

	if (entries > 0)
		return entries;
	leftovers_look(c->broker, &c->peer.uid);
	leftovers_look(c->broker, NULL);
	return room_for_queue(c, wanted, text, size);
}

static void
make_queue(struct client *c, const struct message_subscribe *wish, struct message_subscribed *answer,
	   int *ret_fd, struct refused *refused)
{
	struct reader_queue *queue = &c->queues[wish->number];
	struct slot *page = pins_page(client_pins(c), c->slot);
	struct queue_cursor *cursor = &page->queues[wish->number];
	struct subscriber_options options = {
		.resource = wish->resource,
		.resource_length = strnlen(wish->resource, sizeof(wish->resource)),
		.ns = wish->namespace_,
		.ns_length = strnlen(wish->namespace_, sizeof(wish->namespace_)),
		.entries = entries_left(c, wish->entries),
		.cursor = cursor,
		.on_due = on_due,
		.on_overflow = on_overflow,
		.context = c,
	};
	struct fan_out *fan_out = c->broker->options.source.fan_out;
	char text[sizeof(refused->text)];
	int r;

	snprintf(queue->consumer, sizeof(queue->consumer), "%.*s", (int)CONSUMER_NAME_MAX, wish->consumer);
	if (options.resource_length == 0 || !is_printable(options.resource, options.resource_length) ||
	    !is_printable(options.ns, options.ns_length) ||
	    !is_printable(queue->consumer, strlen(queue->consumer))) {
		refuse(refused, REFUSED_PROTOCOL,
		       "a resource has a name, and names of resources, namespaces and consumers have no "
		       "blanks and no control characters");
		return;
	}
	options.entries = find_room(c, fan_out_entries(fan_out, options.entries), text, sizeof(text));
	if (options.entries == 0) {
		c->broker->stats.queues_refused++;
		refuse(refused, REFUSED_FULL, text);
		return;
	}
	atomic_store_explicit(&cursor->consumed, 0, memory_order_relaxed);
	atomic_store_explicit(&cursor->acknowledged, 0, memory_order_relaxed);
	take_seat(c, queue, cursor, answer, refused);
	if (refused->code)
		return;
	r = fan_out_subscribe(fan_out, &options, &queue->subscriber, &answer->base, ret_fd);
	if (r < 0) {
		snprintf(text, sizeof(text), "no queue can be made: %s", strerror(-r));
		refuse(refused, REFUSED_FULL, text);
		return;
	}
	queue->entries = answer->entries = options.entries;
	queue->fd = file_open_again(*ret_fd, O_RDONLY);
	c->queue_bytes += room_queue_cost(queue->entries);
	c->queue_count++;
	name_take(queue->name,
		  wish->name[0]        ? wish->name
		  : queue->consumer[0] ? queue->consumer
				       : c->name,
		  sizeof(queue->name));
	log_debug("%s: handler %s of %s (pid %ld, uid %lu) listens",
		  subscriber_resource_name(queue->subscriber), queue->name, c->name, (long)c->peer.pid,
		  (unsigned long)c->peer.uid);
}

static void
subscribe(struct client *c, const struct message_subscribe *wish)
{
	struct message_subscribed answer = {.number = wish->number};
	struct refused refused = {0};
	struct reader_queue *queue;
	int fd = -1, r;

	if (wish->number >= SLOT_QUEUES) {
		send_unsubscribed(c, wish->number, REFUSED_PROTOCOL, "there is no queue of that number");
		return;
	}
	if (!c->queues)
		c->queues = calloc(SLOT_QUEUES, sizeof(c->queues[0]));
	if (!c->queues) {
		send_unsubscribed(c, wish->number, REFUSED_FULL, strerror(ENOMEM));
		return;
	}
	queue = &c->queues[wish->number];
	client_unsubscribe(c, queue, true);
	make_queue(c, wish, &answer, &fd, &refused);
	if (refused.code) {
		consumers_leave(queue->seat);
		memset(queue, 0, sizeof(*queue));
		send_unsubscribed(c, wish->number, refused.code, refused.text);
		return;
	}
	message_head_init(&answer.head, MESSAGE_SUBSCRIBED, sizeof(answer));
	want(c, wish->resource, sizeof(wish->resource));
	r = client_send_fds(c, &answer, sizeof(answer), &fd, 1);
	close(fd);
	if (r < 0)
		client_hang_up_for(c, "it does not take what it is sent");
}

void
client_speaks(struct client *c, const struct message_head *head, size_t length)
{
	bool is_ours = length >= sizeof(*head) && head->magic == PROTOCOL_MAGIC &&
		       head->version == PROTOCOL_VERSION && head->length == length;

	if (is_ours && head->type == MESSAGE_SUBSCRIBE && length == sizeof(struct message_subscribe)) {
		subscribe(c, (const struct message_subscribe *)(const void *)head);
	} else if (is_ours && head->type == MESSAGE_WANT && length == sizeof(struct message_want)) {
		const struct message_want *wish = (const struct message_want *)(const void *)head;

		want(c, wish->resource, sizeof(wish->resource));
	} else if (is_ours && head->type == MESSAGE_UNSUBSCRIBE &&
		   length == sizeof(struct message_unsubscribe)) {
		uint32_t number = ((const struct message_unsubscribe *)(const void *)head)->number;

		if (c->queues && number < SLOT_QUEUES)
			client_unsubscribe(c, &c->queues[number], true);
	} else {
		client_hang_up_for(c, "it says what no attached reader has to say");
	}
}
