/* SPDX-License-Identifier: Apache-2.0 */
/* A reader without the library: packets on the broker's socket. */
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
/* The same, with an existing socket. */
void raw_connect_with(struct broker_fixture *fx, int fd);
/* Connect as another user, greet, and read the answer. */
int raw_connect_as(struct broker_fixture *fx, uid_t uid);
void raw_hello(int fd, uint32_t flags);
/* Read the next packet; length 0 at a hang-up. Fails after 60 s. */
void raw_hear(int fd, struct raw_answer *a);
/* Connect, greet, and be welcomed. */
void raw_attach(struct broker_fixture *fx, int *ret_fd, struct raw_answer *a, uint32_t flags);
void raw_close(struct raw_answer *a);
/* Attach, and disconnect. */
void raw_visit(struct broker_fixture *fx);
/* The next packet must be a refusal with this part in its text, followed by a hang-up. */
void raw_is_refused(int fd, enum refusal code, const char *part);

/* Ask for a queue. ns NULL: all; consumer NULL: none. */
void raw_subscribe(int fd, uint32_t number, const char *resource, const char *ns, const char *consumer);

/* Connect as another user, greet, and read the answer. */
int raw_greet_as(struct broker_fixture *fx, uid_t uid, struct raw_answer *a);

/* A test of a running broker, and one of a broker that the test starts. */
#define RUNNING(name)                                                                                        \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up_running, broker_fixture_tear_down, name)
#define STARTED_BY_TEST(name)                                                                                \
	TEST_CASE_OF(struct broker_fixture *fx, broker_fixture_set_up, broker_fixture_tear_down, name)

/* An attached reader with its slot, and one queue at a time. */
struct raw_reader {
	int fd, eventfd;
	struct slot *slot;
	struct raw_answer answer;	/* to the last request */
};
struct raw_reader *raw_reader_new(struct broker_fixture *fx);
struct raw_reader *raw_reader_as(struct broker_fixture *fx, uid_t uid);
void raw_reader_free(struct raw_reader *r);
/* Subscribe and map the queue. A refusal fails the test. */
const struct queue *raw_reader_subscribe(struct raw_reader *r, uint32_t number, const char *resource,
					 const char *ns, const char *consumer);
void raw_unmap_queue(const struct queue *q);
/* Ask for the queue described by `wish`, and read the answer without the queue. */
void raw_reader_wish(struct raw_reader *r, struct message_subscribe *wish);
/* True if the event descriptor was signalled since the last call. */
bool raw_reader_was_woken(const struct raw_reader *r);
/* Subscribe; the answer must be a refusal with this code and part of a text. */
void raw_reader_is_refused(struct raw_reader *r, uint32_t number, const char *resource, const char *consumer,
			   enum refusal code, const char *part);

#endif
