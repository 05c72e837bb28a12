/* SPDX-License-Identifier: Apache-2.0 */
/* Relays requests and answers of HTTP/1.1, and applies the ordered faults: cut, delay, spoil. */
#include "tests/support/fault_relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tests/support/duplex.h"
#include "tests/support/fault_frame.h"
#include "tests/support/fault_orders.h"

#define HEAD_MAX  16384
#define LINE_HEAD 2048

static const char *token;
static gnutls_certificate_credentials_t client_credentials;

struct relayed {
	unsigned number;
	struct duplex client, server;
	unsigned server_port;
	const char *verb;
	bool chunked;		/* the answer is */
	bool protobuf;		/* a stream has frames: the length in four bytes, and an event */
	bool sized;		/* the answer's length is known: */
	uint64_t left;
	unsigned struck;	/* strikes seen */
	struct fault fault;	/* waits to be applied */
	uint64_t fault_ms;	/* since then */
	uint64_t bytes;		/* of the answer's body, so far */
	char line[LINE_HEAD];	/* the beginning of the present line */
	size_t line_length;	/* of the whole line so far */
	unsigned lines;		/* of the stream so far, without errors */
};

static void
end(const struct relayed *c, const char *how)
{
	fault_say("#%u ENDED %s %s %u", c->number, c->verb, how, c->lines);
}

/* Send to the client, frozen or slow if ordered. */
static bool
send_down(struct relayed *c, const void *data, size_t length)
{
	const char *at = data;

	while (length > 0) {
		bool slow;
		size_t n;

		while (fault_is_frozen())
			fault_sleep_ms(5);
		slow = fault_is_slow();
		n = slow && length > 16 ? 16 : length;
		if (slow)
			fault_sleep_ms(1);
		if (!duplex_write(&c->client, at, n))
			return false;
		at += n;
		length -= n;
	}
	return true;
}

static bool
send_text(struct relayed *c, const char *text)
{
	return send_down(c, text, strlen(text));
}

static bool
send_piece(struct relayed *c, const void *data, size_t length)
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
	return code == 410   ? "Expired"
	       : code == 429 ? "TooManyRequests"
	       : code == 401 ? "Unauthorized"
	       : code == 504 ? "Timeout"
	       : code == 503 ? "ServiceUnavailable"
			     : "InternalError";
}

static void
status_text(char *text, size_t size, unsigned code)
{
	snprintf(text, size,
		 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		 "\"message\":\"injected %u\","
		 "\"reason\":\"%s\",\"code\":%u}",
		 code, reason_of(code), code);
}

static bool
answer_instead(struct relayed *c, unsigned code)
{
	char body[256], head[512];

	status_text(body, sizeof(body), code);
	snprintf(head, sizeof(head),
		 "HTTP/1.1 %u Fault\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n", code,
		 code == 429 ? "Retry-After: 1\r\n" : "", strlen(body));
	fault_say("#%u ANSWERED %s %u", c->number, c->verb, code);
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
	return strstr(path, "resourceVersionMatch=NotOlderThan") && strstr(path, "limit=1&") ? "PROBE"
											     : "LIST";
}

static bool
reach_server(struct relayed *c)
{
	bool tls;
	unsigned port = fault_upstream(&tls);
	int fd;

	if (c->server.fd >= 0 && c->server_port == port && !(duplex_wait(&c->server, &c->server, 0)))
		return true;
	duplex_end(&c->server, false);
	c->server_port = port;
	fd = duplex_connect(port);
	return fd >= 0 && duplex_begin(&c->server, fd, tls ? client_credentials : NULL, false);
}

