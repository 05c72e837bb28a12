/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader without the library: what goes over the broker's socket, by hand.
 */
#ifndef TESTS_SUPPORT_RAW_READER_H
#define TESTS_SUPPORT_RAW_READER_H

#include <sys/types.h>

#include "shm-layout/protocol.h"
#include "shm-layout/queue.h"
#include "tests/support/broker_fixture.h"

struct raw_answer {
	ssize_t length;
	int fds[4];
	unsigned fd_count;
	union {
		struct message_head head;
		struct message_welcome welcome;
		struct message_refused refused;
		struct message_subscribed subscribed;
		struct message_unsubscribed unsubscribed;
		char bytes[PROTOCOL_PACKET_MAX];
	} u;
};

int raw_connect(struct broker_fixture *fx);
/* The same, with a socket that was made before. */
void raw_connect_with(struct broker_fixture *fx, int fd);
/*
 * As another user, who gets to the socket; of this thread alone, for a moment. Needs root: skips the test
 * without.
 */
int raw_connect_as(struct broker_fixture *fx, uid_t uid);
void raw_hello(int fd, uint32_t flags);
/* The next packet; length 0 at hang-up. Fails after 10 s. */
void raw_hear(int fd, struct raw_answer *a);
/* Connect, greet, be welcomed. */
void raw_attach(struct broker_fixture *fx, int *ret_fd, struct raw_answer *a, uint32_t flags);
void raw_close(struct raw_answer *a);
/* Attach, and leave. */
void raw_visit(struct broker_fixture *fx);
/* The next packet is a refusal with this in its sentence, then comes the hang-up. */
void raw_is_refused(int fd, enum refusal code, const char *part);

/* Ask for a queue; NULL for none, all. */
void raw_subscribe(int fd, uint32_t number, const char *resource, const char *ns, const char *consumer);

/* Connect as another user, greet, and take the answer. */
int raw_greet_as(struct broker_fixture *fx, uid_t uid, struct raw_answer *a);

/* For cmocka's: a test of a broker that runs, and of one that the test starts. */
#define RUNNING(name)                                                                                        \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up_running, broker_fixture_tear_down, name)
#define STARTED_BY_TEST(name)                                                                                \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* An attached reader with its slot, and one queue after the other. */
struct raw_reader {
	int fd, eventfd;
	struct slot *slot;
	struct raw_answer answer;	/* to what was asked last */
};
struct raw_reader *raw_reader_new(struct broker_fixture *fx);
struct raw_reader *raw_reader_as(struct broker_fixture *fx, uid_t uid);
void raw_reader_free(struct raw_reader *r);
/* Subscribe and map the queue. Fails when it is refused. */
const struct queue *raw_reader_subscribe(struct raw_reader *r, uint32_t number, const char *resource,
					 const char *ns, const char *consumer);
void raw_unmap_queue(const struct queue *q);
/* Ask for the queue that the rest of `wish` says, and take the answer, without the queue. */
void raw_reader_wish(struct raw_reader *r, struct message_subscribe *wish);
/* Whether its event descriptor was signalled since the last look. */
bool raw_reader_was_woken(const struct raw_reader *r);
/* Subscribe, and be told why not. */
void raw_reader_is_refused(struct raw_reader *r, uint32_t number, const char *resource, const char *consumer,
			   enum refusal code, const char *part);

#endif
