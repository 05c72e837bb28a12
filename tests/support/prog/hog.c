/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hog SOCKET CONNECTIONS QUEUES [ROUNDS]: take whatever the broker gives, and keep it. Makes so many
 * connections; attaches with each, and asks for that many queues of pods over it, in so many rounds, each of
 * which gives up the queues of the one before but keeps their descriptors. QUEUES -: connect, and say
 * nothing; +: attach, and hang up again, but keep what was given.
 *
 * Prints "READY attached=N refused=N queues=N queues_refused=N entries=N", those of the last round, and keeps
 * everything until its standard input ends.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/header.h"
#include "shm-layout/protocol.h"

static unsigned attached, refused, queues, queues_refused;
static unsigned long entries;

static union {
	struct message_head head;
	struct message_subscribed subscribed;
	char bytes[PROTOCOL_PACKET_MAX];
} packet;

/* The type of the next packet; 0 at a hang-up. Received descriptors are kept. */
static unsigned
hear(int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
	struct iovec io = {&packet, sizeof(packet)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};

	return recvmsg(fd, &message, 0) <= 0 ? 0 : packet.head.type;
}

static int
reach(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static bool
attach(int fd)
{
	struct message_hello hello = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_HELLO, sizeof(hello), 0},
		.layout_major = LAYOUT_MAJOR,
		.layout_minor = LAYOUT_MINOR,
		.reader_name = "hog",
	};

	send(fd, &hello, sizeof(hello), MSG_NOSIGNAL);
	if (hear(fd) != MESSAGE_WELCOME) {
		refused++;
		close(fd);
		return false;
	}
	attached++;
	return true;
}

/* False: the broker hung up. */
static int
subscribe(int fd, unsigned number)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.number = number,
		.resource = "pods",
	};

	send(fd, &wish, sizeof(wish), MSG_NOSIGNAL);
	switch (hear(fd)) {
	case MESSAGE_SUBSCRIBED:
		queues++;
		entries += packet.subscribed.entries;
		return 1;
	case MESSAGE_UNSUBSCRIBED:
		queues_refused++;
		return 1;
	default:
		return 0;
	}
}

int
main(int argc, char **argv)
{
	bool silent = argc > 3 && strcmp(argv[3], "-") == 0,
	     comes_and_goes = argc > 3 && strcmp(argv[3], "+") == 0;
	unsigned connections = argc > 2 ? (unsigned)atoi(argv[2]) : 0,
		 wanted = argc > 3 ? (unsigned)atoi(argv[3]) : 0,
		 rounds = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
	struct rlimit files;
	char byte;
	int *fds;

	if (argc < 4)
		return 2;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	fds = calloc(connections + 1, sizeof(*fds));
	for (unsigned i = 0; i < connections; i++) {
		fds[attached] = reach(argv[1]);
		if (silent)
			attached++;
		else if (attach(fds[attached]) && comes_and_goes)
			close(fds[attached - 1]);
	}
	for (unsigned r = 0; r < rounds && wanted > 0; r++) {
		queues = queues_refused = 0;
		entries = 0;
		for (unsigned i = 0; i < attached; i++)
			for (unsigned q = 0; q < wanted && subscribe(fds[i], q); q++)
				;
	}
	printf("READY attached=%u refused=%u queues=%u queues_refused=%u entries=%lu\n", attached, refused,
	       queues, queues_refused, entries);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
