/* SPDX-License-Identifier: Apache-2.0 */
/* A loop of clients; see gateway_clients.h. */
#include "tests/bench/gateway_clients.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/response.h"
#include "writer/base/growing.h"

#define TAKE_MAX (256u * 1024u)
#define LINE_HEAD 1024u /* the RV stands before annotations, the first that may be long */
#define ASK_MAX 1024u

struct one {
	struct clients *clients;
	int fd; /* -1: closed */
	bool asked, watches;
	char *question;
	size_t line; /* bytes of it that came */
	char head[LINE_HEAD];
	struct response response;
};

struct clients {
	char url[128];
	int epoll;
	struct one **all;
	size_t length, room;
	struct bytes arrivals;
	struct clients_count count;
	int64_t now_us; /* when the bytes in hand had come */
	char taken[TAKE_MAX];
};

void
clients_raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool
address_of(const char *url, struct sockaddr_in *ret)
{
	char text[64];
	unsigned port;

	*ret = (struct sockaddr_in){.sin_family = AF_INET};
	if (sscanf(url, "http://%63[0-9.]:%u", text, &port) != 2 || port > 65535)
		return false;
	ret->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, text, &ret->sin_addr) == 1;
}

static void
make_question(char text[ASK_MAX], const char *path, const char *accept, bool gzip)
{
	snprintf(text, ASK_MAX, "GET %s HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\nAccept: %s\r\n%s\r\n",
		 path, accept, gzip ? "Accept-Encoding: gzip\r\n" : "");
}

struct clients *
clients_new(const char *url)
{
	struct clients *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	snprintf(c->url, sizeof(c->url), "%s", url);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0) {
		free(c);
		return NULL;
	}
	return c;
}

static void
close_one(struct one *one)
{
	if (one->fd >= 0)
		close(one->fd);
	one->fd = -1;
	free(one->question);
	one->question = NULL;
}

void
clients_free(struct clients *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->length; i++) {
		close_one(c->all[i]);
		free(c->all[i]);
	}
	free(c->all);
	free(c->arrivals.data);
	close(c->epoll);
	free(c);
}

/* Its place in the loop: nonblocking, and about to connect. */
static int
begin(struct clients *c, struct one *one)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = one};
	struct sockaddr_in address;

	if (!address_of(c->url, &address))
		return -EINVAL;
	one->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (one->fd < 0)
		return -errno;
	if (connect(one->fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS)
		return -errno;
	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, one->fd, &event) < 0 ? -errno : 0;
}

int
clients_add(struct clients *c, const char *path, const char *accept, bool gzip, bool watches)
{
	char question[ASK_MAX];
	struct one *one;
	int r;

	if (c->length == c->room) {
		size_t room = c->room ? c->room * 2 : 64;
		struct one **all = reallocarray(c->all, room, sizeof(struct one *));

		if (!all)
			return -ENOMEM;
		c->all = all;
		c->room = room;
	}
	make_question(question, path, accept, gzip);
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	*one = (struct one){.clients = c, .fd = -1, .watches = watches, .question = strdup(question)};
	r = one->question ? begin(c, one) : -ENOMEM;
	if (r < 0) {
		close_one(one);
		free(one);
		return r;
	}
	c->all[c->length++] = one;
	c->count.asked++;
	return 0;
}

/* ---- what comes ---- */

static void
line_is_whole(struct one *one)
{
	static const char name[] = "\"resourceVersion\":\"";
	size_t length = one->line < LINE_HEAD ? one->line : LINE_HEAD - 1;
	struct arrival arrival = {.us = one->clients->now_us};
	const char *at;

	one->line = 0;
	one->head[length] = '\0';
	at = strstr(one->head, name);
	if (at)
		arrival.rv = strtoull(at + sizeof(name) - 1, NULL, 10);
	if (bytes_append(&one->clients->arrivals, &arrival, sizeof(arrival)) < 0)
		abort();
}

