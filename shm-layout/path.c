/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles paths from text, so that each step costs a fingerprint search and a comparison.
 */
#include "shm-layout/path.h"

#include <errno.h>
#include <string.h>

struct compiler {
	struct path *path;
	const char *text;
	size_t at, end;
	size_t names_used;
	const char *why;
};

static int
refuse(struct compiler *c, const char *why)
{
	c->why = why;
	return -EINVAL;
}

static int
too_big(struct compiler *c, const char *why)
{
	c->why = why;
	return -E2BIG;
}

static int
add_step(struct compiler *c, enum path_step_kind kind, struct path_step **ret_step)
{
	struct path_step *step;

	if (c->path->count == PATH_STEPS_MAX)
		return too_big(c, "a path has at most 16 steps");
	step = &c->path->steps[c->path->count++];
	*step = (struct path_step){.kind = kind};
	*ret_step = step;
	return 0;
}

static int
add_name_byte(struct compiler *c, char byte)
{
	if (c->names_used == PATH_TEXT_MAX)
		return too_big(c, "the path is longer than 1,024 bytes");
	c->path->names[c->names_used++] = byte;
	return 0;
}

static void
finish_name(struct compiler *c, struct path_step *step, size_t from)
{
	step->name_offset = (uint16_t)from;
	step->name_length = (uint16_t)(c->names_used - from);
	step->fingerprint = shape_fingerprint(c->path->names + from, step->name_length);
}

/*
 * A name up to the next '.' or '['. A backslash makes the next character part of the name (kubectl's
 * app\.kubernetes\.io/name).
 */
static int
compile_bare(struct compiler *c)
{
	size_t from = c->names_used, start = c->at;
	struct path_step *step;
	int r = add_step(c, PATH_KEY, &step);

	while (r == 0 && c->at < c->end && c->text[c->at] != '.' && c->text[c->at] != '[') {
		char byte = c->text[c->at];

		if (byte == ']' || byte == '{' || byte == '}' || byte == '"' || byte == '\'')
			return refuse(
				c, "this character stands in a name only when the name is quoted: [\"...\"]");
		if (byte == '*')
			return refuse(c, "write [*] for every element or field");
		if (byte == '\\') {
			if (c->at + 1 == c->end)
				return refuse(c, "a backslash needs a character after it");
			byte = c->text[++c->at];
		}
		r = add_name_byte(c, byte);
		c->at++;
	}
	if (r != 0)
		return r;
	if (c->at == start)
		return refuse(c, "a name is expected here");
	finish_name(c, step, from);
	return 0;
}

/* ["name"] or ['name'], from the quote on. A backslash makes the next character part of the name. */
static int
compile_quoted(struct compiler *c)
{
	size_t from = c->names_used, start = c->at;
	char quote = c->text[c->at++];
	struct path_step *step;
	int r = add_step(c, PATH_KEY, &step);

	while (r == 0 && c->at < c->end && c->text[c->at] != quote) {
		if (c->text[c->at] == '\\' && c->at + 1 < c->end)
			c->at++;
		r = add_name_byte(c, c->text[c->at++]);
	}
	if (r != 0)
		return r;
	if (c->at == c->end) {
		c->at = start;
		return refuse(c, "this quote is never closed");
	}
	c->at++;
	finish_name(c, step, from);
	return 0;
}

static int
compile_element(struct compiler *c)
{
	struct path_step *step;
	uint64_t n = 0;
	int r = add_step(c, PATH_ELEMENT, &step);

	while (r == 0 && c->at < c->end && c->text[c->at] >= '0' && c->text[c->at] <= '9') {
		n = n * 10 + (uint64_t)(c->text[c->at] - '0');
		if (n > UINT32_MAX)
			return too_big(c, "this element number is too large");
		c->at++;
	}
	if (r == 0)
		step->element = (uint32_t)n;
	return r;
}

static int
compile_bracket(struct compiler *c)
{
	size_t start = c->at++;
	struct path_step *step;
	int r;

	if (c->at == c->end) {
		c->at = start;
		return refuse(c, "this bracket is never closed");
	}
	switch (c->text[c->at]) {
	case '"':
	case '\'':
		r = compile_quoted(c);
		break;
	case '*':
		c->at++;
		r = add_step(c, PATH_ANY, &step);
		break;
	case '0' ... '9':
		r = compile_element(c);
		break;
	default:
		return refuse(c, "a quoted name, a number or * is expected in brackets");
	}
	if (r != 0)
		return r;
	if (c->at == c->end || c->text[c->at] != ']')
		return refuse(c, "] is expected here");
	c->at++;
	return 0;
}

static bool
is_key(const struct path *path, unsigned i, const char *name)
{
	const struct path_step *step = &path->steps[i];

	return step->kind == PATH_KEY && step->name_length == strlen(name) &&
	       memcmp(path->names + step->name_offset, name, step->name_length) == 0;
}

