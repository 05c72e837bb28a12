/* SPDX-License-Identifier: Apache-2.0 */
/* An answer's head, and its body's end; see http_answer.h. */
#include "tools/informer-gateway/http_answer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define BODY_MAX (1u << 30)

static size_t
token_length(const char *text)
{
	return strspn(text, "!#$%&'*+-.^_`|~0123456789"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

/* "HTTP/1.1 101 Switching Protocols" */
static int
take_status(const char *line, int *ret)
{
	if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || line[8] != ' ')
		return -EPROTO;
	line += 9;
	if (strspn(line, "0123456789") != 3 || (line[3] != ' ' && line[3] != '\0'))
		return -EPROTO;
	*ret = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
	return *ret >= 100 && *ret < 600 ? 0 : -EPROTO;
}

/* Ends name and value with zeros. */
static int
take_header(char *line, struct gw_answer_head *head)
{
	size_t name = token_length(line), end;
	char *value;

	if (name == 0 || line[name] != ':' || head->count == GW_ANSWER_HEADERS_MAX)
		return -EPROTO;
	line[name] = '\0';
	value = line + name + 1;
	value += strspn(value, " \t");
	end = strlen(value);
	while (end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t'))
		value[--end] = '\0';
	for (const char *c = value; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return -EPROTO;
	head->headers[head->count++] = (struct gw_header){line, value};
	return 0;
}

static int
take_length(const char *text, size_t *ret)
{
	size_t digits = strspn(text, "0123456789"), length = 0;

	if (digits == 0 || digits > 10 || text[digits])
		return -EPROTO;
	for (; *text; text++)
		length = length * 10 + (size_t)(*text - '0');
	if (length > BODY_MAX)
		return -EPROTO;
	*ret = length;
	return 0;
}

static int
take_framing(struct gw_answer_head *head)
{
	unsigned lengths = 0, codings = 0;
	int r = 0;

	head->framing = GW_FRAMING_END;
	for (unsigned i = 0; r == 0 && i < head->count; i++) {
		const struct gw_header *h = &head->headers[i];

		if (strcasecmp(h->name, "Content-Length") == 0) {
			head->framing = GW_FRAMING_LENGTH;
			r = lengths++ ? -EPROTO : take_length(h->value, &head->body_length);
		} else if (strcasecmp(h->name, "Transfer-Encoding") == 0) {
			head->framing = GW_FRAMING_CHUNKS;
			r = codings++ || strcasecmp(h->value, "chunked") != 0 ? -EPROTO : 0;
		}
	}
	if (r == 0 && lengths && codings)
		r = -EPROTO;
	if (head->status < 200 || head->status == 204 || head->status == 304) {
		head->framing = GW_FRAMING_LENGTH;
		head->body_length = 0;
	}
	return r;
}

int
gw_answer_head_parse(char *bytes, size_t length, struct gw_answer_head *ret)
{
	struct gw_answer_head head = {0};
	size_t within = length < GW_ANSWER_HEAD_MAX ? length : GW_ANSWER_HEAD_MAX;
	char *end = memmem(bytes, within, "\r\n\r\n", 4), *line = bytes;
	int r = 0;

	if (!end)
		return length < GW_ANSWER_HEAD_MAX ? -EAGAIN : -EPROTO;
	if (memchr(bytes, '\0', (size_t)(end - bytes)))
		return -EPROTO;
	head.length = (size_t)(end + 4 - bytes);
	end[2] = '\0';
	for (bool first = true; r == 0 && *line; first = false) {
		char *next = strstr(line, "\r\n");

		*next = '\0';
		r = first ? take_status(line, &head.status) : take_header(line, &head);
		line = next + 2;
	}
	if (r == 0)
		r = take_framing(&head);
	if (r == 0)
		*ret = head;
	return r;
}

const char *
gw_answer_header(const struct gw_answer_head *head, const char *name)
{
	for (unsigned i = 0; i < head->count; i++)
		if (strcasecmp(head->headers[i].name, name) == 0)
			return head->headers[i].value;
	return NULL;
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* One chunk's size line: its length, with *ret_size; -EAGAIN, -EPROTO. */
static ssize_t
chunk_size(const char *at, size_t left, size_t *ret_size)
{
	const char *end = memmem(at, left, "\r\n", 2);
	size_t size = 0, n = 0;

	if (!end)
		return left > 1024 ? -EPROTO : -EAGAIN;
	for (; n < (size_t)(end - at) && strchr("0123456789abcdefABCDEF", at[n]) && at[n]; n++) {
		unsigned digit = (unsigned)(at[n] <= '9' ? at[n] - '0' : (at[n] | 0x20) - 'a' + 10);

		if (n == 8)
			return -EPROTO;
		size = size * 16 + digit;
	}
	if (n == 0 || (at + n != end && at[n] != ';') || size > BODY_MAX)
		return -EPROTO;
	*ret_size = size;
	return end + 2 - at;
}

/* Walk over the chunks; with `to`, move what is in them there. */
static ssize_t
walk(const char *bytes, size_t length, char *to)
{
	size_t at = 0, whole = 0;

	for (;;) {
		size_t size;
		ssize_t n = chunk_size(bytes + at, length - at, &size);

		if (n < 0)
			return n;
		at += (size_t)n;
		if (size == 0) /* trailers are not wanted */
			return (ssize_t)whole;
		if (length - at < size + 2)
			return -EAGAIN;
		if (memcmp(bytes + at + size, "\r\n", 2) != 0)
			return -EPROTO;
		if (to)
			memmove(to + whole, bytes + at, size);
		whole += size;
		at += size + 2;
	}
}

ssize_t
gw_chunks_join(char *bytes, size_t length)
{
	ssize_t n = walk(bytes, length, NULL);

	return n < 0 ? n : walk(bytes, length, bytes);
}
