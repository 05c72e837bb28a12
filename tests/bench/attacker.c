/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader may do to others, short of root's tools: it has the protocol, a slot page that it may write
 * to, an eventfd and queues. Each attack goes on until its process is ended.
 */
#include "tests/bench/attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm-layout/protocol.h"
#include "shm-layout/slot.h"

#define STRANGER 54321u /* a user whom nobody let in */
#define MANY 400u
#define ATTEMPTS 1000
#define PATIENCE_S 10
#define COPIES 600u
#define INSTANCES 500u

/* ---- a reader by hand ---- */

struct victim_of {
	int fd, arena, slot_fd, event;
	struct slot *slot;
};

static int
dial(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static struct message_head
head(uint16_t type, size_t length)
{
	return (struct message_head){.magic = PROTOCOL_MAGIC,
				     .version = PROTOCOL_VERSION,
				     .type = type,
				     .length = (uint32_t)length};
}

static bool
greet(int fd)
{
	struct message_hello hello = {
		.layout_major = LAYOUT_MAJOR, .layout_minor = LAYOUT_MINOR, .reader_name = "attacker"};

	hello.head = head(MESSAGE_HELLO, sizeof(hello));
	return send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello);
}

/* One packet; the descriptors in it. */
static ssize_t
hear(int fd, void *packet, size_t size, int fds[PROTOCOL_DESCRIPTORS], size_t *ret_count)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * PROTOCOL_DESCRIPTORS)];
	} control;
	struct iovec io = {packet, size};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_count = 0;
	if (c) {
		*ret_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *ret_count * sizeof(int));
	}
	return n;
}

static bool
attach(const char *socket, struct victim_of *ret)
{
	char packet[PROTOCOL_PACKET_MAX];
	int fds[PROTOCOL_DESCRIPTORS];
	size_t count = 0;

	ret->fd = dial(socket);
	if (ret->fd < 0 || !greet(ret->fd) || hear(ret->fd, packet, sizeof(packet), fds, &count) <= 0 ||
	    count != PROTOCOL_DESCRIPTORS)
		return false;
	ret->arena = fds[0];
	ret->slot_fd = fds[1];
	ret->event = fds[2];
	ret->slot = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ret->slot_fd, 0);
	return ret->slot != MAP_FAILED;
}

/* Attached, or the process ends: then the bench says that the attack did not come about. */
static struct victim_of
attached(const char *socket)
{
	struct victim_of v;

	/* what the attack before this one left may stand in the way for a while */
	for (int i = 0; i < ATTEMPTS; i++) {
		if (attach(socket, &v))
			return v;
		if (v.fd >= 0)
			close(v.fd);
		usleep(1000000 / ATTEMPTS * PATIENCE_S);
	}
	fprintf(stderr, "attacker: not attached\n");
	exit(1);
}

static void
subscribe(int fd, uint32_t number)
{
	struct message_subscribe wish = {.number = number, .resource = "pods"};

	wish.head = head(MESSAGE_SUBSCRIBE, sizeof(wish));
	send(fd, &wish, sizeof(wish), MSG_NOSIGNAL);
}

static void
unsubscribe(int fd, uint32_t number)
{
	struct message_unsubscribe wish = {.number = number};

	wish.head = head(MESSAGE_UNSUBSCRIBE, sizeof(wish));
	send(fd, &wish, sizeof(wish), MSG_NOSIGNAL);
}

/* Take what there is, without waiting; its descriptors go. */
static void
drain(int fd)
{
	char packet[PROTOCOL_PACKET_MAX];
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int fds[PROTOCOL_DESCRIPTORS];
	size_t count;

	while (poll(&p, 1, 0) > 0 && hear(fd, packet, sizeof(packet), fds, &count) > 0)
		while (count > 0)
			close(fds[--count]);
}

static void
under_way(void)
{
	printf("ready\n");
	fflush(stdout);
}