static void
take_lines(void *ctx, const char *bytes, size_t length)
{
	struct one *one = ctx;

	while (length > 0) {
		const char *end = memchr(bytes, '\n', length);
		size_t n = end ? (size_t)(end - bytes) : length;

		if (one->line < LINE_HEAD)
			memcpy(one->head + one->line, bytes,
			       n < LINE_HEAD - one->line ? n : LINE_HEAD - one->line);
		one->line += n;
		if (!end)
			return;
		line_is_whole(one);
		bytes += n + 1;
		length -= n + 1;
	}
}

static void
fail(struct one *one)
{
	one->clients->count.failed++;
	close_one(one);
}

static void
take(struct one *one)
{
	struct clients *c = one->clients;
	unsigned status = one->response.status;
	uint64_t before = one->response.bytes;
	ssize_t n = recv(one->fd, c->taken, sizeof(c->taken), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->now_us = (int64_t)(wall_ns() / 1000);
	if (n <= 0 ||
	    response_take(&one->response, c->taken, (size_t)n, one->watches ? take_lines : NULL, one) < 0) {
		fail(one);
		return;
	}
	c->count.bytes += one->response.bytes - before;
	if (!status && one->response.status == 429) {
		c->count.refused++;
		close_one(one);
		return;
	}
	if (!status && one->response.status && one->response.status != 200) {
		fail(one);
		return;
	}
	if (!status && one->response.status)
		c->count.answered++;
	if (response_is_whole(&one->response)) {
		c->count.whole++;
		close_one(one);
	}
}

static void
ask(struct one *one)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
	size_t length = strlen(one->question);

	if (send(one->fd, one->question, length, MSG_NOSIGNAL) != (ssize_t)length) {
		fail(one);
		return;
	}
	one->asked = true;
	epoll_ctl(one->clients->epoll, EPOLL_CTL_MOD, one->fd, &event);
}

bool
clients_run(struct clients *c, uint64_t until_ns, bool (*done)(const struct clients *c, void *ctx), void *ctx)
{
	struct epoll_event events[64];

	for (;;) {
		uint64_t now = now_ns();
		int n;

		if (done && done(c, ctx))
			return true;
		if (now >= until_ns)
			return false;
		n = epoll_wait(c->epoll, events, 64, (int)((until_ns - now) / 1000000u) + 1);
		for (int i = 0; i < n; i++) {
			struct one *one = events[i].data.ptr;

			if (!one->asked)
				ask(one);
			else
				take(one);
		}
	}
}

struct clients_count
clients_count(const struct clients *c)
{
	return c->count;
}

const struct arrival *
clients_arrivals(const struct clients *c, size_t *ret_count)
{
	*ret_count = c->arrivals.length / sizeof(struct arrival);
	return (const struct arrival *)(const void *)c->arrivals.data;
}

/* ---- one at a time ---- */

int
client_connect(const char *url)
{
	struct sockaddr_in address;
	int fd;

	if (!address_of(url, &address))
		return -1;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int64_t
ask_once(int fd, const char *path, const char *accept, response_body *body, void *ctx)
{
	static char taken[TAKE_MAX];
	struct response r = {0};
	char question[ASK_MAX];

	make_question(question, path, accept, false);
	if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		return -errno;
	while (!response_is_whole(&r)) {
		ssize_t n = recv(fd, taken, sizeof(taken), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || response_take(&r, taken, (size_t)n, body, ctx) < 0)
			return -EPROTO;
	}
	return r.status == 200 ? (int64_t)r.bytes : -EREMOTEIO;
}

int64_t
client_ask(int fd, const char *path, const char *accept)
{
	return ask_once(fd, path, accept, NULL, NULL);
}

static void
keep(void *ctx, const char *bytes, size_t length)
{
	if (bytes_append(ctx, bytes, length) < 0)
		abort();
}

char *
client_get(const char *url, const char *path)
{
	struct bytes text = {0};
	int fd = client_connect(url);
	int64_t n = fd < 0 ? -1 : ask_once(fd, path, "*/*", keep, &text);

	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(text.data);
		return NULL;
	}
	keep(&text, "", 1);
	return (char *)text.data;
}
