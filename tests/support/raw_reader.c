/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speaks the broker's protocol without the library, for tests of the broker: hello, slot, queues, and packets
 * that no library sends.
 */
#include "tests/support/raw_reader.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "tests/room.h"

void
raw_connect_with(struct broker_fixture *fx, int fd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fx->socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

int
raw_connect(struct broker_fixture *fx)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	raw_connect_with(fx, fd);
	return fd;
}

int
raw_connect_as(struct broker_fixture *fx, uid_t uid)
{
	int fd;

	if (geteuid() != 0) {
		print_message("SKIP: only root can become another user\n");
		skip();
	}
	assert_int_equal(chmod(fx->directory, 0755), 0);
	/* the system call, which changes this thread only */
	assert_int_equal(syscall(SYS_setresuid, -1, uid, -1), 0);
	fd = raw_connect(fx);
	assert_int_equal(syscall(SYS_setresuid, -1, 0, -1), 0);
	return fd;
}

int
raw_greet_as(struct broker_fixture *fx, uid_t uid, struct raw_answer *a)
{
	int fd = raw_connect_as(fx, uid);

	raw_hello(fd, 0);
	raw_hear(fd, a);
	return fd;
}

void
raw_hello(int fd, uint32_t flags)
{
	struct message_hello hello = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_HELLO, sizeof(hello), 0},
		.layout_major = LAYOUT_MAJOR,
		.layout_minor = LAYOUT_MINOR,
		.flags = flags,
		.reader_name = "raw \x1b[31m client"};

	assert_int_equal(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
}

void
raw_hear(int fd, struct raw_answer *a)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * 4)];
	} control;
	struct iovec io = {&a->u, sizeof(a->u)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct pollfd p = {.fd = fd, .events = POLLIN};

	a->fd_count = 0;
	memset(&a->u.head, 0, sizeof(a->u.head)); /* a hang-up must not look like the last answer */
	assert_int_equal(poll(&p, 1, 60000), 1);
	a->length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (a->length < 0 && errno == ECONNRESET)
		a->length = 0;
	assert_true(a->length >= 0);
	if (a->length > 0 && CMSG_FIRSTHDR(&message)) {
		a->fd_count = (unsigned)((CMSG_FIRSTHDR(&message)->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(a->fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), a->fd_count * sizeof(int));
	}
}

void
raw_attach(struct broker_fixture *fx, int *ret_fd, struct raw_answer *a, uint32_t flags)
{
	*ret_fd = raw_connect(fx);
	raw_hello(*ret_fd, flags);
	raw_hear(*ret_fd, a);
	assert_int_equal(a->u.head.type, MESSAGE_WELCOME);
	assert_int_equal(a->fd_count, 3);
}

void
raw_close(struct raw_answer *a)
{
	for (unsigned i = 0; i < a->fd_count; i++)
		close(a->fds[i]);
}

void
raw_visit(struct broker_fixture *fx)
{
	struct raw_answer a;
	int fd;

	raw_attach(fx, &fd, &a, 0);
	raw_close(&a);
	close(fd);
}

/* The text behind the head of a refusal. */
static void
assert_says(const struct raw_answer *a, size_t from, uint32_t length, const char *part)
{
	char text[300] = "";

	memcpy(text, a->u.bytes + from, length);
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

void
raw_is_refused(int fd, enum refusal code, const char *part)
{
	struct raw_answer a;

	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_REFUSED);
	assert_int_equal(a.u.refused.code, code);
	assert_says(&a, sizeof(a.u.refused), a.u.refused.text_length, part);
	raw_hear(fd, &a);
	assert_int_equal(a.length, 0);
}

void
raw_subscribe(int fd, uint32_t number, const char *resource, const char *ns, const char *consumer)
{
	struct message_subscribe wish = {
		.head = {PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(wish), 0},
		.number = number};

	snprintf(wish.resource, sizeof(wish.resource), "%s", resource);
	snprintf(wish.namespace_, sizeof(wish.namespace_), "%s", ns ? ns : "");
	snprintf(wish.consumer, sizeof(wish.consumer), "%s", consumer ? consumer : "");
	assert_int_equal(send(fd, &wish, sizeof(wish), MSG_NOSIGNAL), sizeof(wish));
}

static struct raw_reader *
reader_of(int fd, const struct raw_answer *welcome)
{
	struct raw_reader *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(welcome->u.head.type, MESSAGE_WELCOME);
	r->fd = fd;
	r->slot = test_map_slot(welcome->fds[1]);
	r->eventfd = welcome->fds[2];
	close(welcome->fds[0]);
	close(welcome->fds[1]);
	return r;
}

struct raw_reader *
raw_reader_new(struct broker_fixture *fx)
{
	struct raw_answer a;
	int fd;

	raw_attach(fx, &fd, &a, 0);
	return reader_of(fd, &a);
}

struct raw_reader *
raw_reader_as(struct broker_fixture *fx, uid_t uid)
{
	struct raw_answer a;
	int fd = raw_greet_as(fx, uid, &a);

	return reader_of(fd, &a);
}

bool
raw_reader_was_woken(const struct raw_reader *r)
{
	struct pollfd p = {.fd = r->eventfd, .events = POLLIN};
	uint64_t count;

	return poll(&p, 1, 0) == 1 && read(r->eventfd, &count, sizeof(count)) == sizeof(count);
}

void
raw_reader_wish(struct raw_reader *r, struct message_subscribe *wish)
{
	wish->head = (struct message_head){PROTOCOL_MAGIC, PROTOCOL_VERSION, MESSAGE_SUBSCRIBE, sizeof(*wish),
					   0};
	assert_int_equal(send(r->fd, wish, sizeof(*wish), MSG_NOSIGNAL), sizeof(*wish));
	raw_hear(r->fd, &r->answer);
	assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
	raw_close(&r->answer);
}

void
raw_reader_free(struct raw_reader *r)
{
	test_unmap_slot(r->slot);
	close(r->eventfd);
	close(r->fd);
	free(r);
}

const struct queue *
raw_reader_subscribe(struct raw_reader *r, uint32_t number, const char *resource, const char *ns,
		     const char *consumer)
{
	const struct queue *q;

	raw_subscribe(r->fd, number, resource, ns, consumer);
	raw_hear(r->fd, &r->answer);
	assert_int_equal(r->answer.u.head.type, MESSAGE_SUBSCRIBED);
	assert_int_equal(r->answer.u.subscribed.number, number);
	assert_int_equal(r->answer.fd_count, 1);
	q = mmap(NULL, queue_bytes(r->answer.u.subscribed.entries), PROT_READ, MAP_SHARED, r->answer.fds[0],
		 0);
	assert_ptr_not_equal(q, MAP_FAILED);
	assert_int_equal(q->capacity, r->answer.u.subscribed.entries);
	close(r->answer.fds[0]);
	return q;
}

void
raw_unmap_queue(const struct queue *q)
{
	munmap((void *)(uintptr_t)q, queue_bytes(q->capacity));
}

void
raw_reader_is_refused(struct raw_reader *r, uint32_t number, const char *resource, const char *consumer,
		      enum refusal code, const char *part)
{
	raw_subscribe(r->fd, number, resource, NULL, consumer);
	raw_hear(r->fd, &r->answer);
	assert_int_equal(r->answer.u.head.type, MESSAGE_UNSUBSCRIBED);
	assert_int_equal(r->answer.u.unsubscribed.number, number);
	assert_int_equal(r->answer.u.unsubscribed.code, code);
	assert_says(&r->answer, sizeof(r->answer.u.unsubscribed), r->answer.u.unsubscribed.text_length, part);
}
