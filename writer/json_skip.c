/*
 * Passing over a value. The same grammar as the decoder's, without anything to build.
 */
#include "writer/json_skip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Within a string (after its quote): 1 behind the closing quote, 0 more, -EBADMSG. */
static int
skip_string(struct json_skip *s, const char **p, const char *end)
{
	enum json_scan_result r;

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

/* At the first character of a value. 1 it is passed or a container was entered; 0 more; negative errno. */
static int
skip_value(struct json_skip *s, const char **p, const char *end, bool final)
{
	int r;

	s->state = JSON_NEXT;
	switch (**p) {
	case '"':
		(*p)++;
		r = skip_string(s, p, end);
		if (r == 0)
			s->state = JSON_IN_STRING;
		return r;
	case '{':
	case '[':
		s->state = **p == '{' ? JSON_FIRST_NAME : JSON_FIRST_ELEMENT;
		r = json_skip_push(s, **p == '{');
		if (r < 0)
			return r == -E2BIG ? -EBADMSG : r;
		(*p)++;
		return 1;
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
		return refuse(s, "a value is expected here");
	}
	if (r == 0)
		s->state = JSON_VALUE;
	return r < 0 ? refuse(s, "a value is expected here") : r;
}

int
json_skip_run(struct json_skip *s, const char **p, const char *end, bool final)
{
	int r;

	for (;;) {
		switch (s->state) {
		case JSON_IN_STRING:
		case JSON_IN_NAME:
			r = skip_string(s, p, end);
			if (r > 0)
				s->state = s->state == JSON_IN_NAME ? JSON_COLON : JSON_NEXT;
			break;
		case JSON_IN_NUMBER:
			r = skip_number(s, p, end, final);
			if (r > 0)
				s->state = JSON_NEXT;
			break;
		default:
			r = 1;
			*p = json_space_end(*p, end);
			if (s->state == JSON_NEXT && s->depth == 0)
				return 1;
			if (*p == end)
				return 0;
			if (s->state == JSON_VALUE || (s->state == JSON_FIRST_ELEMENT && **p != ']')) {
				r = skip_value(s, p, end, final);
			} else if (s->state == JSON_COLON) {
				if (**p != ':')
					return refuse(s, "a colon is expected here");
				(*p)++;
				s->state = JSON_VALUE;
			} else if (s->state == JSON_NEXT && **p == ',') {
				(*p)++;
				s->state = in_object(s) ? JSON_NAME : JSON_VALUE;
			} else if ((s->state == JSON_NEXT || s->state == JSON_FIRST_NAME ||
				    s->state == JSON_FIRST_ELEMENT) &&
				   **p == (in_object(s) ? '}' : ']')) {
				(*p)++;
				s->depth--;
				s->state = JSON_NEXT;
			} else if (s->state == JSON_NEXT) {
				return refuse(s, in_object(s) ? "a comma or } is expected here"
							      : "a comma or ] is expected here");
			} else if (**p == '"') {
				(*p)++;
				r = skip_string(s, p, end);
				s->state = r == 0 ? JSON_IN_NAME : JSON_COLON;
			} else {
				return refuse(s, "a field name in quotes is expected here");
			}
		}
		if (r <= 0)
			return r;
		if (s->state == JSON_NEXT && s->depth == 0)
			return 1;
	}
}
