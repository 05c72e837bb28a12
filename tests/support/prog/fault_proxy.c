/*
 * fault_proxy LOG [TOKEN]: stands between a client and an API server, by TLS on the client's side (HTTP/1.1), and lets go wrong what standard
 * input says. On its first line of output it is "READY port=PORT"; to LOG goes what happened, a line each, in its order:
 *
 *	MS #CONNECTION ASKED VERB PATH		VERB: LIST, PAGE (a later page), PROBE (is this RV known?), WATCH, WATCHLIST, OTHER
 *	MS #CONNECTION ANSWERED VERB CODE
 *	MS #CONNECTION SYNCED WATCHLIST		its end mark; from here on it is a WATCH
 *	MS #CONNECTION ERROR VERB CODE LINES	within a stream, the server's or ours, behind so many other lines
 *	MS #CONNECTION ENDED VERB HOW LINES	whole, cut, truncated, invalid, client: the client went first
 *	MS NOTE ...
 *
 * What may be said:
 *
 *	upstream PORT [tls]	the server from now on
 *	certificates DIR	from now on these (server.crt, server.key), and clients need one by DIR/ca.crt, else 401
 *	note TEXT
 *	refuse MS		nobody can connect for a while
 *	answer CODE MS [VERB]	instead of the server, for a while
 *	slow MS			bytes come in drops, for a while
 *	freeze MS		nothing comes, for a while
 *	cut | mid-frame | truncate | invalid | error CODE
 *				happens to each open stream: at once; within the next frame; the next frame ends half, the stream in good
 *				order; a frame that is no JSON; an ERROR event that ends it
 *	list N AFTER WHAT...	happens to the next N LISTs or WatchLists behind AFTER bytes: one of the line above, or answer CODE
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/duplex.h"

#define HEAD_MAX  16384
#define LINE_HEAD 2048

enum kind { NOTHING, CUT, MID_FRAME, TRUNCATE, INVALID, ERROR_EVENT, ANSWER };

struct fault {
	enum kind kind;
	unsigned code;
	unsigned long after; /* bytes of the answer */
};

static FILE *record;
static const char *token;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over what follows, and the record */
static unsigned upstream_port;
static bool upstream_tls;
static gnutls_certificate_credentials_t server_credentials, client_credentials; /* old ones stay: somebody may use them */
static struct fault strike, on_list;
static unsigned strikes, lists_left;
static struct fault instead; /* while instead_until */
static char instead_verb[16];
static uint64_t instead_until;

static _Atomic uint64_t slow_until, frozen_until, refuse_until;

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

static void __attribute__((format(printf, 1, 2)))
say(const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	fprintf(record, "%llu ", (unsigned long long)now_ms());
	va_start(args, format);
	vfprintf(record, format, args);
	va_end(args);
	fputc('\n', record);
	fflush(record);
	pthread_mutex_unlock(&lock);
}

/* ---- a connection ---- */

struct connection {
	unsigned number;
	struct duplex client, server;
	unsigned server_port;
	const char *verb;
	bool chunked;		/* the answer is */
	bool sized;		/* its length is known: */
	uint64_t left;
	bool last_seen;		/* the chunk that ends it */
	unsigned struck;	/* strikes seen */
	struct fault fault;	/* that waits for its moment */
	uint64_t fault_ms;	/* since then */
	uint64_t bytes;		/* of the answer's body, so far */
	char line[LINE_HEAD];	/* the beginning of the line that is under way */
	size_t line_length;	/* of the whole line */
	unsigned lines;		/* of the stream, so far, but for errors */
};

static void
end(const struct connection *c, const char *how)
{
	say("#%u ENDED %s %s %u", c->number, c->verb, how, c->lines);
}

/* To the client, as the weather allows. */
static bool
send_down(struct connection *c, const void *data, size_t length)
{
	const char *at = data;

	while (length > 0) {
		bool slow;
		size_t n;

		while (atomic_load(&frozen_until) > now_ms())
			sleep_ms(5);
		slow = atomic_load(&slow_until) > now_ms();
		n = slow && length > 16 ? 16 : length;
		if (slow)
			sleep_ms(1);
		if (!duplex_write(&c->client, at, n))
			return false;
		at += n;
		length -= n;
	}
	return true;
}

static bool
send_text(struct connection *c, const char *text)
{
	return send_down(c, text, strlen(text));
}