/* Pass the request on and read the head of its answer. Returns its code; 0: no answer. */
static unsigned
ask_server(struct relayed *c, const char *request, char *head, size_t size)
{
	size_t length = 0;
	unsigned code;
	char line[4096];

	if (!reach_server(c) || !duplex_write(&c->server, request, strlen(request)))
		return 0;
	c->chunked = c->sized = c->protobuf = false;
	do {
		/* the client may hang up meanwhile */
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
		} else if (strncasecmp(line, "Content-Type:", 13) == 0) {
			c->protobuf = strstr(line, "protobuf") != NULL;
		}
		memcpy(head + length, line, strlen(line) + 1);
		length += strlen(line);
	} while (strcmp(line, "\r\n") != 0);
	return sscanf(head, "HTTP/1.1 %u", &code) == 1 ? code : 0;
}

/* ---- answers ---- */

/* The answer's next piece, in the server's buffer. Returns 1; 0: it is complete; -1: it broke off. */
static int
next_piece(struct relayed *c, const char **ret_data, size_t *ret_length)
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
		if (c->left == 0)
			return duplex_line(s, line, sizeof(line)) ? 0 : -1;
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

/* The same as read_line(), for protobuf. */
static void
read_frame(struct relayed *c)
{
	size_t length = c->line_length < LINE_HEAD ? c->line_length : LINE_HEAD;

	if (fault_frame_is(c->line, length, "ERROR")) {
		fault_say("#%u ERROR %s %u %u", c->number, c->verb,
			  c->line_length == length ? fault_frame_code(c->line, length) : 0, c->lines);
	} else if (strcmp(c->verb, "WATCHLIST") == 0 && fault_frame_is(c->line, length, "BOOKMARK") &&
		   memmem(c->line, length, "k8s.io/initial-events-end", 25)) {
		fault_say("#%u SYNCED %s", c->number, c->verb);
		c->verb = "WATCH";
	} else {
		c->lines++;
	}
	c->line_length = 0;
}

/* Record what a line of a stream says, before it is passed on. */
static void
read_line(struct relayed *c)
{
	const char *code;

	c->line[c->line_length < LINE_HEAD ? c->line_length : LINE_HEAD - 1] = '\0';
	c->line_length = 0;
	if (strncmp(c->line, "{\"type\":\"ERROR\"", 15) == 0) {
		code = strstr(c->line, "\"code\":");
		fault_say("#%u ERROR %s %lu %u", c->number, c->verb, code ? strtoul(code + 7, NULL, 10) : 0,
			  c->lines);
	} else if (strcmp(c->verb, "WATCHLIST") == 0 && strncmp(c->line, "{\"type\":\"BOOKMARK\"", 18) == 0 &&
		   strstr(c->line, "k8s.io/initial-events-end")) {
		fault_say("#%u SYNCED %s", c->number, c->verb);
		c->verb = "WATCH";
	} else {
		c->lines++;
	}
}

static void
read_lines(struct relayed *c, const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (c->line_length < LINE_HEAD)
			c->line[c->line_length] = data[i];
		c->line_length++;
		if (c->protobuf) {
			if (c->line_length == fault_frame_length(c->line, c->line_length))
				read_frame(c);
		} else if (data[i] == '\n') {
			read_line(c);
		}
	}
}

static bool
is_stream(const struct relayed *c)
{
	return strncmp(c->verb, "WATCH", 5) == 0;
}

/* How many bytes of this piece complete the present line or frame; 0: the line does not end in it. */
static size_t
rest_of_line(const struct relayed *c, const char *data, size_t length)
{
	const char *newline = c->protobuf ? NULL : memchr(data, '\n', length);
	size_t frame = c->protobuf ? fault_frame_length(c->line, c->line_length) : 0;

	if (newline)
		return (size_t)(newline + 1 - data);
	return frame > 0 && frame - c->line_length <= length ? frame - c->line_length : 0;
}

