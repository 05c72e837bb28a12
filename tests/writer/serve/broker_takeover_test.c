/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A successor at the broker: who may ask, what it is answered, and that the listening socket passes from one
 * broker to the next without anybody being turned away.
 */
#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/room.h"
#include "tests/support/broker_fixture.h"
#include "tests/support/raw_reader.h"

#define OTHER_UID 54321

/* What the broker's user was asked. */
static struct {
	unsigned asked;
	int connection; /* a duplicate */
	int answer;
	char version[64];
} daemon_was;

static int
take_over(void *context, int connection, const char *version)
{
	int answer = daemon_was.answer;

	(void)context;
	if (answer == 0) {
		daemon_was.connection = fcntl(connection, F_DUPFD_CLOEXEC, 0);
		snprintf(daemon_was.version, sizeof(daemon_was.version), "%s", version);
	}
	/* the test looks at the rest once it sees this */
	__atomic_add_fetch(&daemon_was.asked, 1, __ATOMIC_RELEASE);
	return answer;
}

static void
say(int fd, uint32_t flags)
{
	struct message_takeover message = {.flags = flags};

	/* of another release, and a version that fills its field, with what no log should have */
	message.head = (struct message_head){.magic = PROTOCOL_MAGIC,
					     .version = PROTOCOL_VERSION + 7,
					     .type = MESSAGE_TAKEOVER,
					     .length = sizeof(message)};
	memset(message.version, '8', sizeof(message.version));
	message.version[1] = '\n';
	assert_int_equal(send(fd, &message, sizeof(message), MSG_NOSIGNAL), sizeof(message));
}

static void
hear_refusal(int fd, enum refusal code)
{
	struct raw_answer a;

	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_REFUSED);
	assert_int_equal(a.u.refused.code, code);
	close(fd);
}

static int
set_up(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();

	memset(&daemon_was, 0, sizeof(daemon_was));
	fx->options.takeover = take_over;
	*state = fx;
	return 0;
}

static int
tear_down(void **state)
{
	broker_fixture_free(*state);
	if (daemon_was.connection > 0)
		close(daemon_was.connection);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct broker_fixture *fx, set_up, tear_down, name)

/* Who asks whether anybody is there is told which release, without a descriptor, as often as it likes. */
TEST(who_is_there_is_answered)
{
	struct message_takeover answer;
	struct raw_answer a;
	int fd;

	broker_fixture_start(fx);
	fd = raw_connect(fx);
	for (unsigned i = 0; i < 2; i++) {
		say(fd, TAKEOVER_ASK);
		raw_hear(fd, &a);
		assert_int_equal(a.length, sizeof(answer));
		memcpy(&answer, a.u.bytes, sizeof(answer));
		assert_int_equal(answer.head.type, MESSAGE_HANDOVER);
		assert_int_equal(answer.flags, TAKEOVER_ASK);
		assert_string_equal(answer.version, INFORMER_VERSION);
		assert_int_equal(a.fd_count, 0);
	}
	assert_int_equal(daemon_was.asked, 0);
	close(fd);
}

/* The request goes to the daemon, which answers over the same connection when it has ended all others. */
TEST(the_connection_stays_for_the_answer)
{
	struct raw_answer a;
	int fd;

	broker_fixture_start(fx);
	fd = raw_connect(fx);
	say(fd, 0);
	broker_fixture_until(fx, __atomic_load_n(&daemon_was.asked, __ATOMIC_ACQUIRE));
	broker_fixture_stop(fx);
	assert_int_equal(daemon_was.asked, 1);
	assert_int_equal(strlen(daemon_was.version), sizeof(((struct message_takeover *)0)->version));
	assert_memory_equal(daemon_was.version, "8?8", 3);
	assert_int_equal(send(daemon_was.connection, "given", 5, MSG_NOSIGNAL), 5);
	raw_hear(fd, &a);
	assert_int_equal(a.length, 5);
	close(fd);
}

/* A daemon that cannot says so; one that was asked by another first hangs up, and that one is asked then. */
TEST(a_daemon_that_cannot_says_so)
{
	struct raw_answer a;
	int fd;

	broker_fixture_start(fx);
	fd = raw_connect(fx);
	daemon_was.answer = -EMFILE;
	say(fd, 0);
	hear_refusal(fd, REFUSED_BUSY);
	fd = raw_connect(fx);
	daemon_was.answer = -EBUSY;
	say(fd, 0);
	raw_hear(fd, &a);
	assert_int_equal(a.length, 0);
	close(fd);
}

/* What makes no sense is refused, and what is too short; so is everything where nothing can be handed over.
 */
TEST(nonsense_is_refused)
{
	struct message_head head = {.magic = PROTOCOL_MAGIC,
				    .version = PROTOCOL_VERSION,
				    .type = MESSAGE_TAKEOVER,
				    .length = sizeof(head)};
	const uint32_t flags[] = {TAKEOVER_TAKEN, TAKEOVER_ASK | TAKEOVER_TAKEN, 0x80000000u};
	struct raw_answer a;
	int fd;

	broker_fixture_start(fx);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		fd = raw_connect(fx);
		say(fd, flags[i]);
		hear_refusal(fd, REFUSED_PROTOCOL);
	}
	/* behind one that was whole, so that what is missing would be found in its place */
	fd = raw_connect(fx);
	say(fd, TAKEOVER_ASK);
	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_HANDOVER);
	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL), sizeof(head));
	hear_refusal(fd, REFUSED_PROTOCOL);
	broker_fixture_stop(fx);
	fx->options.takeover = NULL;
	broker_fixture_start(fx);
	for (uint32_t ask = 0; ask <= TAKEOVER_ASK; ask++) {
		fd = raw_connect(fx);
		say(fd, ask);
		hear_refusal(fd, REFUSED_PROTOCOL);
	}
	assert_int_equal(daemon_was.asked, 0);
}