static uint64_t
any(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* ---- attacks ---- */

static void
spin(const char *socket)
{
	(void)socket;
	under_way();
	for (;;)
		any();
}

/* Any bytes at any time in the slot page, cursors of queues included; it asks to be woken, too. */
static void
scribble(const char *socket)
{
	struct victim_of v = attached(socket);
	_Atomic uint64_t *words = (_Atomic uint64_t *)(void *)v.slot;

	for (uint32_t i = 0; i < SLOT_QUEUES; i++)
		subscribe(v.fd, i);
	drain(v.fd);
	under_way();
	for (;;)
		atomic_store_explicit(&words[any() % (SLOT_BYTES / 8)], any() % 3 ? any() % 5000 : any(),
				      memory_order_relaxed);
}

/* Holds what it saw first, and is stopped for good. */
static void
stopped_with_pin(const char *socket)
{
	struct victim_of v = attached(socket);

	slot_claim(v.slot, 1);
	under_way();
	kill(getpid(), SIGSTOP);
	return;
}

static void
flickering_pin(const char *socket)
{
	struct victim_of v = attached(socket);

	under_way();
	for (uint64_t epoch = 1;; epoch++)
		atomic_store(&v.slot->cells[0].epoch, epoch % 7 ? epoch % 3 + 1 : CELL_FREE);
}

static void
come_and_go(const char *socket)
{
	under_way();
	for (;;) {
		struct victim_of v = {.fd = -1, .slot = MAP_FAILED};

		if (attach(socket, &v)) {
			munmap(v.slot, SLOT_BYTES);
			close(v.arena);
			close(v.slot_fd);
			close(v.event);
		}
		if (v.fd >= 0)
			close(v.fd);
	}
}

/* As many as there may be, which say nothing; who is ended comes again. */
static void
idle_connections(const char *socket)
{
	int fds[MANY];

	for (size_t i = 0; i < MANY; i++)
		fds[i] = dial(socket);
	under_way();
	for (;; usleep(1000))
		for (size_t i = 0; i < MANY; i++) {
			struct pollfd p = {.fd = fds[i], .events = POLLIN};

			if (fds[i] >= 0 && poll(&p, 1, 0) == 0)
				continue;
			close(fds[i]);
			fds[i] = dial(socket);
		}
}

/* Packets of noise, some with the right head, and descriptors along. */
static void
garbage(const char *socket)
{
	char noise[900];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	under_way();
	for (;;) {
		union {
			struct cmsghdr head;
			char space[CMSG_SPACE(sizeof(int))];
		} control = {.head = {.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))}};
		struct iovec io = {noise, 20 + any() % (sizeof(noise) - 20)};
		struct msghdr message = {.msg_iov = &io,
					 .msg_iovlen = 1,
					 .msg_control = &control,
					 .msg_controllen = sizeof(control)};
		struct message_head begin = head((uint16_t)(any() % 16), io.iov_len);
		int fd = dial(socket);

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)any();
		if (any() % 2)
			memcpy(noise, &begin, sizeof(begin));
		memcpy(CMSG_DATA(&control.head), &null, sizeof(null));
		sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
	}
}

/* 300,000 entries of epoll instances on an eventfd; or the process ends. */
static void
gather(int fd)
{
	static int copies[COPIES], instances[INSTANCES];
	static bool before;
	struct epoll_event event = {.events = EPOLLIN};

	for (size_t i = 0; before && i < COPIES; i++)
		close(copies[i]);
	for (size_t k = 0; before && k < INSTANCES; k++)
		close(instances[k]);
	before = true;
	for (size_t i = 0; i < COPIES; i++)
		copies[i] = dup(fd);
	for (size_t k = 0; k < INSTANCES; k++) {
		instances[k] = epoll_create1(EPOLL_CLOEXEC);
		for (size_t i = 0; i < COPIES; i++)
			if (epoll_ctl(instances[k], EPOLL_CTL_ADD, copies[i], &event) < 0) {
				perror("attacker: epoll_ctl");
				exit(1);
			}
	}
}

/* What the kernel lets anybody do to his neighbours: it stops a processor while it goes through the entries.
 */
static void
own_eventfd(const char *socket)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	(void)socket;
	gather(fd);
	under_way();
	for (uint64_t one = 1;; usleep(100000)) {
		if (write(fd, &one, sizeof(one)) < 0 || read(fd, &one, sizeof(one)) < 0)
			return;
	}
}

/* What takes the processor most: to make the entries, and to remove them; at the attack's rate. */
static void
own_eventfd_anew(const char *socket)
{
	(void)socket;
	under_way();
	for (;;) {
		int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

		gather(fd);
		poll(NULL, 0, 1000);
		close(fd);
	}
}

/* It wants to be woken with each commit. */
static void
epoll_entries(const char *socket)
{
	struct victim_of v = attached(socket);

	gather(v.event);
	under_way();
	for (uint64_t count;; usleep(100)) {
		atomic_store(&v.slot->armed, ARMED_COMMIT);
		if (read(v.event, &count, sizeof(count)) < 0)
			continue;
	}
}

/* As soon as it was woken it comes as somebody else. */
static void
epoll_entries_anew(const char *socket)
{
	under_way();
	for (;;) {
		struct victim_of v = attached(socket);
		struct pollfd p = {.fd = v.event, .events = POLLIN};

		gather(v.event);
		atomic_store(&v.slot->armed, ARMED_COMMIT);
		poll(&p, 1, 1000);
		munmap(v.slot, SLOT_BYTES);
		close(v.fd);
		close(v.arena);
		close(v.slot_fd);
		close(v.event);
	}
}

