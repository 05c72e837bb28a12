/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What reader and broker say to each other over the Unix socket (SOCK_SEQPACKET, one message a packet).
 *
 *   reader → broker   HELLO         versions, the kind of attach, the reader's name for `informerctl stat`
 *   broker → reader   WELCOME       generation; carries with SCM_RIGHTS, in this order: arena (O_RDONLY),
 *                                   slot (read-write), eventfd
 *                     REFUSED       code and a sentence; also before anything was said, to who may not attach
 *                                   (then the reader's own packet may meet the hang-up, EPIPE); and to a
 *                                   reader that is attached: it was revoked, and is hung up on
 *   reader → broker   SUBSCRIBE     once attached: fill a queue with the changes of a resource (queue.h). Its
 *                                   number names it from then on; one that is in use is unsubscribed first
 *   broker → reader   SUBSCRIBED    from which seq on; carries the queue (read-only)
 *                     UNSUBSCRIBED  code and a sentence: it was refused
 *   reader → broker   UNSUBSCRIBE   the queue with this number is no longer read; no answer
 *   reader → broker   WANT          once attached: it looks at this resource; one that is cached on demand
 *                                   is cached from now on. No answer. SUBSCRIBE says the same
 *   reader → broker   STAT          a question; no slot is needed
 *   broker → reader   REPORT        its answer: one JSON document, in as many packets as it takes; `more`
 *                                   tells
 *
 * The broker takes no descriptors (SO_PASSRIGHTS where the kernel has it: who sends some gets EPERM; else
 * they are dropped), so nobody can make it pile them up. Either side ends by closing. All fields are input:
 * sizes are checked, strings are length-delimited and end within the packet.
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
	uint32_t more;		/* REPORT: 1 when another packet follows; else 0 */
};

#define HELLO_WANT_KEYS 1u	/* send the block keys: this reader verifies */

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

/* Why something was refused: NAME, number. LAYOUT.md says what each means. */
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
 * number       0 .. SLOT_QUEUES - 1: of this reader's queues; its cursor in the slot is set to 0 by the
 *              broker before it answers
 * entries      wanted capacity; 0: the default. Rounded up to a power of two, and capped by the daemon's
 *              configuration
 * resource     "pods", "deployments.apps": plural name, and group when there is one; not terminated when it
 *              fills the field. One that the daemon does not cache is no error: it may come. Several entries
 *              of one resource count as one
 * namespace_   only this namespace; empty: all
 * consumer     named consumer whose cursor is kept; empty: none
 * name         what reports, logs and metrics call it: any bytes, need not be terminated. Empty: the
 *              consumer's name, else the reader's
 *
 * The other names are printable ASCII without blanks. The queues of one reader have SLOT_QUEUES *
 * QUEUE_ENTRIES_DEFAULT entries in all; those that come last get what is left, QUEUE_ENTRIES_MIN at least.
 * Where memory is scarce a queue gets fewer than were asked for, or is refused (FULL).
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
 * base         the queue holds every change with a greater seq
 * has_cursor   lineage and seq are where the consumer of that name had got to; 0: nobody of that name is
 *              known
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

/* In answer to SUBSCRIBE: why not. */
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
