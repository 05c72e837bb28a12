/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the lock of a socket, or asks its holder for it, for daemon_succession.c. What the holder says is
 * input, as any packet is; what it hands over is believed when it holds our lock (lock_inherit()).
 */
#include "writer/daemon/succession.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/protocol.h"
#include "shm-layout/time_ns.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"

#define LOOK_MS 20u         /* between two looks at the lock */
#define TELL_AFTER_MS 1500u /* who is waited for is said when it takes that long */

/* of /proc/PID/stat's flags: the kernel's, as they have been for twenty years */
#define PF_EXITING 0x4u
#define PF_SIGNALED 0x400u

/* The holder of the lock, as it is seen. */
struct holder {
	const struct succession *succession;
	int connection; /* -1: nobody can connect */
	long pid;       /* the process that listens; 0: not known, or not of our namespace */
	bool prepared;
	bool asked;        /* to hand over */
	uint64_t heard_ms; /* when it said something last; at first, when we began */
	char version[sizeof(((struct message_takeover *)0)->version) + 1];
};

enum word {
	WORD_NONE,    /* it says nothing, or is not there */
	WORD_SERVES,  /* it answers, and stays */
	WORD_REFUSED, /* to hand over; with message */
	WORD_GIVEN,   /* it has handed over */
	WORD_FAILED,  /* it handed over what it should not, with message; or our own preparation failed */
};

static uint64_t
now_ms(void)
{
	return time_ns(CLOCK_MONOTONIC) / 1000000u;
}

/* The process is dead but for what the kernel still clears away: killed, and not gone. */
static bool
is_dying(long pid)
{
	char path[64], text[1024], *at;
	unsigned flags = 0;
	char state = 0;
	ssize_t n;
	int fd;

	if (pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strrchr(text, ')'); /* the name may hold anything */
	if (!at || sscanf(at + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2)
		return false;
	return state == 'Z' || state == 'X' || flags & (PF_EXITING | PF_SIGNALED);
}

static void
disconnect(struct holder *h)
{
	if (h->connection >= 0)
		close(h->connection);
	h->connection = -1;
	h->asked = false;
}

static int
say(int connection, enum message_type type, uint32_t flags)
{
	struct message_takeover message = {
		.head = {.magic = PROTOCOL_MAGIC,
			 .version = PROTOCOL_VERSION,
			 .type = (uint16_t)type,
			 .length = sizeof(message)},
		.flags = flags,
	};

	snprintf(message.version, sizeof(message.version), "%s", INFORMER_VERSION);
	return send(connection, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/*
 * Connect to whoever listens. That is the holder: another's packets are not believed, since root and we alone
 * can hold the lock.
 */
static void
reach(struct holder *h)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int fd;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	/* lock_take() has seen that it fits */
	memcpy(address.sun_path, h->succession->socket, strlen(h->succession->socket) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 ||
	    (peer.uid != 0 && peer.uid != geteuid()) || say(fd, MESSAGE_TAKEOVER, TAKEOVER_ASK) < 0) {
		close(fd);
		return;
	}
	h->connection = fd;
	h->pid = peer.pid > 0 ? (long)peer.pid : 0;
}

union answer {
	struct message_head head;
	struct message_takeover takeover;
	struct message_refused refused;
	char bytes[1024];
};

/*
 * One packet, if there is one: its length, 0 at the hang-up, -EAGAIN. The descriptors are the caller's; those
 * beyond TAKEOVER_DESCRIPTORS the kernel has closed.
 */
static ssize_t
hear(int connection, union answer *answer, int fds[TAKEOVER_DESCRIPTORS], unsigned *ret_count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * TAKEOVER_DESCRIPTORS)];
	} control;
	struct iovec io = {answer, sizeof(*answer)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;

	*ret_count = 0;
	do
		n = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(c), bytes);
		*ret_count = (unsigned)(bytes / sizeof(int));
	}
	return n;
}

/* Names what was said last by whom: "informerd 0.1.0 (pid 4711)". */
static const char *
name_of(const struct holder *h, char *text, size_t size)
{
	long pid = h->pid ? h->pid : lock_holder(h->succession->socket);
	int n = snprintf(text, size, "informerd%s%s", *h->version ? " " : "", h->version);

	if (pid > 0 && n > 0 && (size_t)n < size)
		snprintf(text + n, size - (size_t)n, " (pid %ld)", pid);
	return text;
}

