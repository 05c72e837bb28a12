/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_holder SOCKET HOW: holds the lock of a socket, as an informerd does, until it is killed, and meets who
 * comes as one in trouble does. Prints READY, then LEFT for each connection that ended, HOW:
 *
 *	closed	nobody can connect: it ends in good order, or has only begun
 *	silent	connections are made, and nothing is answered: it is stopped
 *	old	each packet is refused, as by a release that knows no TAKEOVER
 *	dies	answers who asks, and dies when it is to hand over
 *	gone	hands over, and dies at once
 *	wrong	hands over something else than lock and listener
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/protocol.h"
#include "writer/daemon/lock.h"

static struct lock lock;
static int listener = -1;

static int
listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 16) < 0)
		return -1;
	return fd;
}

static void
refuse(int peer)
{
	static const char text[] = "no such message";
	size_t length = sizeof(text) - 1;
	struct message_refused message = {.code = REFUSED_PROTOCOL, .text_length = (uint32_t)length};
	struct iovec io[2] = {{&message, sizeof(message)}, {(void *)(uintptr_t)text, length}};
	struct msghdr packet = {.msg_iov = io, .msg_iovlen = 2};

	message.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION,
					     .type = MESSAGE_REFUSED,
					     .length = (uint32_t)(sizeof(message) + length)};
	sendmsg(peer, &packet, MSG_NOSIGNAL);
}

static void
hand_over(int peer, uint32_t flags, const int *fds, size_t count)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * TAKEOVER_DESCRIPTORS)];
	} control = {0};
	struct message_takeover message = {.flags = flags, .version = "0.0.1"};
	struct iovec io = {&message, sizeof(message)};
	struct msghdr packet = {.msg_iov = &io, .msg_iovlen = 1};

	message.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION + 1,
					     .type = MESSAGE_HANDOVER,
					     .length = sizeof(message)};
	if (count > 0) {
		packet.msg_control = &control;
		packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, count * sizeof(int));
	}
	sendmsg(peer, &packet, MSG_NOSIGNAL);
}

static void
meet(int peer, const char *how)
{
	struct message_takeover message;

	while (recv(peer, &message, sizeof(message), 0) > 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (strcmp(how, "old") == 0)
			refuse(peer);
		else if (message.flags & TAKEOVER_ASK)
			hand_over(peer, TAKEOVER_ASK, NULL, 0);
		else if (strcmp(how, "wrong") == 0)
			hand_over(peer, 0, (int[]){null, null}, TAKEOVER_DESCRIPTORS);
		else if (strcmp(how, "gone") == 0)
			hand_over(peer, 0, (int[]){lock.fd, listener}, TAKEOVER_DESCRIPTORS);
		close(null);
		if (strcmp(how, "gone") == 0 || strcmp(how, "dies") == 0)
			if (!(message.flags & TAKEOVER_ASK))
				raise(SIGKILL);
	}
}

int
main(int argc, char **argv)
{
	char *error = NULL;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (lock_take(argv[1], &lock, &error) < 0) {
		fprintf(stderr, "lock_holder: %s\n", error ? error : "no lock");
		return 1;
	}
	if (strcmp(argv[2], "closed") != 0) {
		listener = listen_at(argv[1]);
		if (listener < 0)
			return 1;
	}
	puts("READY");
	while (listener >= 0 && strcmp(argv[2], "silent") != 0) {
		int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (peer < 0)
			return 1;
		meet(peer, argv[2]);
		close(peer);
		puts("LEFT");
	}
	for (;;)
		pause();
}
