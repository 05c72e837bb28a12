/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_noise SOCKET N SEED: be a hostile reader N times: garbage for a greeting, half-right greetings,
 * unrequested descriptors; and where a greeting was accepted, garbage into the slot page, and connections
 * that stay open. Exits 0 unless the socket cannot be reached.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/header.h"
#include "shm-layout/protocol.h"

#define KEPT 16

static unsigned
pick(unsigned n)
{
	return (unsigned)rand() % n;
}

static void
scribble(void *at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		((unsigned char *)at)[i] = (unsigned char)rand();
}

/* Write into every received descriptor that can be mapped writable: the slot page can, the arena must not. */
static int
spoil(int fd)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return 0;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 0;
	if ((size_t)st.st_size > 1u << 20) {
		fprintf(stderr, "the arena lets itself be written to\n");
		return 1;
	}
	scribble(p, (size_t)st.st_size);
	munmap(p, (size_t)st.st_size);
	return 0;
}

static int
hear(int fd)
{
	static _Alignas(struct message_head) char packet[PROTOCOL_PACKET_MAX];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
	struct timeval patience = { .tv_usec = 20000 };
	struct iovec io = { packet, sizeof(packet) };
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int result = 0, got;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) <= 0)
		return 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		for (size_t i = 0;
		     c->cmsg_type == SCM_RIGHTS && CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
			memcpy(&got, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			result |= spoil(got);
			close(got);
		}
	return result;
}

/* Now and then send unrequested descriptors too; the kernel may refuse them. */
static int
say(int fd, char *packet, size_t length)
{
	enum { PASSED = 20 };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(PASSED * sizeof(int))] = {0};
	struct iovec io = { packet, length };
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(PASSED * sizeof(int));
	for (size_t i = 0; i < PASSED; i++)
		memcpy(CMSG_DATA(head) + i * sizeof(int), &fd, sizeof(fd));
	if (pick(4) == 0 && sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	return send(fd, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

static size_t
greeting(char *packet, size_t room)
{
	struct message_hello hello = {
		.head = { PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_HELLO, sizeof(hello), 0 },
		.layout_major = LAYOUT_MAJOR, .layout_minor = LAYOUT_MINOR,
	};
	unsigned kind = pick(4);

	scribble(hello.reader_name, sizeof(hello.reader_name));
	if (kind == 1)
		hello.layout_major = (uint16_t)pick(3);
	if (kind == 2)
		hello.head.type = (uint16_t)pick(9);
	if (kind == 3)
		scribble(&hello.head.version, sizeof(hello.head) - sizeof(hello.head.magic));
	memcpy(packet, &hello, sizeof(hello));
	return pick(8) ? sizeof(hello) : pick((unsigned)room);
}

int
main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int kept[KEPT], result = 0;
	static char packet[70000];

	if (argc != 4 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	srand((unsigned)atoi(argv[3]));
	memset(kept, -1, sizeof(kept));
	for (int i = atoi(argv[2]); i > 0; i--) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), *place = &kept[pick(KEPT)];
		size_t length;

		if (fd < 0 || (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
			       errno != EAGAIN)) {
			perror(address.sun_path);
			return 1;
		}
		scribble(packet, sizeof(packet));
		length = pick(3) ? greeting(packet, sizeof(packet)) : pick(sizeof(packet));
		for (unsigned times = pick(8) ? 1 : 4; times > 0; times--)
			if (say(fd, packet, length) < 0)
				break;
		result |= hear(fd);
		if (*place >= 0)
			close(*place);
		*place = fd;
	}
	return result;
}
