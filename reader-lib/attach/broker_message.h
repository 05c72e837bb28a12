/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets to and from the broker (shm-layout/protocol.h): heads, and what a refusal says.
 */
#ifndef READER_LIB_ATTACH_BROKER_MESSAGE_H
#define READER_LIB_ATTACH_BROKER_MESSAGE_H

#include "reader-lib/attach/handle.h"
#include "shm-layout/protocol.h"

/* Check the head of a packet. Returns whether it is one of ours with its true length. */
bool message_ok(const void *packet, size_t length, size_t min_length);
void message_begin(struct message_head *head, uint16_t type, uint32_t length);
/* Why the daemon refused, in its words, fit to be shown: cut to size, without control characters. */
void message_text(const char *text, size_t length, char *ret_clean, size_t size);
/* The sentence of a REFUSED packet as this handle's error. */
int message_refusal(const void *packet, size_t length);

#endif
