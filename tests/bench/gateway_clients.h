/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many HTTP clients of one server on one loop, each with a connection and a request. A watching client splits
 * lines and records when each was complete at its socket. The others count bytes.
 */
#ifndef TESTS_BENCH_GATEWAY_CLIENTS_H
#define TESTS_BENCH_GATEWAY_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clients;

/* A line of a watch: the RV of its object, and when it was complete, µs since 1970. */
struct arrival {
	uint64_t rv;
	int64_t us;
};

/*
 * asked     since the beginning, including those answered 429
 * answered  got 200
 * whole     of these, finished answers: complete lists, watches that were ended
 * refused   got 429
 * failed    got another answer, or their connection broke
 */
struct clients_count {
	unsigned asked, answered, whole, refused, failed;
};

/* url: http://ADDRESS:PORT. */
struct clients *clients_new(const char *url);
/* Closes all connections. */
void clients_free(struct clients *c);

/* Add a client that asks for a path. clients_run() takes its answer. */
void clients_add(struct clients *c, const char *path, const char *accept, bool gzip, bool watches);

/* Run until then (CLOCK_MONOTONIC), or until done says so. Returns what done said. */
bool clients_run(struct clients *c, uint64_t until_ns, bool (*done)(const struct clients *c, void *ctx),
		 void *ctx);

struct clients_count clients_count(const struct clients *c);
/* All lines in order of arrival. */
const struct arrival *clients_arrivals(const struct clients *c, size_t *ret_count);
/* Let this process and its children have as many descriptors as they may. */
void clients_raise_limits(void);

/* A blocking connection, for one question asked many times. */
int client_connect(const char *url);
/* Ask and read the answer, which must be 200. */
void client_ask(int fd, const char *path, const char *accept);

#endif
