/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips a value by the decoder's grammar. For example, a pod's managedFields are thousands of bytes that
 * every watch sends and no reader needs.
 */
#include "writer/decode/json_skip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/decode/json_plain.h"

void
json_skip_begin(struct json_skip *s)
{
	s->state = JSON_VALUE;
	s->depth = 0;
	memset(&s->scan, 0, sizeof(s->scan));
}

void
json_skip_done(struct json_skip *s)
{
	free(s->objects);
	memset(s, 0, sizeof(*s));
}

int
json_skip_push(struct json_skip *s, bool object)
{
	if (s->depth == s->capacity) {
		uint32_t capacity = s->capacity ? s->capacity * 2 : 256;
		uint64_t *bigger;

		if (s->depth == JSON_SKIP_DEPTH_MAX) {
			s->why = "nested deeper than a million levels";
			return -E2BIG;
		}
		bigger = realloc(s->objects, capacity / 8);
		if (!bigger)
			return -ENOMEM;
		s->objects = bigger;
		s->capacity = capacity;
	}
	if (object)
		s->objects[s->depth / 64] |= 1ull << s->depth % 64;
	else
		s->objects[s->depth / 64] &= ~(1ull << s->depth % 64);
	s->depth++;
	return 0;
}

static bool
in_object(const struct json_skip *s)
{
	return (s->objects[(s->depth - 1) / 64] >> (s->depth - 1) % 64 & 1) != 0;
}

static int
refuse(struct json_skip *s, const char *why)
{
	s->why = why;
	return -EBADMSG;
}

/*
 * Skip a string from behind its quote. 1: passed; 0: more bytes are needed; -EBADMSG. Nearly all strings are
 * plain and complete.
 */
static inline int
skip_string(struct json_skip *s, const char **p, const char *end)
{
	enum json_scan_result r;

	*p = json_plain_end(*p, end);
	if (*p < end && **p == '"') {
		(*p)++;
		return 1;
	}
	s->scan.scanned = 0;
	r = json_scan_string(&s->scan, *p, end);
	*p += s->scan.scanned;
	if (r == JSON_SCAN_BAD)
		return refuse(s, s->scan.why);
	if (r == JSON_SCAN_MORE)
		return 0;
	(*p)++;
	return 1;
}

static int
skip_number(struct json_skip *s, const char **p, const char *end, bool final)
{
	enum json_scan_result r;

	s->scan.scanned = 0;
	r = json_scan_number(&s->scan, *p, end);
	*p += s->scan.scanned;
	if (r == JSON_SCAN_BAD)
		return refuse(s, s->scan.why);
	if (r == JSON_SCAN_MORE && !(final && json_scan_number_ends(&s->scan)))
		return 0;
	return 1;
}

int
json_literal(const char **p, const char *end, const char *word, size_t length)
{
	size_t left = (size_t)(end - *p), n = left < length ? left : length, i;

	for (i = 0; i < n; i++)
		if ((*p)[i] != word[i]) {
			*p += i;
			return -EBADMSG;
		}
	if (n < length)
		return 0;
	*p += length;
	return 1;
}

/* Skip a literal or a number at *p. 1: passed; 0: more bytes are needed; -EBADMSG. */
static int
skip_word(struct json_skip *s, const char **p, const char *end, bool final)
{
	int r;

	switch (**p) {
	case 't':
		r = json_literal(p, end, "true", 4);
		break;
	case 'f':
		r = json_literal(p, end, "false", 5);
		break;
	case 'n':
		r = json_literal(p, end, "null", 4);
		break;
	case '-':
	case '0' ... '9':
		memset(&s->scan, 0, sizeof(s->scan));
		r = skip_number(s, p, end, final);
		if (r == 0)
			s->state = JSON_IN_NUMBER;
		return r;
	default:
		r = -EBADMSG;
	}
	return r < 0 ? refuse(s, "a value is expected here") : r;
}

/* Each label is a json_state. When the bytes run out, the state is kept. */
int
json_skip_run(struct json_skip *s, const char **pp, const char *end, bool final)
{
	bool object = s->depth > 0 && in_object(s);
	const char *p = *pp;
	int r = 0;

	switch (s->state) {
	case JSON_VALUE:
		goto value;
	case JSON_FIRST_ELEMENT:
		goto first_element;
	case JSON_FIRST_NAME:
		goto first_name;
	case JSON_NAME:
		goto name;
	case JSON_COLON:
		goto colon;
	case JSON_NEXT:
		goto next;
	case JSON_IN_STRING:
		goto string;
	case JSON_IN_NAME:
		goto name_text;
	case JSON_IN_NUMBER:
		r = skip_number(s, &p, end, final);
		if (r <= 0)
			goto leave;
		goto next;
	}

first_name:
	s->state = JSON_FIRST_NAME;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p == '}')
		goto close;

name:
	s->state = JSON_NAME;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p != '"') {
		r = refuse(s, "a field name in quotes is expected here");
		goto leave;
	}
	p++;

name_text:
	s->state = JSON_IN_NAME;
	r = skip_string(s, &p, end);
	if (r <= 0)
		goto leave;

colon:
	s->state = JSON_COLON;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p != ':') {
		r = refuse(s, "a colon is expected here");
		goto leave;
	}
	p++;

value:
	s->state = JSON_VALUE;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p == '{' || *p == '[') {
		object = *p == '{';
		r = json_skip_push(s, object);
		if (r < 0) {
			r = r == -E2BIG ? -EBADMSG : r;
			goto leave;
		}
		p++;
		if (object)
			goto first_name;
		goto first_element;
	}
	if (*p != '"') {
		r = skip_word(s, &p, end, final);
		if (r <= 0)
			goto leave;
		goto next;
	}
	p++;

string:
	s->state = JSON_IN_STRING;
	r = skip_string(s, &p, end);
	if (r <= 0)
		goto leave;

next:
	s->state = JSON_NEXT;
	if (s->depth == 0) {
		r = 1;
		goto leave;
	}
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p == ',') {
		p++;
		if (object)
			goto name;
		goto value;
	}
	if (*p == (object ? '}' : ']'))
		goto close;
	r = refuse(s, object ? "a comma or } is expected here" : "a comma or ] is expected here");
	goto leave;

first_element:
	s->state = JSON_FIRST_ELEMENT;
	p = json_space_end(p, end);
	if (p == end)
		goto more;
	if (*p != ']')
		goto value;

close:
	p++;
	s->depth--;
	object = s->depth > 0 && in_object(s);
	goto next;

more:
	r = 0;
leave:
	*pp = p;
	return r;
}