static bool
send_piece(struct connection *c, const void *data, size_t length)
{
	char size[24];

	if (length == 0)
		return true;
	if (!c->chunked)
		return send_down(c, data, length);
	snprintf(size, sizeof(size), "%zx\r\n", length);
	return send_text(c, size) && send_down(c, data, length) && send_text(c, "\r\n");
}

static const char *
reason_of(unsigned code)
{
	return code == 410 ? "Expired" : code == 429 ? "TooManyRequests" : code == 401 ? "Unauthorized" : code == 504 ? "Timeout" :
	       code == 503 ? "ServiceUnavailable" : "InternalError";
}

static void
status_text(char *text, size_t size, unsigned code)
{
	snprintf(text, size,
		 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"injected %u\","
		 "\"reason\":\"%s\",\"code\":%u}", code, reason_of(code), code);
}

static bool
answer_instead(struct connection *c, unsigned code)
{
	char body[256], head[512];

	status_text(body, sizeof(body), code);
	snprintf(head, sizeof(head), "HTTP/1.1 %u Fault\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n", code,
		 code == 429 ? "Retry-After: 1\r\n" : "", strlen(body));
	say("#%u ANSWERED %s %u", c->number, c->verb, code);
	return send_text(c, head) && send_text(c, body);
}

/* ---- requests ---- */

static const char *
verb_of(const char *path)
{
	if (strncmp(path, "/api/v1/pods?", 13) != 0 && strcmp(path, "/api/v1/pods") != 0)
		return "OTHER";
	if (strstr(path, "sendInitialEvents=true"))
		return "WATCHLIST";
	if (strstr(path, "watch=true"))
		return "WATCH";
	if (strstr(path, "continue="))
		return "PAGE";
	return strstr(path, "resourceVersionMatch=NotOlderThan") && strstr(path, "limit=1&") ? "PROBE" : "LIST";
}

static bool
makes_whole(const char *verb)
{
	return strcmp(verb, "LIST") == 0 || strcmp(verb, "PAGE") == 0 || strcmp(verb, "WATCHLIST") == 0;
}

