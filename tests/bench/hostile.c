/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latency of honest readers while a process attacks informerd: p99 from a change at the server to the
 * handler, during each attack and its control, in turn. A busy attack's control is as busy without informerd,
 * because that alone slows others on a small machine. Each attack has its own user, so that informerd refuses
 * none for another's acts. Without root they run as our user.
 */
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm-layout/protocol.h"
#include "shm-layout/slot.h"
#include "tests/bench/servers.h"

#define READERS 8u
#define RATE 200u /* changes a second, in each round for … */
#define SECONDS 2u
#define CHANGES ((size_t)RATE * SECONDS)
#define SETTLE_MS 500
#define COPIES 500u    /* of an eventfd, in each of … */
#define INSTANCES 200u /* … so many epoll instances: 100,000 entries */
#define FLOOD 64u      /* connections */
#define ATTACKERS 54300 /* their group, and the user of the first one */

static const char *socket_path;
static struct server server;

/* ---- a reader by hand ---- */

struct victim {
	int fd, event;
	struct slot *slot;
};

static int
dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool
attach(struct victim *ret)
{
	struct message_hello hello = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_HELLO, sizeof(hello), 0},
		.layout_major = LAYOUT_MAJOR,
		.layout_minor = LAYOUT_MINOR,
		.reader_name = "attacker"};
	static char packet[PROTOCOL_PACKET_MAX];
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * PROTOCOL_DESCRIPTORS)];
	struct iovec io = {packet, sizeof(packet)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	int fds[PROTOCOL_DESCRIPTORS];

	ret->fd = dial();
	if (ret->fd < 0 || send(ret->fd, &hello, sizeof(hello), MSG_NOSIGNAL) < 0 ||
	    recvmsg(ret->fd, &message, 0) <= 0 || message.msg_controllen < sizeof(control)) {
		close(ret->fd);
		return false;
	}
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
	ret->event = fds[2];
	ret->slot = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	close(fds[0]);
	close(fds[1]);
	return ret->slot != MAP_FAILED;
}

/* Ask to be woken at each commit, until informerd hangs up. */
static void
be_woken(struct victim *v)
{
	struct pollfd gone = {.fd = v->fd, .events = POLLIN};

	while (poll(&gone, 1, 0) == 0) {
		atomic_store(&v->slot->armed, ARMED_COMMIT);
		usleep(100);
	}
}

static void
gather(int event)
{
	struct epoll_event in = {.events = EPOLLIN};
	int copies[COPIES];

	for (size_t i = 0; i < COPIES; i++)
		copies[i] = dup(event);
	for (size_t k = 0; k < INSTANCES; k++) {
		int instance = epoll_create1(0);

		for (size_t i = 0; i < COPIES; i++)
			if (epoll_ctl(instance, EPOLL_CTL_ADD, copies[i], &in) < 0)
				bench_fail("the attacker cannot make its entries");
	}
}

/* ---- attacks: each is called again and again ---- */

static void
spin(void)
{
}

static void
own_entries(void)
{
	gather(eventfd(0, EFD_NONBLOCK));
}

/* A refused connection asks again, some time later. */
static void
epoll_entries(void)
{
	struct victim v;

	if (!attach(&v)) {
		usleep(100000);
		return;
	}
	gather(v.event);
	be_woken(&v);
}

static void
full_eventfd(void)
{
	uint64_t full = 0xfffffffffffffffeull;
	struct victim v;

	if (!attach(&v)) {
		usleep(100000);
		return;
	}
	fcntl(v.event, F_SETFL, 0);
	if (write(v.event, &full, sizeof(full)) > 0)
		be_woken(&v);
}

static void
come_and_go(void)
{
	struct victim v;

	if (!attach(&v))
		return;
	munmap(v.slot, SLOT_BYTES);
	close(v.event);
	close(v.fd);
}

static void
connects(void)
{
	close(dial());
}

static void
reports(void)
{
	struct message_head question = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_STAT, sizeof(question), 0};
	static char packet[PROTOCOL_PACKET_MAX];
	static int fds[FLOOD];

	for (size_t i = 0; i < FLOOD; i++) {
		if (fds[i] <= 0)
			fds[i] = dial();
		send(fds[i], &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (recv(fds[i], packet, sizeof(packet), MSG_DONTWAIT) == 0) {
			close(fds[i]);
			fds[i] = 0;
		}
	}
}

/*
 * anew     each time in a new process, which ends
 * control  what it is compared with: as much work, but without informerd
 */
static const struct attack {
	const char *name;
	void (*once)(void);
	bool anew;
	void (*control)(void);
} attacks[] = {
	{"epoll_entries", epoll_entries, true, own_entries},
	{"full_eventfd", full_eventfd, true, spin},
	{"come_and_go", come_and_go, false, spin},
	{"connects", connects, false, spin},
	{"reports", reports, false, spin},
};

/* A process that repeats an attack, stopped at first, with its children in their own group. */
static pid_t
start(void (*once)(void), bool anew, uid_t user)
{
	struct rlimit files;
	pid_t pid = fork();

	if (pid != 0) {
		waitpid(pid, NULL, WUNTRACED);
		return pid;
	}
	setpgid(0, 0);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(ATTACKERS) < 0 || setuid(user) < 0))
		bench_fail("the attacker cannot become another user");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raise(SIGSTOP);
	if (!anew)
		for (;;)
			once();
	while ((pid = fork()) != 0)
		waitpid(pid, NULL, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	once();
	_exit(0);
}

/* The latency of readers while it runs. */
static double
p99_beside(pid_t pid, struct process *readers)
{
	struct told told;

	kill(-pid, SIGCONT);
	sleep_ms(SETTLE_MS);
	agent_begin(readers);
	server_change(&server, RATE, CHANGES, "");
	told = agent_await(readers, OURS, CHANGES, 20);
	kill(-pid, SIGSTOP);
	return told.p99;
}

static void
measure_attack(struct bench *b, const struct attack *attack, struct process *readers)
{
	uid_t user = ATTACKERS + (uid_t)(attack - attacks);
	pid_t attacker = start(attack->once, attack->anew, user);
	pid_t control = start(attack->control, attack->anew, user);
	struct rounds beside = {0}, alone = {0};

	/* the first round is not measured: informerd(8) tells what an attack costs until it is refused */
	for (unsigned round = 0; round <= (b->quick ? 3u : 7u); round++) {
		double p99 = p99_beside(control, readers);

		if (round > 0)
			rounds_add(&alone, p99);
		p99 = p99_beside(attacker, readers);
		if (round > 0)
			rounds_add(&beside, p99);
	}
	kill(-attacker, SIGKILL);
	kill(-control, SIGKILL);
	waitpid(attacker, NULL, 0);
	waitpid(control, NULL, 0);
	report_rounds(b->report, &beside, "a process as busy", &alone, "hostile_%s_p99_us", attack->name);
}

void
measure_hostile(struct bench *b, size_t n)
{
	struct daemon daemon;
	struct process readers;

	bench_need_client_go(b);
	if (chmod(b->directory, 0711) < 0)
		bench_fail("others cannot get to the socket");
	server = go_server_start(b, n);
	daemon = daemon_start(b, "hostile", &server, NULL, "--allow-gid=54300");
	socket_path = daemon.socket;
	daemon_wait_pods(&daemon, server.pods);
	readers = handler_spawn(b, daemon.socket, NULL, READERS);
	handler_ready(&readers);
	for (size_t i = 0; i < COUNT(attacks); i++)
		measure_attack(b, &attacks[i], &readers);
	process_end(&readers, SIGKILL);
	daemon_end(b, &daemon);
	server_end(&server);
}