static int
compile(struct compiler *c)
{
	int r = 0;

	if (c->end > 0 && c->text[0] == '{') {
		if (c->end < 2 || c->text[c->end - 1] != '}')
			return refuse(c, "the brace at the start is never closed");
		c->at++;
		c->end--;
	}
	if (c->at == c->end)
		return refuse(c, "the path is empty");
	if (c->text[c->at] == '$') {
		c->at++;
		if (c->at < c->end && c->text[c->at] != '.' && c->text[c->at] != '[')
			return refuse(c, ". or [ is expected after $");
	}
	if (c->at + 1 == c->end && c->text[c->at] == '.') /* the whole document */
		return 0;
	if (c->at < c->end && c->text[c->at] != '.' && c->text[c->at] != '[')
		r = compile_bare(c);
	while (r == 0 && c->at < c->end) {
		if (c->text[c->at] == '[') {
			r = compile_bracket(c);
		} else if (c->text[c->at] == '.') {
			c->at++;
			if (c->at < c->end && c->text[c->at] == '[')
				return refuse(c, "a name is expected here");
			r = compile_bare(c);
		} else {
			return refuse(c, ". or [ is expected here");
		}
	}
	return r;
}

/* The header field that the path names; PATH_BODY: none. */
static enum path_header
find_header(const struct path *path)
{
	static const struct {
		const char *outer, *inner;
		enum path_header header;
	} fields[] = {
		{"metadata", "name", PATH_STRING + OBJECT_NAME},
		{"metadata", "namespace", PATH_STRING + OBJECT_NAMESPACE},
		{"metadata", "uid", PATH_STRING + OBJECT_UID},
		{"metadata", "resourceVersion", PATH_STRING + OBJECT_VERSION},
		{"spec", "nodeName", PATH_NODE_NAME},	{"status", "phase", PATH_PHASE},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && path->count == 2; i++)
		if (is_key(path, 0, fields[i].outer) && is_key(path, 1, fields[i].inner))
			return fields[i].header;
	return PATH_BODY;
}

int
path_compile(struct path *ret_path, const char *text, size_t length, size_t *ret_offset, const char **ret_why)
{
	struct compiler c = {.path = ret_path, .text = text, .end = length};
	int r;

	memset(ret_path, 0, sizeof(*ret_path));
	r = compile(&c);
	if (r == 0)
		ret_path->header = find_header(ret_path);
	if (r != 0 && ret_offset)
		*ret_offset = c.at;
	if (r != 0 && ret_why)
		*ret_why = c.why;
	return r;
}

static bool
enter_key(const struct path *path, const struct path_step *step, struct value *v)
{
	return value_enter(v, path->names + step->name_offset, step->name_length, step->fingerprint,
			   (struct value_memo *)(uintptr_t)&step->memo);
}

/* Replace v by the value that the step leads to; false: there is none. In place, see value_enter(). */
static bool
take_step(const struct path *path, const struct path_step *step, struct value *v)
{
	if (step->kind == PATH_KEY)
		return enter_key(path, step, v);
	*v = value_element(*v, step->element);
	return v->at != NULL;
}

struct walk {
	const struct path *path;
	int (*each)(struct value hit, void *context);
	void *context;
	uint32_t left;	/* values that may still be visited: limits the walk in a damaged arena */
};

static int
walk_from(struct walk *w, unsigned i, struct value *v)
{
	struct value_iter it;
	int r = 0;

	if (!v->at)
		return 0;
	for (; i < w->path->count && w->path->steps[i].kind != PATH_ANY; i++)
		if (!take_step(w->path, &w->path->steps[i], v))
			return 0;
	if (i == w->path->count)
		return w->each(*v, w->context);
	it = value_iterate(*v);
	while (r == 0 && value_next(&it))
		r = w->left-- > 0 ? walk_from(w, i + 1, &it.item) : -EBADMSG;
	return r == 0 && it.damaged ? -EBADMSG : r;
}

int
path_each(const struct path *path, struct value root, int (*each)(struct value hit, void *context),
	  void *context)
{
	struct walk w = {.path = path, .each = each, .context = context, .left = VALUE_ITEMS_MAX};

	return walk_from(&w, 0, &root);
}

static int
keep_first(struct value hit, void *context)
{
	*(struct value *)context = hit;
	return 1;
}

bool
path_follow(const struct path *path, struct value *v)
{
	for (unsigned i = 0; i < path->count; i++) {
		const struct path_step *step = &path->steps[i];

		if (step->kind == PATH_ANY) {
			struct value from = *v;
			struct walk w = {
				.path = path, .each = keep_first, .context = v, .left = VALUE_ITEMS_MAX};

			return walk_from(&w, i, &from) > 0;
		}
		if (!take_step(path, step, v))
			return false;
	}
	return v->at != NULL;
}

bool
path_same(const struct path *a, const struct path *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++) {
		const struct path_step *x = &a->steps[i], *y = &b->steps[i];

		if (x->kind != y->kind || x->element != y->element || x->name_length != y->name_length ||
		    memcmp(a->names + x->name_offset, b->names + y->name_offset, x->name_length) != 0)
			return false;
	}
	return true;
}

struct value
path_get(const struct path *path, struct value root)
{
	return path_follow(path, &root) ? root : (struct value){0};
}
