/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between readers and informerd's broker, over a Unix socket (SOCK_SEQPACKET, one message a packet).
 *
 *   reader → broker   HELLO         layout versions, flags, the reader's name for `informerctl stat`
 *   broker → reader   WELCOME       the generation; carries by SCM_RIGHTS, in this order: arena (O_RDONLY),
 *                                   slot (read-write), eventfd
 *                     REFUSED       code and sentence. May come before HELLO, to a user that may not attach;
 *                                   then the reader's own send may fail with EPIPE. May also come to an
 *                                   attached reader that is revoked, or whose wake-ups cost too much. The
 *                                   broker then closes the connection
 *   reader → broker   SUBSCRIBE     once attached: fill a queue with the changes of a resource (queue.h). Its
 *                                   number names the queue from then on. The broker first unsubscribes a
 *                                   queue that has this number
 *   broker → reader   SUBSCRIBED    the seq from which the queue is complete; carries the queue (read-only)
 *                     UNSUBSCRIBED  SUBSCRIBE was refused: code and sentence
 *   reader → broker   UNSUBSCRIBE   the reader no longer reads this queue; no answer
 *   reader → broker   WANT          once attached: the reader uses this resource. If the resource is on
 *                                   demand, informerd caches it from now on, as after SUBSCRIBE; no answer
 *   reader → broker   STAT          asks for a report; needs no slot
 *   broker → reader   REPORT        the report: one JSON document, in as many packets as head.more says
 *
 * The broker takes no descriptors, so no client can fill its descriptor table. Where the kernel has
 * SO_PASSRIGHTS, sending a descriptor fails with EPERM; else the broker's receive drops it.
 *
 * Either side ends the connection by closing it. All fields are input: sizes are checked, strings are
 * length-delimited and end within the packet.
 */
#ifndef SHM_LAYOUT_PROTOCOL_H
#define SHM_LAYOUT_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/consumer.h"

#define PROTOCOL_MAGIC 0x31464e49u /* "INF1" */
#define PROTOCOL_VERSION 1
#define PROTOCOL_PACKET_MAX 65536u
#define PROTOCOL_DESCRIPTORS 3

/* All messages: NAME, number. LAYOUT.md has the same list (layout_page_test.c). */
#define MESSAGES(X)                                                                                          \
	X(HELLO, 1)                                                                                          \
	X(WELCOME, 2)                                                                                        \
	X(REFUSED, 3)                                                                                        \
	X(STAT, 4)                                                                                           \
	X(REPORT, 5)                                                                                         \
	X(SUBSCRIBE, 6)                                                                                      \
	X(SUBSCRIBED, 7)                                                                                     \
	X(UNSUBSCRIBED, 8)                                                                                   \
	X(UNSUBSCRIBE, 9)                                                                                    \
	X(WANT, 10)

enum message_type {
#define MESSAGE(name, number) MESSAGE_##name = number,
	MESSAGES(MESSAGE)
#undef MESSAGE
};

struct message_head {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t length;	/* of the whole packet */
	uint32_t more;		/* REPORT: 1 if another packet follows; else 0 */
};

#define HELLO_WANT_KEYS 1u	/* send the content and block keys: this reader verifies tags */

struct message_hello {
	struct message_head head;
	uint16_t layout_major;
	uint16_t layout_minor;
	uint32_t flags;
	char reader_name[64];	/* for display; need not be terminated */
};

struct message_welcome {
	struct message_head head;
	uint64_t generation;
	uint32_t slot_bytes;
	uint32_t has_keys;
	uint8_t keys[32];	/* struct tag_keys, when has_keys */
};

/* Reasons to refuse: NAME, number. LAYOUT.md says what each means. */
#define REFUSALS(X)                                                                                          \
	X(PERMISSION, 1)                                                                                     \
	X(FULL, 2)                                                                                           \
	X(LAYOUT, 3)                                                                                         \
	X(PROTOCOL, 4)                                                                                       \
	X(BUSY, 5)                                                                                           \
	X(CONSUMER, 6)

enum refusal {
#define REFUSAL(name, number) REFUSED_##name = number,
	REFUSALS(REFUSAL)
#undef REFUSAL
};

struct message_refused {
	struct message_head head;
	uint32_t code;
	uint32_t text_length;
	char text[];
};

/*
 * number       number of the queue in this reader's slot, 0 .. SLOT_QUEUES - 1. The broker sets the queue's
 *              cursor in the slot to 0 before it answers
 * entries      wanted capacity; 0: the default. Rounded up to a power of two, and limited by the daemon's
 *              configuration
 * resource     "pods", "deployments.apps": plural name, and the group if there is one; not terminated when it
 *              fills the field. The daemon need not cache the resource yet. If several namespaces of it are
 *              cached, the queue has all of them
 * namespace_   only this namespace; empty: all
 * consumer     named consumer whose cursor informerd keeps; empty: none
 * name         name of the queue in reports, logs and metrics: any bytes, need not be terminated. Empty: the
 *              consumer's name, else the reader's
 *
 * All names but `name` are printable ASCII without blanks. The queues of one reader share SLOT_QUEUES *
 * QUEUE_ENTRIES_DEFAULT entries. A later queue gets the rest, at least QUEUE_ENTRIES_MIN. When memory is
 * scarce, a queue gets fewer entries than it asks for, or is refused (FULL).
 */
struct message_subscribe {
	struct message_head head;
	uint32_t number;
	uint32_t entries;
	char resource[320];
	char namespace_[256];
	char consumer[CONSUMER_NAME_MAX + 1];
	char name[CONSUMER_NAME_MAX + 1];
};

/*
 * Answers SUBSCRIBE.
 *
 * base         the queue has each change with a greater seq
 * has_cursor   1: the named consumer acknowledged all changes of `lineage` up to `seq`; 0: the name is
 *              unknown
 */
struct message_subscribed {
	struct message_head head;
	uint32_t number;
	uint32_t entries;
	uint64_t base;
	uint8_t lineage[16];
	uint64_t seq;
	uint32_t has_cursor;
	uint32_t reserved;
};

/* Answers SUBSCRIBE: why there is no queue. */
struct message_unsubscribed {
	struct message_head head;
	uint32_t number;
	uint32_t code;		/* enum refusal */
	uint32_t text_length;
	char text[];
};

/* resource as in SUBSCRIBE. */
struct message_want {
	struct message_head head;
	char resource[320];
};

struct message_unsubscribe {
	struct message_head head;
	uint32_t number;
	uint32_t reserved;
};

#endif
