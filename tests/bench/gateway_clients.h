/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many HTTP clients of one server on one loop: each a connection and a question. Those that watch take lines
 * apart and note when each was whole at their socket; the others take bytes and count them.
 */
#ifndef TESTS_BENCH_GATEWAY_CLIENTS_H
#define TESTS_BENCH_GATEWAY_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clients;

/* A line of a watch: the RV of its object, and when it had come, µs since 1970. */
struct arrival {
	uint64_t rv;
	int64_t us;
};

/*
 * asked     since the beginning, those that were told 429 with them
 * answered  were told 200
 * whole     of these, how many answers are over: lists that are there, watches that were ended
 * refused   were told 429
 * failed    were told something else, or their connection broke
 */
struct clients_count {
	unsigned asked, answered, whole, refused, failed;
};

/* url: http://ADDRESS:PORT. */
struct clients *clients_new(const char *url);
/* Closes all connections. */
void clients_free(struct clients *c);

/* One that asks for a path; its answer is taken in clients_run(). */
void clients_add(struct clients *c, const char *path, const char *accept, bool gzip, bool watches);

/* Go on until then (CLOCK_MONOTONIC), or until done says so. Returns whether it did. */
bool clients_run(struct clients *c, uint64_t until_ns, bool (*done)(const struct clients *c, void *ctx),
		 void *ctx);

struct clients_count clients_count(const struct clients *c);
/* All lines that came, in the order in which they came. */
const struct arrival *clients_arrivals(const struct clients *c, size_t *ret_count);
/* Let this process and those that it starts have as many descriptors as they may. */
void clients_raise_limits(void);

/* A blocking connection, for the same question many times. */
int client_connect(const char *url);
/* Ask and read the answer, which has to be 200. */
void client_ask(int fd, const char *path, const char *accept);

#endif