/* Another user may read, where it is allowed to, and not take over. */
TEST(only_root_and_our_own_user_may_ask)
{
	static const uid_t allowed[] = {OTHER_UID};
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("SKIP: only root can become another user\n");
		skip();
	}
	fx->options.allow_uids = allowed;
	fx->options.n_allow_uids = 1;
	assert_int_equal(chmod(fx->directory, 0755), 0);
	broker_fixture_start(fx);
	pid = fork();
	if (pid == 0) {
		struct message_takeover message = {.head = {.magic = PROTOCOL_MAGIC,
							    .version = PROTOCOL_VERSION,
							    .type = MESSAGE_TAKEOVER,
							    .length = sizeof(message)}};
		union {
			struct message_refused refused;
			char bytes[512];
		} answer;
		int fd;

		alarm(60);
		if (setgroups(0, NULL) < 0 || setgid(OTHER_UID) < 0 || setuid(OTHER_UID) < 0)
			_exit(1);
		fd = raw_connect(fx);
		if (send(fd, &message, sizeof(message), MSG_NOSIGNAL) < 0 ||
		    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.refused))
			_exit(2);
		_exit(answer.refused.head.type == MESSAGE_REFUSED && answer.refused.code == REFUSED_PERMISSION
			      ? 0
			      : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(daemon_was.asked, 0);
}

static void
ask_and_leave(struct broker_fixture *fx, void *context)
{
	int fd = raw_connect(fx);

	(void)context;
	say(fd, 0);
	close(fd);
}

/* Who has hung up by the time it is heard is not handed anything: nobody would be there. */
TEST(who_has_left_is_not_heard)
{
	struct raw_answer a;
	int fd;

	broker_fixture_start(fx);
	/* on the loop's thread, so that it is over before it is heard */
	broker_fixture_do(fx, ask_and_leave, NULL);
	/* who comes later is heard later */
	raw_attach(fx, &fd, &a, 0);
	raw_close(&a);
	close(fd);
	assert_int_equal(daemon_was.asked, 0);
}

static void
pass_on(struct broker_fixture *fx, void *context)
{
	*(int *)context = broker_pass_on(fx->broker);
}

/*
 * The socket passes on: its file stays, the same, who connects between two brokers waits for the second, and
 * the second removes it.
 */
TEST(the_listener_passes_on)
{
	struct raw_answer a;
	struct stat before, after;
	int listener = -1, fd;

	broker_fixture_start(fx);
	assert_int_equal(lstat(fx->socket, &before), 0);
	broker_fixture_do(fx, pass_on, &listener);
	assert_true(listener > 0);
	assert_true(fcntl(listener, F_GETFD) & FD_CLOEXEC);
	broker_fixture_stop(fx);
	fd = raw_connect(fx);
	raw_hello(fd, 0);
	fx->options.listener = listener;
	fx->options.mode = 0600;
	broker_fixture_start(fx);
	raw_hear(fd, &a);
	assert_int_equal(a.u.head.type, MESSAGE_WELCOME);
	raw_close(&a);
	close(fd);
	assert_int_equal(lstat(fx->socket, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0600);
	fx->options.listener = 0;
	broker_fixture_stop(fx);
	assert_int_equal(lstat(fx->socket, &after), -1);
}

static int
listen_at(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* A socket of another type, or whose file is gone, is closed, and a new one made: nobody would find it. */
TEST(another_listener_is_not_believed)
{
	struct raw_answer a;
	int fd, wrong;

	for (unsigned gone = 0; gone < 2; gone++) {
		wrong = listen_at(fx->socket, gone ? SOCK_SEQPACKET : SOCK_STREAM);
		if (gone)
			assert_int_equal(unlink(fx->socket), 0);
		fx->options.listener = wrong;
		broker_fixture_start(fx);
		raw_attach(fx, &fd, &a, 0);
		raw_close(&a);
		close(fd);
		broker_fixture_stop(fx);
		assert_int_equal(access(fx->socket, F_OK), -1);
		assert_int_equal(fcntl(wrong, F_GETFD), -1);
	}
	fx->options.listener = 0;
}

/* Nor where another file has taken the socket's place: that is not ours to change. */
TEST(another_file_stays_as_it_is)
{
	struct broker_options options = fx->options;
	struct broker *broker;
	char *error = NULL;
	struct stat st;
	uv_loop_t loop;
	int fd;

	options.listener = listen_at(fx->socket, SOCK_SEQPACKET);
	assert_int_equal(unlink(fx->socket), 0);
	fd = open(fx->socket, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fchmod(fd, 0640), 0);
	close(fd);
	uv_loop_init(&loop);
	assert_int_equal(broker_new(&loop, &options, &broker, &error), -EEXIST);
	assert_non_null(strstr(error, fx->socket));
	free(error);
	assert_int_equal(stat(fx->socket, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fcntl(options.listener, F_GETFD), -1);
	assert_int_equal(uv_loop_close(&loop), 0);
	unlink(fx->socket);
}