/* What goes wrong with this request from its beginning; the code to answer with, or 0. */
static unsigned
meet_fault(struct connection *c)
{
	unsigned code = 0;

	pthread_mutex_lock(&lock);
	c->fault = (struct fault){NOTHING, 0, 0};
	c->struck = strikes;
	if (instead_until > now_ms() && (!*instead_verb || strcmp(instead_verb, c->verb) == 0))
		code = instead.code;
	if (code == 0 && lists_left > 0 && makes_whole(c->verb)) {
		lists_left--;
		c->fault = on_list;
		c->fault_ms = now_ms();
		if (on_list.kind == ANSWER)
			code = on_list.code;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

static bool
reach_server(struct connection *c)
{
	unsigned port;
	bool tls;
	int fd;

	pthread_mutex_lock(&lock);
	port = upstream_port;
	tls = upstream_tls;
	pthread_mutex_unlock(&lock);
	if (c->server.fd >= 0 && c->server_port == port && !(duplex_wait(&c->server, &c->server, 0)))
		return true;
	duplex_end(&c->server, false);
	c->server_port = port;
	fd = duplex_connect(port);
	return fd >= 0 && duplex_begin(&c->server, fd, tls ? client_credentials : NULL, false);
}

/* Pass the request on, and take the head of its answer. Returns its code; 0: there is no answer. */
static unsigned
ask_server(struct connection *c, const char *request, char *head, size_t size)
{
	size_t length = 0;
	unsigned code;
	char line[4096];

	if (!reach_server(c) || !duplex_write(&c->server, request, strlen(request)))
		return 0;
	c->chunked = c->sized = c->last_seen = false;
	do {
		/* the client may lose patience meanwhile */
		while (duplex_wait(&c->client, &c->server, 100) == 1)
			if (!duplex_fill(&c->client))
				return 0;
		if (!duplex_line(&c->server, line, sizeof(line)) || length + strlen(line) >= size)
			return 0;
		if (strncasecmp(line, "Content-Length:", 15) == 0) {
			c->sized = true;
			c->left = strtoull(line + 15, NULL, 10);
		} else if (strncasecmp(line, "Transfer-Encoding:", 18) == 0 && strstr(line, "chunked")) {
			c->chunked = true;
		}
		memcpy(head + length, line, strlen(line) + 1);
		length += strlen(line);
	} while (strcmp(line, "\r\n") != 0);
	return sscanf(head, "HTTP/1.1 %u", &code) == 1 ? code : 0;
}

/* ---- answers ---- */

/* The next piece of the answer, which lies in the server's buffer. 1; 0: it was whole; -1: it broke off. */
static int
next_piece(struct connection *c, const char **ret_data, size_t *ret_length)
{
	struct duplex *s = &c->server;
	char line[64];
	size_t n;

	if (c->chunked && c->left == 0) {
		if (!duplex_line(s, line, sizeof(line)))
			return -1;
		if (strcmp(line, "\r\n") == 0 && !duplex_line(s, line, sizeof(line)))
			return -1;
		c->left = strtoull(line, NULL, 16);
		if (c->left == 0) {
			c->last_seen = true;
			return duplex_line(s, line, sizeof(line)) ? 0 : -1;
		}
	}
	if (c->sized && c->left == 0)
		return 0;
	if (s->begin == s->end && !duplex_fill(s))
		return c->chunked || c->sized ? -1 : 0;
	n = s->end - s->begin;
	if ((c->chunked || c->sized) && n > c->left)
		n = (size_t)c->left;
	*ret_data = s->buffer + s->begin;
	*ret_length = n;
	s->begin += n;
	c->left -= c->chunked || c->sized ? n : 0;
	return 1;
}

/* What a line of a stream says, before it is passed on. */
static void
read_line(struct connection *c)
{
	const char *code;

	c->line[c->line_length < LINE_HEAD ? c->line_length : LINE_HEAD - 1] = '\0';
	c->line_length = 0;
	if (strncmp(c->line, "{\"type\":\"ERROR\"", 15) == 0) {
		code = strstr(c->line, "\"code\":");
		say("#%u ERROR %s %lu %u", c->number, c->verb, code ? strtoul(code + 7, NULL, 10) : 0, c->lines);
	} else if (strcmp(c->verb, "WATCHLIST") == 0 && strncmp(c->line, "{\"type\":\"BOOKMARK\"", 18) == 0 &&
		   strstr(c->line, "k8s.io/initial-events-end")) {
		say("#%u SYNCED %s", c->number, c->verb);
		c->verb = "WATCH";
	} else {
		c->lines++;
	}
}

static void
read_lines(struct connection *c, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (c->line_length < LINE_HEAD)
			c->line[c->line_length] = data[i];
		c->line_length++;
		if (data[i] == '\n')
			read_line(c);
	}
}

static bool
is_stream(const struct connection *c)
{
	return strncmp(c->verb, "WATCH", 5) == 0;
}

/* A fault whose moment is now, between two pieces; data: the next one, or NULL. True: the answer has ended by it. */
static bool
strike_now(struct connection *c, const char *data, size_t length)
{
	enum kind kind = c->fault.kind;
	static const char garbage[] = "{\"type\":\"MODIFIED\",\"object\":{\x01}\n";
	char event[512], status[384];
	const char *newline;
	size_t part;

	if (kind == NOTHING || c->bytes + length < c->fault.after)
		return false;
	/* within a frame there has to be one; what is quiet is not waited for */
	if (kind != CUT && !data) {
		if (now_ms() - c->fault_ms < 1000)
			return false;
		kind = CUT;
	}
	switch (kind) {
	case MID_FRAME:
		end(c, "cut");
		if (c->chunked) {
			snprintf(event, sizeof(event), "%zx\r\n", length);
			send_text(c, event);
		}
		send_down(c, data, length / 2);
		break;
	case TRUNCATE:
		end(c, "truncated");
		send_piece(c, data, length / 2);
		if (c->chunked)
			send_text(c, "0\r\n\r\n");
		break;
	case INVALID:
	case ERROR_EVENT:
		/* up to the line's end what was meant */
		newline = c->line_length > 0 ? memchr(data, '\n', length) : NULL;
		part = newline ? (size_t)(newline + 1 - data) : 0;
		if (c->line_length > 0 && !newline)
			return false;
		read_lines(c, data, part);
		send_piece(c, data, part);
		status_text(status, sizeof(status), c->fault.code);
		if (kind == INVALID || !is_stream(c)) {
			end(c, "invalid");
			send_piece(c, garbage, strlen(garbage));
		} else {
			say("#%u ERROR %s %u %u", c->number, c->verb, c->fault.code, c->lines);
			snprintf(event, sizeof(event), "{\"type\":\"ERROR\",\"object\":%s}\n", status);
			send_piece(c, event, strlen(event));
		}
		if (c->chunked)
			send_text(c, "0\r\n\r\n");
		break;
	default:
		end(c, "cut");
	}
	return true;
}

static void
look_for_strike(struct connection *c)
{
	pthread_mutex_lock(&lock);
	if (c->struck != strikes) {
		c->struck = strikes;
		c->fault = strike;
		c->fault_ms = now_ms();
	}
	pthread_mutex_unlock(&lock);
}

/* Pass the body on. True: the connection may be used again. */
static bool
relay(struct connection *c)
{
	const char *data;
	size_t length;
	unsigned ready;
	int r;

	c->bytes = c->line_length = 0;
	if (c->chunked)
		c->left = 0;
	for (;;) {
		ready = c->sized && c->left == 0 ? 2 : duplex_wait(&c->client, &c->server, 20);
		look_for_strike(c);
		if ((ready & 1) && !duplex_fill(&c->client)) {
			end(c, "client");
			return false;
		}
		if (!(ready & 2)) {
			if (strike_now(c, NULL, 0))
				return false;
			continue;
		}
		data = NULL;
		length = 0;
		r = next_piece(c, &data, &length);
		if (r <= 0) {
			end(c, r == 0 ? "whole" : "cut");
			return r == 0 && (!c->chunked || send_text(c, "0\r\n\r\n")) && (c->chunked || c->sized);
		}
		if (strike_now(c, data, length))
			return false;
		if (is_stream(c))
			read_lines(c, data, length);
		if (!send_piece(c, data, length)) {
			end(c, "client");
			return false;
		}
		c->bytes += length;
	}
}

/* One request. True: the connection may be used again. */
static bool
serve_request(struct connection *c)
{
	char head[HEAD_MAX], line[4096], request[HEAD_MAX], path[4096];
	size_t length = 0;
	unsigned code;

	if (!duplex_line(&c->client, line, sizeof(line)) || sscanf(line, "GET %4095s", path) != 1)
		return false;
	do {
		if (strncasecmp(line, "Authorization:", 14) != 0) {
			if (length + strlen(line) + 256 > sizeof(request))
				return false;
			memcpy(request + length, line, strlen(line) + 1);
			length += strlen(line);
		}
		if (!duplex_line(&c->client, line, sizeof(line)))
			return false;
	} while (strcmp(line, "\r\n") != 0);
	snprintf(request + length, sizeof(request) - length, "%s%s%s\r\n", token ? "Authorization: Bearer " : "", token ? token : "",
		 token ? "\r\n" : "");
	c->verb = verb_of(path);
	c->lines = 0;
	say("#%u ASKED %s %s", c->number, c->verb, path);
	if (!duplex_is_trusted(&c->client))
		return answer_instead(c, 401);
	code = meet_fault(c);
	if (code > 0)
		return answer_instead(c, code);
	code = ask_server(c, request, head, sizeof(head));
	if (code == 0) {
		end(c, "cut");
		return false;
	}
	say("#%u ANSWERED %s %u", c->number, c->verb, code);
	if (code != 200)
		c->fault.kind = NOTHING;
	return send_text(c, head) && relay(c);
}

static void *
serve(void *context)
{
	struct connection *c = context;
	gnutls_certificate_credentials_t credentials;

	pthread_mutex_lock(&lock);
	credentials = server_credentials;
	pthread_mutex_unlock(&lock);
	c->server.fd = -1;
	if (duplex_begin(&c->client, c->client.fd, credentials, true)) {
		while (serve_request(c))
			;
		/* every other one goes without a goodbye */
		duplex_end(&c->client, c->number % 2);
	}
	duplex_end(&c->server, false);
	free(c);
	return NULL;
}

/* ---- listening ---- */

/* A socket on the port; one that is bound and does not listen keeps it for us while nobody can connect. */
static int
bind_to(unsigned *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 || bind(fd, (struct sockaddr *)&address, length) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
		perror("fault_proxy: socket");
		exit(1);
	}
	*port = ntohs(address.sin_port);
	return fd;
}

