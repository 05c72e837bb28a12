/* SPDX-License-Identifier: Apache-2.0 */
/*
 * successor SOCKET HOW: asks an informerd to hand over, and comes to its end as soon as, HOW:
 *
 *	asked		it has asked
 *	given		the descriptors have come: nothing was said of that yet
 *	taken		it has said so, and adopted nothing
 *	still		the descriptors have been sent: it takes nothing, and waits to be killed
 *
 * Prints what it does, ASKED, SENT, GIVEN, TAKEN, a line each; REFUSED and the code, where it is.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/protocol.h"

static int
say(int fd, uint32_t flags)
{
	struct message_takeover message = {.flags = flags, .version = "9.9.9"};

	/* another protocol's, as that of another release may be */
	message.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION + 1,
					     .type = MESSAGE_TAKEOVER,
					     .length = sizeof(message)};
	return send(fd, &message, sizeof(message), MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* The number of descriptors that came with an answer; -1: there is none. */
static int
hear(int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * TAKEOVER_DESCRIPTORS)];
	} control;
	union {
		struct message_head head;
		struct message_refused refused;
		char bytes[512];
	} packet;
	struct iovec io = {&packet, sizeof(packet)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	if (n < (ssize_t)sizeof(packet.head))
		return -1;
	if (packet.head.type == MESSAGE_REFUSED) {
		printf("REFUSED %u\n", packet.refused.code);
		return -1;
	}
	return c ? (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
}

int
main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (argc != 3 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || say(fd, 0) < 0)
		return 1;
	puts("ASKED");
	if (strcmp(argv[2], "asked") == 0)
		return 0;
	if (strcmp(argv[2], "still") == 0) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		if (poll(&p, 1, -1) != 1)
			return 1;
		puts("SENT");
		for (;;)
			pause();
	}
	if (hear(fd) != TAKEOVER_DESCRIPTORS)
		return 1;
	puts("GIVEN");
	if (strcmp(argv[2], "given") == 0)
		return 0;
	if (say(fd, TAKEOVER_TAKEN) < 0)
		return 1;
	puts("TAKEN");
	return 0;
}