static int
take_given(struct holder *h, const int fds[TAKEOVER_DESCRIPTORS], unsigned count, struct inheritance *ret,
	   char **ret_error)
{
	char name[128];
	int r = count == TAKEOVER_DESCRIPTORS ? lock_inherit(fds[0], h->succession->socket, &ret->lock)
					      : -EPROTO;

	if (r < 0) {
		for (unsigned i = 0; i < count; i++)
			close(fds[i]);
		return message_set(ret_error, r, "%s handed over something else than its lock: %s",
				   name_of(h, name, sizeof(name)), strerror(-r));
	}
	ret->listener = fds[1];
	/* It waits for our word: systemd learns first whose end is the end of the service. */
	notify_format("MAINPID=%ld", (long)getpid());
	say(h->connection, MESSAGE_TAKEOVER, TAKEOVER_TAKEN);
	log_info("%s handed over", name_of(h, name, sizeof(name)));
	return 0;
}

/* It refuses: a text of its own, which may be of any release. */
static int
tell_refusal(const struct holder *h, const union answer *answer, size_t n, char **ret_error)
{
	char name[128], text[256];
	size_t length = n > sizeof(answer->refused) ? n - sizeof(answer->refused) : 0, i;

	if (length > answer->refused.text_length)
		length = answer->refused.text_length;
	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	for (i = 0; i < length; i++) {
		char c = answer->bytes[sizeof(answer->refused) + i];

		text[i] = (char)(c < 0x20 || c > 0x7e ? '?' : c);
	}
	text[i] = '\0';
	return message_set(ret_error, -EBUSY, "%s cannot hand over (%s): stop it first, then start this one",
			   name_of(h, name, sizeof(name)), text);
}

/* It is there. */
static enum word
on_alive(struct holder *h, const struct message_takeover *said, int *ret_code)
{
	const struct succession *s = h->succession;

	h->heard_ms = now_ms();
	for (size_t i = 0; i < sizeof(said->version); i++)
		h->version[i] = (char)(said->version[i] &&
						       (said->version[i] < 0x20 || said->version[i] > 0x7e)
					       ? '?'
					       : said->version[i]);
	if (!s->takeover)
		return WORD_SERVES;
	if (!h->prepared && s->prepare) {
		/* that takes its time: who asks nothing is not kept on the line */
		disconnect(h);
		h->prepared = true;
		*ret_code = s->prepare(s->context);
		h->heard_ms = now_ms();
		return *ret_code < 0 ? WORD_FAILED : WORD_NONE;
	}
	if (say(h->connection, MESSAGE_TAKEOVER, 0) < 0)
		disconnect(h);
	else
		h->asked = true;
	return WORD_NONE;
}

/* Hear what the holder says, if it says anything. */
static enum word
listen_to(struct holder *h, struct inheritance *ret, int *ret_code, char **ret_error)
{
	int fds[TAKEOVER_DESCRIPTORS];
	union answer answer;
	unsigned count;
	ssize_t n;

	if (h->connection < 0)
		reach(h);
	if (h->connection < 0)
		return WORD_NONE;
	n = hear(h->connection, &answer, fds, &count);
	if (n == -EAGAIN)
		return WORD_NONE;
	if (n >= (ssize_t)sizeof(answer.takeover) && answer.head.magic == PROTOCOL_MAGIC &&
	    answer.head.type == MESSAGE_HANDOVER && answer.takeover.flags == 0 && h->asked) {
		*ret_code = take_given(h, fds, count, ret, ret_error);
		return *ret_code < 0 ? WORD_FAILED : WORD_GIVEN;
	}
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
	if (n >= (ssize_t)sizeof(answer.takeover) && answer.head.magic == PROTOCOL_MAGIC &&
	    answer.head.type == MESSAGE_HANDOVER && answer.takeover.flags == TAKEOVER_ASK && !h->asked)
		return on_alive(h, &answer.takeover, ret_code);
	if (n >= (ssize_t)sizeof(answer.refused) && answer.head.magic == PROTOCOL_MAGIC &&
	    answer.head.type == MESSAGE_REFUSED) {
		if (!h->succession->takeover)
			return WORD_SERVES;
		*ret_code = tell_refusal(h, &answer, (size_t)n, ret_error);
		return WORD_REFUSED;
	}
	disconnect(h); /* it ended, or is no informerd; the lock tells */
	return WORD_NONE;
}