static void
take_in(int fd)
{
	static unsigned numbers;
	struct connection *c = calloc(1, sizeof(*c));
	pthread_attr_t attributes;
	pthread_t thread;

	if (!c) {
		close(fd);
		return;
	}
	c->client.fd = fd;
	c->number = ++numbers;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, serve, c) != 0) {
		close(fd);
		free(c);
	}
	pthread_attr_destroy(&attributes);
}

static void *
listen_always(void *context)
{
	unsigned port = *(unsigned *)context;

	for (;;) {
		struct duplex door = {.fd = bind_to(&port)};
		int fd;

		if (listen(door.fd, 64) < 0)
			exit(1);
		while (atomic_load(&refuse_until) <= now_ms())
			if (duplex_wait(&door, &door, 20) && (fd = accept4(door.fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
				take_in(fd);
		close(door.fd);
		while (atomic_load(&refuse_until) > now_ms())
			sleep_ms(5);
	}
	return NULL;
}

/* ---- orders ---- */

static bool
read_fault(const char *text, struct fault *ret)
{
	static const char *const words[] = {[CUT] = "cut", [MID_FRAME] = "mid-frame", [TRUNCATE] = "truncate", [INVALID] = "invalid",
					    [ERROR_EVENT] = "error", [ANSWER] = "answer"};
	char word[32] = "";

	*ret = (struct fault){NOTHING, 0, 0};
	sscanf(text, "%31s %u", word, &ret->code);
	for (unsigned i = CUT; i <= ANSWER; i++)
		if (strcmp(word, words[i]) == 0)
			ret->kind = i;
	return ret->kind != NOTHING;
}

static void
use_certificates(const char *dir)
{
	gnutls_certificate_credentials_t fresh;
	char cert[512], key[512], ca[512];

	snprintf(cert, sizeof(cert), "%s/server.crt", dir);
	snprintf(key, sizeof(key), "%s/server.key", dir);
	snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
	if (gnutls_certificate_allocate_credentials(&fresh) < 0 ||
	    gnutls_certificate_set_x509_key_file(fresh, cert, key, GNUTLS_X509_FMT_PEM) < 0 ||
	    gnutls_certificate_set_x509_trust_file(fresh, ca, GNUTLS_X509_FMT_PEM) <= 0) {
		fprintf(stderr, "fault_proxy: no certificates in %s\n", dir);
		exit(1);
	}
	pthread_mutex_lock(&lock);
	server_credentials = fresh;
	pthread_mutex_unlock(&lock);
}

static void
use_upstream(const char *order)
{
	char tls[8] = "";

	pthread_mutex_lock(&lock);
	sscanf(order, "upstream %u %7s", &upstream_port, tls);
	upstream_tls = *tls;
	pthread_mutex_unlock(&lock);
}

static bool
obey(const char *order)
{
	unsigned n = 0, code = 0;
	unsigned long after = 0;
	char verb[16] = "";
	struct fault fault;
	int at = 0;

	if (strncmp(order, "note ", 5) == 0) {
		say("NOTE %s", order + 5);
	} else if (strncmp(order, "certificates ", 13) == 0) {
		use_certificates(order + 13);
	} else if (strncmp(order, "upstream ", 9) == 0) {
		use_upstream(order);
	} else if (sscanf(order, "refuse %u", &n) == 1) {
		atomic_store(&refuse_until, now_ms() + n);
	} else if (sscanf(order, "slow %u", &n) == 1) {
		atomic_store(&slow_until, now_ms() + n);
	} else if (sscanf(order, "freeze %u", &n) == 1) {
		atomic_store(&frozen_until, now_ms() + n);
	} else if (sscanf(order, "answer %u %u %15s", &code, &n, verb) >= 2) {
		pthread_mutex_lock(&lock);
		instead.code = code;
		instead_until = now_ms() + n;
		snprintf(instead_verb, sizeof(instead_verb), "%s", verb);
		pthread_mutex_unlock(&lock);
	} else if (sscanf(order, "list %u %lu %n", &n, &after, &at) == 2 && at > 0 && read_fault(order + at, &fault)) {
		fault.after = after;
		pthread_mutex_lock(&lock);
		on_list = fault;
		lists_left = n;
		pthread_mutex_unlock(&lock);
	} else if (read_fault(order, &fault) && fault.kind != ANSWER) {
		pthread_mutex_lock(&lock);
		strike = fault;
		strikes++;
		pthread_mutex_unlock(&lock);
	} else {
		return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	char order[512];
	unsigned port = 0;
	pthread_t thread;

	if (argc != 2 && argc != 3)
		return 2;
	record = fopen(argv[1], "ae");
	token = argv[2];
	if (!record || gnutls_certificate_allocate_credentials(&client_credentials) < 0)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	bind_to(&port);
	if (pthread_create(&thread, NULL, listen_always, &port) != 0)
		return 1;
	printf("READY port=%u\n", port);
	fflush(stdout);
	while (fgets(order, sizeof(order), stdin)) {
		order[strcspn(order, "\n")] = '\0';
		if (!obey(order)) {
			fprintf(stderr, "fault_proxy: what is \"%s\"?\n", order);
			return 1;
		}
	}
	return 0;
}
