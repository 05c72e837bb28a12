/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and checks the heads of packets, and reads refusals.
 */
#include "reader-lib/attach/broker_message.h"

#include <stdio.h>
#include <string.h>

bool
message_ok(const void *packet, size_t length, size_t min_length)
{
	struct message_head head;

	if (length < sizeof(head) || length < min_length)
		return false;
	memcpy(&head, packet, sizeof(head));
	return head.magic == PROTOCOL_MAGIC && head.version == PROTOCOL_VERSION && head.length == length;
}

void
message_begin(struct message_head *head, uint16_t type, uint32_t length)
{
	*head = (struct message_head){
		.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .type = type, .length = length};
}

void
message_text(const char *text, size_t length, char *ret_clean, size_t size)
{
	size_t n = length < size ? length : size - 1;

	for (size_t i = 0; i < n; i++)
		ret_clean[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
	ret_clean[n] = '\0';
	if (n == 0)
		snprintf(ret_clean, size, "(it did not say why)");
}

int
message_refusal(const void *packet, size_t length)
{
	struct message_refused refused;
	const char *text = (const char *)packet + sizeof(refused);
	char clean[256];
	size_t n;

	if (length < sizeof(refused))
		return error_set(-EPROTO, "informerd answered with a packet that makes no sense");
	memcpy(&refused, packet, sizeof(refused));
	n = length - sizeof(refused);
	message_text(text, refused.text_length < n ? refused.text_length : n, clean, sizeof(clean));
	return error_set(refused.code == REFUSED_LAYOUT ? INFORMER_E_LAYOUT
			 : refused.code == REFUSED_BUSY ? INFORMER_E_NOT_READY
							: INFORMER_E_REFUSED,
			 "informerd refused this reader: %s", clean);
}