static void
stat_storm(const char *socket)
{
	struct message_head question = head(MESSAGE_STAT, sizeof(question));
	static char packet[1 << 16];
	int fds[64];

	for (size_t i = 0; i < 64; i++)
		fds[i] = -1;
	under_way();
	for (;;)
		for (size_t i = 0; i < 64; i++) {
			ssize_t n;

			if (fds[i] < 0)
				fds[i] = dial(socket);
			if (fds[i] < 0)
				continue;
			send(fds[i], &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT);
			n = recv(fds[i], packet, sizeof(packet), MSG_DONTWAIT);
			if (n == 0 || (n < 0 && errno != EAGAIN)) {
				close(fds[i]);
				fds[i] = -1;
			}
		}
}

static void
subscribe_storm(const char *socket)
{
	struct victim_of v = attached(socket);

	under_way();
	for (;;) {
		for (uint32_t i = 0; i < SLOT_QUEUES; i++)
			subscribe(v.fd, i);
		drain(v.fd);
		for (uint32_t i = 0; i < SLOT_QUEUES; i++)
			unsubscribe(v.fd, i);
		drain(v.fd);
	}
}

/* Where eventfds are written, a write would block. */
static void
full_eventfd(const char *socket)
{
	struct victim_of v = attached(socket);
	uint64_t full = 0xfffffffffffffffeull;

	under_way();
	for (;; usleep(100)) {
		fcntl(v.event, F_SETFL, O_NONBLOCK);
		if (write(v.event, &full, sizeof(full)) < 0 && errno != EAGAIN)
			return;
		fcntl(v.event, F_SETFL, 0);
		atomic_store(&v.slot->armed, ARMED_COMMIT | ARMED_QUEUE);
	}
}

/* Children inherit all it has, and stay when it goes; then comes the next one. */
static void
forking(const char *socket)
{
	under_way();
	for (;;) {
		pid_t parent = fork();

		if (parent == 0) {
			struct victim_of v;

			if (!attach(socket, &v))
				_exit(1);
			slot_claim(v.slot, 1);
			for (int i = 0; i < 8; i++)
				if (fork() == 0) {
					usleep(200000);
					_exit(0);
				}
			_exit(0);
		}
		if (parent > 0)
			while (waitpid(-1, NULL, 0) > 0)
				;
	}
}

/* Another user, whom nobody let in, comes and asks and stays. */
static void
stranger(const char *socket)
{
	if (geteuid() == 0 && (setgid(STRANGER) < 0 || setuid(STRANGER) < 0))
		return;
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		idle_connections(socket);
		return;
	}
	for (;;) {
		char packet[PROTOCOL_PACKET_MAX];
		int fd = dial(socket);

		if (greet(fd) && recv(fd, packet, sizeof(packet), MSG_DONTWAIT) < 0 && errno == EFAULT)
			return;
		close(fd);
	}
}

const struct attack attacks[] = {
	{"spinning", "no attack: a process that burns a processor", false, NULL, spin},
	{"own_eventfd", "no attack: 300,000 epoll entries on an eventfd of its own, signalled every 100 ms",
	 false, NULL, own_eventfd},
	{"own_eventfd_anew",
	 "no attack: 300,000 epoll entries on an eventfd, never signalled, anew each second", false, NULL,
	 own_eventfd_anew},
	{"scribbler", "any bytes at any time in slot page and cursors of 64 queues", false, NULL, scribble},
	{"stopped_with_pin", "stopped for good with a pin", false, NULL, stopped_with_pin},
	{"flickering_pin", "pins that change all the time", false, NULL, flickering_pin},
	{"come_and_go", "attaches and goes, all the time", false, NULL, come_and_go},
	{"idle_connections", "400 connections that say nothing, renewed", false, NULL, idle_connections},
	{"garbage", "packets of noise with descriptors", false, NULL, garbage},
	{"epoll_entries", "300,000 epoll entries on its eventfd, woken with each commit", false, NULL,
	 epoll_entries},
	{"epoll_entries_anew", "the same, and it comes anew when it was woken", false, "own_eventfd_anew",
	 epoll_entries_anew},
	{"stat_storm", "64 connections that ask STAT without pause", false, NULL, stat_storm},
	{"subscribe_storm", "64 queues, subscribed and unsubscribed without pause", false, NULL,
	 subscribe_storm},
	{"full_eventfd", "a filled eventfd without O_NONBLOCK", false, NULL, full_eventfd},
	{"forking", "attaches, forks 8 children that inherit all, and goes", true, NULL, forking},
	{"stranger", "another user: 400 idle connections, and greetings without pause", true, NULL, stranger},
};
const size_t attack_count = sizeof(attacks) / sizeof(attacks[0]);

int
attacker_main(int argc, char **argv)
{
	struct rlimit limit;

	if (argc != 4)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (size_t i = 0; i < attack_count; i++)
		if (strcmp(attacks[i].name, argv[2]) == 0)
			attacks[i].run(argv[3]);
	return 1; /* there is none of that name, or it failed */
}
