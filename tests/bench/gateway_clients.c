/* SPDX-License-Identifier: Apache-2.0 */
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
#include "writer/base/growing.h"

#define TAKE_MAX (256u * 1024u)
#define LINE_HEAD 1024u /* the RV is before annotations, the first member that may be long */
#define ASK_MAX 1024u

/*
 * One HTTP/1.1 response as it arrives: its head, then its body, by length or in chunks. Zeroed, it waits for
 * its first byte. Bytes after it are not read: no client sends a request before the last answer.
 */
enum response_at {
	RESPONSE_HEAD,
	RESPONSE_BODY,
	RESPONSE_SIZE,
	RESPONSE_CHUNK,
	RESPONSE_TRAILER,
	RESPONSE_END
};

struct response {
	enum response_at at;
	unsigned status; /* 0: the head is incomplete */
	uint64_t left;   /* of the body, or of the chunk */
	size_t length;   /* of the text: the head, or a chunk's line */
	char text[1024];
};

typedef void response_body(void *ctx, const char *bytes, size_t length);

struct one {
	struct clients *clients;
	int fd; /* -1: closed */
	bool asked, watches;
	char *question;
	size_t line; /* bytes of it received */
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
	int64_t now_us; /* when the bytes in hand were received */
	char taken[TAKE_MAX];
};

/* ---- responses ---- */

static int
read_head(struct response *r)
{
	const char *length = strcasestr(r->text, "\r\ncontent-length:");

	if (strncmp(r->text, "HTTP/1.1 ", 9) != 0)
		return -EPROTO;
	r->status = (unsigned)strtoul(r->text + 9, NULL, 10);
	r->length = 0;
	if (strcasestr(r->text, "\r\ntransfer-encoding: chunked")) {
		r->at = RESPONSE_SIZE;
		return 0;
	}
	if (!length)
		return -EPROTO;
	r->left = strtoull(strchr(length + 2, ':') + 1, NULL, 10);
	r->at = r->left > 0 ? RESPONSE_BODY : RESPONSE_END;
	return 0;
}

/* A chunk's size. Before every chunk but the first, it ends the previous one's line. */
static int
read_size(struct response *r)
{
	const char *digits = r->text[0] == '\r' ? r->text + 2 : r->text;
	char *end;

	r->left = strtoull(digits, &end, 16);
	if (end == digits)
		return -EPROTO;
	r->length = 0;
	r->at = r->left > 0 ? RESPONSE_CHUNK : RESPONSE_TRAILER;
	return 0;
}

/* After the last chunk: lines, up to an empty one. */
static void
read_trailer(struct response *r)
{
	if (r->length == 2)
		r->at = RESPONSE_END;
	r->length = 0;
}

/* One more byte of the head, or of the line before a chunk. */
static int
take_text(struct response *r, char c)
{
	if (r->length + 1 == sizeof(r->text))
		return -EPROTO;
	r->text[r->length++] = c;
	r->text[r->length] = '\0';
	if (c != '\n')
		return 0;
	if (r->at == RESPONSE_HEAD)
		return r->length >= 4 && memcmp(r->text + r->length - 4, "\r\n\r\n", 4) == 0 ? read_head(r)
											     : 0;
	if (r->at == RESPONSE_TRAILER)
		read_trailer(r);
	else if (r->length > 2)
		return read_size(r);
	return 0;
}

/* Take received bytes; body may be NULL. Returns 0, or -EPROTO for an unknown form. */
static int
response_take(struct response *r, const char *bytes, size_t length, response_body *body, void *ctx)
{
	int error = 0;

	while (error == 0 && length > 0 && r->at != RESPONSE_END) {
		size_t n = 1;

		if (r->at == RESPONSE_BODY || r->at == RESPONSE_CHUNK) {
			n = length < r->left ? length : (size_t)r->left;
			r->left -= n;
			if (body)
				body(ctx, bytes, n);
			if (r->left == 0)
				r->at = r->at == RESPONSE_BODY ? RESPONSE_END : RESPONSE_SIZE;
		} else {
			error = take_text(r, *bytes);
		}
		bytes += n;
		length -= n;
	}
	return error;
}

/* ---- clients ---- */

void
clients_raise_limits(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Return a socket whose connection has begun, or, if blocking, is established. */
static int
connect_to(const char *url, int flags)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	char text[64];
	unsigned port;

	if (sscanf(url, "http://%63[0-9.]:%u", text, &port) != 2 ||
	    inet_pton(AF_INET, text, &address.sin_addr) != 1)
		bench_fail("%s: no address", url);
	address.sin_port = htons((uint16_t)port);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS))
		bench_need(-errno, url);
	return fd;
}

static void
make_question(char text[ASK_MAX], const char *path, const char *accept, bool gzip)
{
	snprintf(text, ASK_MAX,
		 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: %s\r\n%s\r\n", path,
		 accept, gzip ? "Accept-Encoding: gzip\r\n" : "");
}

struct clients *
clients_new(const char *url)
{
	struct clients *c = bench_alloc(1, sizeof(*c));

	snprintf(c->url, sizeof(c->url), "%s", url);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		bench_need(-errno, "epoll");
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
	for (size_t i = 0; i < c->length; i++) {
		close_one(c->all[i]);
		free(c->all[i]);
	}
	free(c->all);
	free(c->arrivals.data);
	close(c->epoll);
	free(c);
}

void
clients_add(struct clients *c, const char *path, const char *accept, bool gzip, bool watches)
{
	struct one *one = bench_alloc(1, sizeof(*one));
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = one};
	char question[ASK_MAX];

	if (c->length == c->room) {
		c->room = c->room ? c->room * 2 : 64;
		c->all = reallocarray(c->all, c->room, sizeof(struct one *));
		if (!c->all)
			abort();
	}
	make_question(question, path, accept, gzip);
	one->clients = c;
	one->watches = watches;
	one->question = strdup(question);
	one->fd = connect_to(c->url, SOCK_NONBLOCK);
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, one->fd, &event) < 0)
		bench_need(-errno, "epoll");
	c->all[c->length++] = one;
	c->count.asked++;
}

/* ---- answers ---- */

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
	ssize_t n = recv(one->fd, c->taken, sizeof(c->taken), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->now_us = (int64_t)(wall_ns() / 1000);
	if (n <= 0 ||
	    response_take(&one->response, c->taken, (size_t)n, one->watches ? take_lines : NULL, one) < 0) {
		fail(one);
		return;
	}
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
	if (one->response.at == RESPONSE_END) {
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

/* ---- one client ---- */

int
client_connect(const char *url)
{
	return connect_to(url, 0);
}

void
client_ask(int fd, const char *path, const char *accept)
{
	static char taken[TAKE_MAX];
	struct response r = {0};
	char question[ASK_MAX];

	make_question(question, path, accept, false);
	if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		bench_need(-errno, path);
	while (r.at != RESPONSE_END) {
		ssize_t n = recv(fd, taken, sizeof(taken), 0);

		if (n <= 0 || response_take(&r, taken, (size_t)n, NULL, NULL) < 0)
			bench_fail("%s: no answer", path);
	}
	if (r.status != 200)
		bench_fail("%s: status %u", path, r.status);
}
