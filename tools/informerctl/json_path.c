/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a path into steps, and follows them; see json_path.h. */
#include "tools/informerctl/json_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/printer/text.h"

#define STEPS_MAX 32u

enum step_kind { STEP_NAME, STEP_ELEMENT, STEP_ALL, STEP_FILTER };
enum filter_op { FILTER_EXISTS, FILTER_EQUAL, FILTER_UNEQUAL };

/*
 * name      of NAME
 * element   of ELEMENT; negative: from the end
 * filter    of FILTER: the path behind '@'
 * literal   the value to compare with, as json_path_text() writes it
 * quoted    the literal equals strings only; without quotes, other values only
 */
struct step {
	enum step_kind kind;
	char *name;
	long element;
	struct json_path *filter;
	enum filter_op op;
	char *literal;
	bool quoted;
};

struct json_path {
	size_t count;
	struct step steps[STEPS_MAX];
};

struct parser {
	const char *at, *end;
	const char *why;
	bool no_memory;
};

void
json_path_free(struct json_path *path)
{
	if (!path)
		return;
	for (size_t i = 0; i < path->count; i++) {
		free(path->steps[i].name);
		json_path_free(path->steps[i].filter);
		free(path->steps[i].literal);
	}
	free(path);
}

static bool
fail(struct parser *p, const char *why)
{
	p->why = p->why ? p->why : why;
	return false;
}

static bool
take(struct parser *p, const char *text)
{
	size_t length = strlen(text);

	if ((size_t)(p->end - p->at) < length || memcmp(p->at, text, length) != 0)
		return false;
	p->at += length;
	return true;
}

static char *
copy(struct parser *p, const char *text, size_t length)
{
	char *it = strndup(text, length);

	if (!it)
		p->no_memory = !fail(p, "no memory");
	return it;
}

static struct step *
add_step(struct parser *p, struct json_path *path, enum step_kind kind)
{
	if (path->count == STEPS_MAX) {
		fail(p, "the path has more than 32 steps");
		return NULL;
	}
	path->steps[path->count].kind = kind;
	return &path->steps[path->count++];
}

/* A name behind a '.'. A backslash escapes the next character. */
static bool
parse_name(struct parser *p, struct json_path *path)
{
	struct step *step = add_step(p, path, STEP_NAME);
	char *to;

	step = step && (step->name = copy(p, p->at, (size_t)(p->end - p->at))) ? step : NULL;
	if (!step)
		return false;
	to = step->name;
	while (p->at < p->end && !strchr(" \t\n.,[]$@{}()=!<>", *p->at)) {
		if (*p->at == '\\' && p->at + 1 < p->end)
			p->at++;
		*to++ = *p->at++;
	}
	*to = '\0';
	return to > step->name ? true : fail(p, "a name is missing behind '.'");
}

/* A quoted text, without its quotes; NULL: no quote, or no closing one. */
static char *
parse_quoted(struct parser *p)
{
	const char *end;
	char *text;

	if (p->at == p->end || (*p->at != '"' && *p->at != '\''))
		return NULL;
	end = memchr(p->at + 1, *p->at, (size_t)(p->end - p->at - 1));
	if (!end) {
		fail(p, "a text does not end");
		return NULL;
	}
	text = copy(p, p->at + 1, (size_t)(end - p->at - 1));
	p->at = end + 1;
	return text;
}

static bool parse_steps(struct parser *p, struct json_path *path);

static void
skip_blanks(struct parser *p)
{
	while (p->at < p->end && *p->at == ' ')
		p->at++;
}

/* The text behind "[?(", as "@.type==\"Ready\")]" */
static bool
parse_filter(struct parser *p, struct json_path *path)
{
	struct step *step = add_step(p, path, STEP_FILTER);
	size_t length = 0;

	if (!step)
		return false;
	step->filter = calloc(1, sizeof(*step->filter));
	if (!step->filter)
		return p->no_memory = !fail(p, "no memory"), false;
	skip_blanks(p);
	if (!take(p, "@"))
		return fail(p, "a filter begins with '@', as in [?(@.type==\"Ready\")]");
	if (!parse_steps(p, step->filter))
		return false;
	skip_blanks(p);
	if (take(p, "=="))
		step->op = FILTER_EQUAL;
	else if (take(p, "!="))
		step->op = FILTER_UNEQUAL;
	if (step->op != FILTER_EXISTS) {
		skip_blanks(p);
		step->literal = parse_quoted(p);
		step->quoted = step->literal != NULL;
		while (p->at + length < p->end && !strchr(" )", p->at[length]))
			length++;
		if (!step->literal && !p->why && length > 0) {
			step->literal = copy(p, p->at, length);
			p->at += length;
		}
		if (!step->literal)
			return fail(p, "a filter compares with a text, a number, true or false");
	}
	skip_blanks(p);
	return take(p, ")]") ? true : fail(p, "a filter compares by == or !=, and ends with ')]'");
}

