/*
 * What reader and broker say to each other over the Unix socket (SOCK_SEQPACKET, one message a packet).
 *
 *   reader → broker   HELLO     versions, the kind of attach, the reader's name for `informerctl stat`
 *   broker → reader   WELCOME   generation; carries with SCM_RIGHTS, in this order: arena (O_RDONLY), slot (read-write), eventfd
 *                     REFUSED   code and a sentence
 *   broker → reader   MOVED     a new generation stands ready; carries the same three descriptors as WELCOME
 *   reader → broker   STAT      a question; no slot is needed
 *   broker → reader   REPORT    its answer: one JSON document, in as many packets as it takes; `more` tells
 *
 * The broker receives without a control buffer, so nobody can make it pile up descriptors. Either side ends by closing.
 * All fields are input: sizes are checked, strings are length-delimited and end within the packet.
 */
#ifndef SHM_LAYOUT_PROTOCOL_H
#define SHM_LAYOUT_PROTOCOL_H

#include <stdint.h>

#define PROTOCOL_MAGIC 0x31464e49u /* "INF1" */
#define PROTOCOL_VERSION 1
#define PROTOCOL_PACKET_MAX 65536u
#define PROTOCOL_DESCRIPTORS 3

enum message_type { MESSAGE_HELLO = 1, MESSAGE_WELCOME, MESSAGE_REFUSED, MESSAGE_MOVED, MESSAGE_STAT, MESSAGE_REPORT };

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

enum refusal { REFUSED_PERMISSION = 1, REFUSED_FULL = 2, REFUSED_LAYOUT = 3, REFUSED_PROTOCOL = 4, REFUSED_BUSY = 5 };

struct message_refused {
	struct message_head head;
	uint32_t code;
	uint32_t text_length;
	char text[];
};

#endif
