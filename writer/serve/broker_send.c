/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends packets to a client. Nothing is buffered: if the client does not take a packet, the caller gets
 * -EAGAIN.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "writer/serve/broker_internal.h"

void
message_head_init(struct message_head *head, enum message_type type, size_t length)
{
	*head = (struct message_head){.magic = PROTOCOL_MAGIC,
				      .version = PROTOCOL_VERSION,
				      .type = (uint16_t)type,
				      .length = (uint32_t)length};
}

void
send_refusal(int fd, enum refusal code, const char *text)
{
	size_t length = strlen(text);
	struct message_refused message = {.code = code, .text_length = (uint32_t)length};
	struct iovec io[2] = {{&message, sizeof(message)}, {(void *)(uintptr_t)text, length}};
	struct msghdr packet = {.msg_iov = io, .msg_iovlen = 2};

	message_head_init(&message.head, MESSAGE_REFUSED, sizeof(message) + length);
	sendmsg(fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
name_take(char *ret_name, const char *given, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && given[i]; i++)
		ret_name[i] = (char)(given[i] < 0x20 || given[i] > 0x7e ? '?' : given[i]);
	ret_name[i] = '\0';
}

int
client_send_fds(struct client *c, const void *message, size_t length, const int *fds, size_t count)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * PROTOCOL_DESCRIPTORS)];
	} control = {0};
	struct iovec io = {(void *)(uintptr_t)message, length};
	struct msghdr packet = {.msg_iov = &io,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = CMSG_SPACE(count * sizeof(int))};

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	return sendmsg(c->fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void
connection_refuse(int fd, enum refusal code, const char *text)
{
	send_refusal(fd, code, text);
	/*
	 * Discard what the peer sent. If any of it were unread at close(), the peer would see a reset before
	 * it reads the refusal. The socket's buffer bounds the loop: after the shutdown nothing more arrives.
	 */
	shutdown(fd, SHUT_RD);
	while (recv(fd, NULL, 0, MSG_DONTWAIT | MSG_TRUNC) > 0)
		;
}