static void
tell_waiting(const struct holder *h, bool dying)
{
	char name[128];

	log_info("waiting for %s, which %s", name_of(h, name, sizeof(name)),
		 dying                ? "is ending"
		 : h->asked           ? "finishes to hand over"
		 : h->connection >= 0 ? "does not answer"
				      : "does not serve yet, or not any more");
}

static uint64_t
patience(const struct holder *h, bool dying)
{
	return dying ? SUCCESSION_DYING_MS : h->asked ? SUCCESSION_FINISH_MS : SUCCESSION_PATIENCE_MS;
}

/* Until the lock is ours, or that cannot be. */
static int
pursue(struct holder *h, struct inheritance *ret, char **ret_error)
{
	const struct succession *s = h->succession;
	uint64_t begun = now_ms();
	bool told = false;

	for (;;) {
		int r = lock_take(s->socket, &ret->lock, ret_error), code = 0;
		enum word word;
		char name[128];
		bool dying;

		if (r != -EBUSY)
			return r;
		word = listen_to(h, ret, &code, ret_error);
		if (word == WORD_SERVES)
			return r;
		if (word != WORD_NONE)
			return code;
		dying = is_dying(h->pid);
		if (now_ms() - h->heard_ms >= patience(h, dying))
			return message_set(ret_error, -EBUSY,
					   "%s holds %s.lock and does not answer: it may be stopped, or just "
					   "starting; nothing was changed",
					   name_of(h, name, sizeof(name)), s->socket);
		if (!told && now_ms() - begun >= TELL_AFTER_MS) {
			told = true;
			tell_waiting(h, dying);
		}
		if (!s->wait(s->context, LOOK_MS))
			return -ECANCELED;
	}
}

int
succession_begin(const struct succession *succession, struct inheritance *ret, char **ret_error)
{
	struct holder holder = {.succession = succession, .connection = -1, .heard_ms = now_ms()};
	_cleanup_(message_freep) char *error = NULL;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = pursue(&holder, ret, &error);
	disconnect(&holder);
	if (r < 0 && r != -ECANCELED && ret_error) {
		free(*ret_error);
		*ret_error = error;
		error = NULL;
	}
	return r;
}

/* ---- the other side ---- */

static int
send_given(int connection, const struct inheritance *inheritance)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * TAKEOVER_DESCRIPTORS)];
	} control = {0};
	int fds[TAKEOVER_DESCRIPTORS] = {inheritance->lock.fd, inheritance->listener};
	struct message_takeover message = {
		.head = {.magic = PROTOCOL_MAGIC,
			 .version = PROTOCOL_VERSION,
			 .type = MESSAGE_HANDOVER,
			 .length = sizeof(message)},
	};
	struct iovec io = {&message, sizeof(message)};
	struct msghdr packet = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	snprintf(message.version, sizeof(message.version), "%s", INFORMER_VERSION);
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	return sendmsg(connection, &packet, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Its word that both have come. False: it hung up. One that is silent may have them: they are its own. */
static bool
was_taken(int connection)
{
	uint64_t end = now_ms() + SUCCESSION_PATIENCE_MS;
	struct pollfd p = {.fd = connection, .events = POLLIN};
	int fds[TAKEOVER_DESCRIPTORS];
	union answer answer;

	for (;;) {
		uint64_t now = now_ms();
		unsigned count;
		ssize_t n;

		if (now >= end || (poll(&p, 1, (int)(end - now)) < 0 && errno != EINTR)) {
			log_warning("the successor does not say that it has what was handed over; it may be "
				    "stopped");
			return true;
		}
		n = hear(connection, &answer, fds, &count);
		for (unsigned i = 0; n >= 0 && i < count; i++)
			close(fds[i]);
		if (n == 0)
			return false;
		if (n >= (ssize_t)sizeof(answer.takeover) && answer.head.type == MESSAGE_TAKEOVER &&
		    answer.takeover.flags == TAKEOVER_TAKEN)
			return true;
	}
}

bool
succession_give(int connection, struct inheritance *inheritance)
{
	if (send_given(connection, inheritance) < 0 || !was_taken(connection))
		return false;
	inheritance_release(inheritance);
	return true;
}

void
inheritance_release(struct inheritance *inheritance)
{
	lock_release(&inheritance->lock);
	if (inheritance->listener > 0)
		close(inheritance->listener);
	inheritance->listener = 0;
}
