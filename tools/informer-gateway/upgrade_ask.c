/* SPDX-License-Identifier: Apache-2.0 */
/* A request for another protocol, and its answer; see upgrade_ask.h. */
#include "tools/informer-gateway/upgrade_ask.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "writer/base/file.h"

/* Method, path and Host; the server's URL may have a path of its own. */
static int
write_target(struct api_buf *to, const struct gw_exchange *x, const char *server)
{
	char *host = NULL, *port = NULL, *path = NULL;
	CURLU *url = curl_url();
	bool ok = url && curl_url_set(url, CURLUPART_URL, server, 0) == CURLUE_OK &&
		  curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		  curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK;

	if (ok) {
		(void)curl_url_get(url, CURLUPART_PORT, &port, 0);
		api_buf_printf(to, "%s %s%s HTTP/1.1\r\nHost: %s%s%s\r\n", x->api.method,
			       strcmp(path, "/") == 0 ? "" : path, x->target, host, port ? ":" : "",
			       port ? port : "");
	}
	curl_free(host);
	curl_free(port);
	curl_free(path);
	curl_url_cleanup(url);
	return ok ? 0 : -EINVAL;
}

int
gw_upgrade_ask_write(struct gw_upgrade_ask *ask, const struct gw_exchange *x, const char *server,
		     const struct gw_header_lines *lines)
{
	struct api_buf *to = &ask->request;
	int r = write_target(to, x, server);

	if (r < 0)
		return r;
	api_buf_printf(to, "Connection: Upgrade\r\nUpgrade: %s\r\n", api_request_header(&x->api, "Upgrade"));
	for (unsigned i = 0; i < lines->count; i++)
		api_buf_printf(to, "%s\r\n", lines->lines[i]);
	if (x->body.len || strcmp(x->api.method, "GET") != 0)
		api_buf_printf(to, "Content-Length: %zu\r\n", x->body.len);
	api_buf_puts(to, "\r\n");
	api_buf_put(to, x->body.data, x->body.len);
	return 0;
}

static void
send_on(struct gw_upgrade_ask *ask, struct gw_wire *wire)
{
	while (ask->sent < ask->request.len && !ask->broken) {
		ssize_t n = gw_wire_write(wire, ask->request.data + ask->sent, ask->request.len - ask->sent);

		if (n == -EAGAIN)
			return;
		if (n <= 0) /* what was answered before may be there */
			ask->broken = true;
		else
			ask->sent += (size_t)n;
	}
}

/* The head, if it is whole; what is behind it is the body's beginning. */
static int
take_head(struct gw_upgrade_ask *ask)
{
	int r = ask->bytes.len ? gw_answer_head_parse(ask->bytes.data, ask->bytes.len, &ask->head) : -EAGAIN;

	if (r < 0)
		return r;
	if (ask->head.status < 200 && ask->head.status != 101)
		return -EPROTO;
	ask->whole = true;
	api_buf_put(&ask->body, ask->bytes.data + ask->head.length, ask->bytes.len - ask->head.length);
	return 0;
}

/* Cuts the body to its length when it is whole. */
static enum gw_upgrade_answer
look_at_body(struct gw_upgrade_ask *ask, bool ended)
{
	ssize_t n = -EAGAIN;

	if (ask->head.status == 101)
		return GW_UPGRADE_SWITCHED;
	if (ask->head.framing == GW_FRAMING_CHUNKS)
		n = ask->body.len ? gw_chunks_join(ask->body.data, ask->body.len) : -EAGAIN;
	else if (ask->head.framing == GW_FRAMING_LENGTH && ask->body.len >= ask->head.body_length)
		n = (ssize_t)ask->head.body_length;
	else if (ask->head.framing == GW_FRAMING_END && ended)
		n = (ssize_t)ask->body.len;
	if (n >= 0) {
		ask->body.len = (size_t)n;
		return GW_UPGRADE_ANSWERED;
	}
	return n == -EAGAIN && !ended && ask->body.len <= GW_UPGRADE_BODY_MAX ? GW_UPGRADE_WAITS
									      : GW_UPGRADE_BROKEN;
}

static enum gw_upgrade_answer
look(struct gw_upgrade_ask *ask, bool ended)
{
	int r = ask->whole ? 0 : take_head(ask);

	if (r == -EAGAIN && !ended)
		return GW_UPGRADE_WAITS;
	return r < 0 ? GW_UPGRADE_BROKEN : look_at_body(ask, ended);
}

enum gw_upgrade_answer
gw_upgrade_ask_turn(struct gw_upgrade_ask *ask, struct gw_wire *wire)
{
	enum gw_upgrade_answer answer = GW_UPGRADE_WAITS;
	char piece[16384];

	send_on(ask, wire);
	while (answer == GW_UPGRADE_WAITS) {
		ssize_t n = gw_wire_read(wire, piece, sizeof(piece));

		if (n == -EAGAIN && !ask->broken) {
			gw_wire_want(wire, true, ask->sent < ask->request.len);
			return GW_UPGRADE_WAITS;
		}
		if (n > 0)
			api_buf_put(ask->whole ? &ask->body : &ask->bytes, piece, (size_t)n);
		answer = look(ask, n <= 0);
	}
	return answer;
}

void
gw_upgrade_ask_done(struct gw_upgrade_ask *ask)
{
	file_wipe(ask->request.data, ask->request.len);
	api_buf_done(&ask->bytes);
	api_buf_done(&ask->body);
	*ask = (struct gw_upgrade_ask){0};
}
