/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is: the lock passes from one to the next without being free, what is no lock is not believed,
 * and whoever gives it goes on when nobody has taken it. What processes do to each other is
 * tests/long/writer_succession.sh's and writer_takeover.sh's.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shm-layout/protocol.h"
#include "tests/room.h"
#include "writer/daemon/succession.h"

struct world {
	char directory[64];
	char socket[100], lock[110];
	int pair[2]; /* [0] the holder's end, [1] the successor's */
	struct inheritance left;
	bool given;
	pthread_t holder;
};

static bool
is_free(const struct world *w)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(w->lock, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_GETLK, &whole), 0);
	close(fd);
	return whole.l_type == F_UNLCK;
}

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char *error = NULL;

	assert_non_null(w);
	snprintf(w->directory, sizeof(w->directory), "/tmp/informer-test-XXXXXX");
	assert_non_null(mkdtemp(w->directory));
	snprintf(w->socket, sizeof(w->socket), "%s/s.sock", w->directory);
	snprintf(w->lock, sizeof(w->lock), "%s.lock", w->socket);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, w->pair), 0);
	assert_int_equal(lock_take(w->socket, &w->left.lock, &error), 0);
	w->left.listener = open("/dev/null", O_RDONLY | O_CLOEXEC); /* what it is nobody looks at here */
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;

	inheritance_release(&w->left);
	for (unsigned i = 0; i < 2; i++)
		if (w->pair[i] >= 0)
			close(w->pair[i]);
	unlink(w->lock);
	rmdir(w->directory);
	free(w);
	return 0;
}

static void *
give(void *context)
{
	struct world *w = context;

	w->given = succession_give(w->pair[0], &w->left);
	return NULL;
}

static void
hear_given(const struct world *w, int fds[TAKEOVER_DESCRIPTORS])
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * TAKEOVER_DESCRIPTORS)];
	} control;
	struct message_takeover message;
	struct iovec io = {&message, sizeof(message)};
	struct msghdr packet = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	const struct cmsghdr *c;

	assert_int_equal(recvmsg(w->pair[1], &packet, MSG_CMSG_CLOEXEC), sizeof(message));
	assert_int_equal(message.head.type, MESSAGE_HANDOVER);
	assert_int_equal(message.flags, 0);
	c = CMSG_FIRSTHDR(&packet);
	assert_non_null(c);
	assert_int_equal(c->cmsg_len, CMSG_LEN(sizeof(int) * TAKEOVER_DESCRIPTORS));
	memcpy(fds, CMSG_DATA(c), sizeof(int) * TAKEOVER_DESCRIPTORS);
}

static void
say(const struct world *w, uint32_t flags)
{
	struct message_takeover message = {.flags = flags};

	message.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION,
					     .type = MESSAGE_TAKEOVER,
					     .length = sizeof(message)};
	assert_int_equal(send(w->pair[1], &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

/* The lock is held at every moment, by one, by both, by the other; and who gave it has closed it. */
TEST(the_lock_is_never_free)
{
	struct lock lock = {0};
	int fds[TAKEOVER_DESCRIPTORS], was = w->left.lock.fd;

	assert_int_equal(pthread_create(&w->holder, NULL, give, w), 0);
	hear_given(w, fds);
	assert_int_equal(lock_inherit(fds[0], w->socket, &lock), 0);
	assert_false(is_free(w));
	assert_int_equal(lock_holder(w->socket), getpid());
	say(w, TAKEOVER_TAKEN);
	pthread_join(w->holder, NULL);
	assert_true(w->given);
	assert_int_equal(w->left.lock.fd, 0);
	assert_int_equal(w->left.listener, 0);
	assert_int_equal(fcntl(was, F_GETFD), -1);
	assert_false(is_free(w));
	lock_release(&lock);
	assert_true(is_free(w));
	close(fds[1]);
}

/* A successor that is gone without a word has nothing: who gave goes on with what it has. */
TEST(who_hangs_up_has_taken_nothing)
{
	int fds[TAKEOVER_DESCRIPTORS];

	for (unsigned heard = 0; heard < 2; heard++) {
		assert_int_equal(pthread_create(&w->holder, NULL, give, w), 0);
		if (heard) {
			hear_given(w, fds);
			close(fds[0]);
			close(fds[1]);
			say(w, TAKEOVER_ASK); /* that is not the word */
		}
		close(w->pair[1]);
		pthread_join(w->holder, NULL);
		assert_false(w->given);
		assert_true(w->left.lock.fd > 0 && w->left.listener > 0);
		assert_false(is_free(w));
		close(w->pair[0]);
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, w->pair), 0);
	}
	/* and so it is when there is nobody to send it to */
	close(w->pair[1]);
	w->pair[1] = -1;
	give(w);
	assert_false(w->given);
	assert_false(is_free(w));
}

/* Another file is not the lock, nor is the file without the lock while another holds it. */
TEST(only_the_lock_is_inherited)
{
	struct lock lock = {0};
	int other = open(w->lock, O_RDWR | O_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC),
	    reading = open(w->lock, O_RDONLY | O_CLOEXEC);

	assert_int_equal(lock_inherit(other, w->socket, &lock), -EPROTO);
	assert_int_equal(lock_inherit(null, w->socket, &lock), -EPROTO);
	inheritance_release(&w->left);
	assert_int_equal(lock_inherit(reading, w->socket, &lock), -EPROTO);
	assert_int_equal(lock_inherit(other, w->socket, &lock), 0); /* nobody holds it: it is taken */
	assert_false(is_free(w));
	lock_release(&lock);
	close(null);
	close(reading);
}

static bool
wait_no_more(void *context, unsigned ms)
{
	(void)ms;
	return ++*(unsigned *)context < 3;
}

/* Who waits for a holder that nobody can reach goes on looking, until it is told to give up; or gets it. */
TEST(a_holder_out_of_reach_is_waited_for)
{
	unsigned looks = 0;
	struct succession s = {.socket = w->socket, .wait = wait_no_more, .context = &looks};
	struct inheritance got;
	char *error = NULL;

	assert_int_equal(succession_begin(&s, &got, &error), -ECANCELED);
	assert_int_equal(looks, 3);
	assert_null(error);
	lock_release(&w->left.lock);
	looks = 0;
	assert_int_equal(succession_begin(&s, &got, &error), 0);
	assert_int_equal(looks, 0);
	assert_int_equal(got.listener, 0);
	assert_false(is_free(w));
	inheritance_release(&got);
}