/* Apply a due fault between two pieces; data: the next piece, or NULL. True: the fault ended the answer. */
static bool
strike_now(struct relayed *c, const char *data, size_t length)
{
	enum fault_kind kind = c->fault.kind;
	static const char garbage[] = "{\"type\":\"MODIFIED\",\"object\":{\x01}\n";
	static const char garbage_frame[] = {0, 0, 0, 3, '{', 1, '}'};
	char event[512], status[384];
	size_t part;

	if (kind == FAULT_NONE || c->bytes + length < c->fault.after)
		return false;
	/* a fault within a frame needs a frame; on a quiet stream cut after a second */
	if (kind != FAULT_CUT && !data) {
		if (fault_now_ms() - c->fault_ms < 1000)
			return false;
		kind = FAULT_CUT;
	}
	switch (kind) {
	case FAULT_MID_FRAME:
		end(c, "cut");
		if (c->chunked) {
			snprintf(event, sizeof(event), "%zx\r\n", length);
			send_text(c, event);
		}
		send_down(c, data, length / 2);
		break;
	case FAULT_TRUNCATE:
		end(c, "truncated");
		send_piece(c, data, length / 2);
		if (c->chunked)
			send_text(c, "0\r\n\r\n");
		break;
	case FAULT_INVALID:
	case FAULT_ERROR_EVENT:
		/* complete the present line first */
		part = c->line_length > 0 ? rest_of_line(c, data, length) : 0;
		if (c->line_length > 0 && part == 0)
			return false;
		read_lines(c, data, part);
		send_piece(c, data, part);
		status_text(status, sizeof(status), c->fault.code);
		if (kind == FAULT_INVALID || !is_stream(c)) {
			end(c, "invalid");
			if (c->protobuf && is_stream(c)) /* a text would be taken as a very long length */
				send_piece(c, garbage_frame, sizeof(garbage_frame));
			else
				send_piece(c, garbage, strlen(garbage));
		} else {
			fault_say("#%u ERROR %s %u %u", c->number, c->verb, c->fault.code, c->lines);
			if (c->protobuf)
				part = fault_frame_error(event, c->fault.code, reason_of(c->fault.code));
			else
				part = (size_t)snprintf(event, sizeof(event),
							"{\"type\":\"ERROR\",\"object\":%s}\n", status);
			send_piece(c, event, part);
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
look_for_strike(struct relayed *c)
{
	if (fault_struck(&c->struck, &c->fault))
		c->fault_ms = fault_now_ms();
}

/* Relay the body. True: the connection may be used again. */
static bool
relay(struct relayed *c)
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
			return r == 0 && (!c->chunked || send_text(c, "0\r\n\r\n")) &&
			       (c->chunked || c->sized);
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

/* Serve one request. True: the connection may be used again. */
static bool
serve_request(struct relayed *c)
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
	snprintf(request + length, sizeof(request) - length, "%s%s%s\r\n",
		 token ? "Authorization: Bearer " : "", token ? token : "", token ? "\r\n" : "");
	c->verb = verb_of(path);
	c->lines = 0;
	fault_say("#%u ASKED %s %s", c->number, c->verb, path);
	if (!duplex_is_trusted(&c->client))
		return answer_instead(c, 401);
	code = fault_meet(c->verb, &c->fault, &c->struck);
	c->fault_ms = fault_now_ms();
	if (code > 0)
		return answer_instead(c, code);
	code = ask_server(c, request, head, sizeof(head));
	if (code == 0) {
		end(c, "cut");
		return false;
	}
	fault_say("#%u ANSWERED %s %u", c->number, c->verb, code);
	if (code != 200)
		c->fault.kind = FAULT_NONE;
	return send_text(c, head) && relay(c);
}

void
fault_relay(int fd, unsigned number)
{
	struct relayed *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return;
	}
	c->number = number;
	c->server.fd = -1;
	if (duplex_begin(&c->client, fd, fault_certificates(), true)) {
		while (serve_request(c))
			;
		/* every second connection ends abruptly */
		duplex_end(&c->client, number % 2);
	}
	duplex_end(&c->server, false);
	free(c);
}

int
fault_relay_begin(const char *server_token)
{
	token = server_token;
	return gnutls_certificate_allocate_credentials(&client_credentials);
}