/* The text behind '['. */
static bool
parse_bracket(struct parser *p, struct json_path *path)
{
	struct step *step;
	char *name, *end;

	if (take(p, "?("))
		return parse_filter(p, path);
	if (take(p, "*"))
		return add_step(p, path, STEP_ALL) &&
		       (take(p, "]") ? true : fail(p, "']' is missing behind '*'"));
	name = parse_quoted(p);
	if (!name && p->why)
		return false;
	step = add_step(p, path, name ? STEP_NAME : STEP_ELEMENT);
	if (!step) {
		free(name);
		return false;
	}
	step->name = name;
	if (!name) {
		errno = 0;
		step->element = strtol(p->at, &end, 10);
		if (end == p->at || errno)
			return fail(p, "'[' is followed by a number, '*', a 'name' or a filter ?(...)");
		p->at = end;
	}
	return take(p, "]") ? true : fail(p, "']' is missing");
}

/* ".a[0].b"; stops in front of any other text. */
static bool
parse_steps(struct parser *p, struct json_path *path)
{
	for (;;) {
		if (take(p, ".*")) {
			if (!add_step(p, path, STEP_ALL))
				return false;
		} else if (take(p, ".")) {
			if (!parse_name(p, path))
				return false;
		} else if (take(p, "[")) {
			if (!parse_bracket(p, path))
				return false;
		} else {
			return true;
		}
	}
}

int
json_path_parse(const char *text, struct json_path **ret_path, const char **ret_why)
{
	struct parser p = {.at = text, .end = text + strlen(text)};
	struct json_path *path = calloc(1, sizeof(*path));
	bool ok;

	*ret_why = "no memory";
	if (!path)
		return -ENOMEM;
	if (p.at < p.end && *p.at == '{' && p.end[-1] == '}') {
		p.at++;
		p.end--;
	}
	/* The '.' in front of the first name may be left out. */
	if (p.at < p.end && *p.at != '.' && *p.at != '[')
		ok = parse_name(&p, path) && parse_steps(&p, path);
	else
		ok = parse_steps(&p, path);
	if (ok && (p.at < p.end || path->count == 0))
		ok = fail(&p,
			  path->count == 0
				  ? "there is no path"
				  : "a path is names and [...], written {.status.phase} or .status.phase");
	if (ok) {
		*ret_path = path;
		return 0;
	}
	json_path_free(path);
	*ret_why = p.why;
	return p.no_memory ? -ENOMEM : -EINVAL;
}

bool
json_path_text(struct field field, struct text *out)
{
	struct field_text string;
	char number[64];
	size_t length;

	switch (field_kind(field)) {
	case FIELD_STRING:
		string = field_string(field);
		text_add(out, string.data, string.length);
		return true;
	case FIELD_BOOL:
		text_adds(out, field_is_true(field) ? "true" : "false");
		return true;
	case FIELD_NUMBER:
		length = field.source->number(&field, number, sizeof(number));
		text_add(out, number, length);
		return true;
	case FIELD_NULL:
		text_adds(out, "<nil>");
		return true;
	case FIELD_NONE:
	case FIELD_ARRAY:
	case FIELD_OBJECT:
		break;
	}
	return false;
}

static bool
text_is(const struct text *text, const char *literal)
{
	return text->length == strlen(literal) &&
	       memcmp(text->data ? text->data : "", literal, text->length) == 0;
}

/* Whether an item passes the filter. An absent value passes neither == nor !=. */
static bool
passes(const struct step *step, struct field item)
{
	struct text text = TEXT_INIT(-1);
	struct field value;
	bool same;

	if (json_path_find(step->filter, item, &value) == 0)
		return false;
	if (step->op == FILTER_EXISTS)
		return true;
	same = step->quoted == (field_kind(value) == FIELD_STRING) && json_path_text(value, &text) &&
	       text_is(&text, step->literal);
	text_done(&text);
	return same == (step->op == FILTER_EQUAL);
}

static size_t follow(const struct json_path *path, size_t i, struct field at, struct field *first);

/* Follow each item of an array or object; a filter only takes arrays. */
static size_t
follow_items(const struct json_path *path, size_t i, struct field at, struct field *first)
{
	const struct step *step = &path->steps[i];
	enum field_kind kind = field_kind(at);
	struct field_iter it;
	size_t hits = 0;

	if (kind != FIELD_ARRAY && (kind != FIELD_OBJECT || step->kind == STEP_FILTER))
		return 0;
	field_iterate(at, &it);
	while (field_next(&it))
		if (step->kind == STEP_ALL || passes(step, it.item))
			hits += follow(path, i + 1, it.item, hits ? NULL : first);
	return hits;
}

static size_t
follow(const struct json_path *path, size_t i, struct field at, struct field *first)
{
	const struct step *step = &path->steps[i];
	long element;

	if (field_kind(at) == FIELD_NONE)
		return 0;
	if (i == path->count) {
		if (first)
			*first = at;
		return 1;
	}
	switch (step->kind) {
	case STEP_NAME:
		return field_kind(at) == FIELD_OBJECT ? follow(path, i + 1, field_get(at, step->name), first)
						      : 0;
	case STEP_ELEMENT:
		element = step->element < 0 ? step->element + (long)field_count(at) : step->element;
		return field_kind(at) == FIELD_ARRAY && element >= 0
			       ? follow(path, i + 1, field_element(at, (size_t)element), first)
			       : 0;
	case STEP_ALL:
	case STEP_FILTER:
		break;
	}
	return follow_items(path, i, at, first);
}

size_t
json_path_find(const struct json_path *path, struct field root, struct field *ret_first)
{
	return follow(path, 0, root, ret_first);
}
