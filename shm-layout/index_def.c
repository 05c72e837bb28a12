/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index functions as data. Writer and reader both compile this file, so they compute the same values for an
 * object.
 */
#include "shm-layout/index_def.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a definition ---- */

static int
refuse(const char **ret_why, const char *why)
{
	if (ret_why)
		*ret_why = why;
	return -EINVAL;
}

static int
read_as(struct index_rule *rule, struct value as)
{
	static const struct {
		const char *word;
		enum index_as as;
	} words[] = {
		{"string", INDEX_STRING}, {"scheme", INDEX_SCHEME},	  {"keyvalue", INDEX_KEYVALUE},
		{"split", INDEX_SPLIT},	  {"namespace", INDEX_NAMESPACE},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (value_equals_string(as, words[i].word, strlen(words[i].word))) {
			rule->as = words[i].as;
			return 0;
		}
	return -EINVAL;
}

static int
read_rule(struct index_rule *rule, struct value document, const char **ret_why)
{
	struct value path = value_at_name(document, "path"), separator = value_at_name(document, "separator");
	const char *text;
	size_t length;

	if (value_kind(document) != VALUE_OBJECT)
		return refuse(ret_why, "a rule of an index is an object");
	if (read_as(rule, value_at_name(document, "as")) < 0)
		return refuse(ret_why, "as: one of string, scheme, keyvalue, split, namespace is expected");
	if (rule->as == INDEX_NAMESPACE)
		return path.at ? refuse(ret_why, "path: a rule as namespace has none") : 0;
	if (value_kind(path) != VALUE_STRING || !value_string(path, &text, &length))
		return refuse(ret_why, "path: a string is expected");
	if (path_compile(&rule->path, text, length, NULL, ret_why) < 0)
		return -EINVAL;
	if (rule->path.count == 0)
		return refuse(ret_why, "path: the whole object cannot be indexed");
	if (rule->as == INDEX_SPLIT) {
		if (value_kind(separator) != VALUE_STRING || !value_string(separator, &text, &length) ||
		    length != 1)
			return refuse(ret_why, "separator: one character is expected");
		rule->separator = text[0];
	}
	return 0;
}

static int
read_prefix(struct index_def *def, struct value document, const char **ret_why)
{
	struct value prefix = value_at_name(document, "prefix");
	uint64_t bytes;

	if (!prefix.at)
		return 0;
	if (!value_uint(prefix, &bytes) || bytes == 0 || bytes > INDEX_PREFIX_MAX)
		return refuse(ret_why, "prefix: a number of bytes from 1 to 255 is expected");
	for (unsigned i = 0; i < def->rule_count; i++)
		if (def->rules[i].as == INDEX_NAMESPACE)
			return refuse(ret_why, "prefix: an index with a rule as namespace has none");
	def->prefix = (unsigned)bytes;
	return 0;
}

int
index_def_read(struct index_def *ret_def, struct value document, const char **ret_why)
{
	struct value name = value_at_name(document, "name"), rules = value_at_name(document, "rules");
	struct value_iter it;
	const char *text;
	size_t length, count;
	int r = 0;

	memset(ret_def, 0, sizeof(*ret_def));
	if (value_kind(name) != VALUE_STRING || !value_string(name, &text, &length) || length == 0 ||
	    length > INDEX_NAME_MAX || memchr(text, '\0', length))
		return refuse(ret_why, "name: a string of 1 to 63 bytes is expected");
	count = value_count(rules);
	if (value_kind(rules) != VALUE_ARRAY || count == 0 || count > INDEX_RULES_MAX)
		return refuse(ret_why, "rules: an array of 1 to 8 rules is expected");
	ret_def->rules = calloc(count, sizeof(ret_def->rules[0]));
	if (!ret_def->rules)
		return -ENOMEM;
	memcpy(ret_def->name, text, length);
	it = value_iterate(rules);
	while (r == 0 && ret_def->rule_count < count && value_next(&it))
		r = read_rule(&ret_def->rules[ret_def->rule_count++], it.item, ret_why);
	if (r == 0 && it.damaged)
		r = refuse(ret_why, "the definition is damaged");
	if (r == 0)
		r = read_prefix(ret_def, document, ret_why);
	if (r < 0)
		index_def_done(ret_def);
	return r;
}

bool
index_def_same(const struct index_def *a, const struct index_def *b)
{
	if (strcmp(a->name, b->name) != 0 || a->prefix != b->prefix || a->rule_count != b->rule_count)
		return false;
	for (unsigned i = 0; i < a->rule_count; i++)
		if (a->rules[i].as != b->rules[i].as || a->rules[i].separator != b->rules[i].separator ||
		    !path_same(&a->rules[i].path, &b->rules[i].path))
			return false;
	return true;
}

void
index_def_done(struct index_def *def)
{
	free(def->rules);
	memset(def, 0, sizeof(*def));
}

/* ---- an object's values ---- */

struct values {
	const struct index_rule *rule;
	int (*each)(const char *data, size_t length, void *context);
	void *context;
};

struct text {
	char data[INDEX_VALUE_MAX];
	size_t length;
};

static int
append(const char *data, size_t length, void *context)
{
	struct text *t = context;

	if (length > sizeof(t->data) - t->length)
		return -E2BIG;
	memcpy(t->data + t->length, data, length);
	t->length += length;
	return 0;
}

/* Append a scalar's text to t. Returns 1; 0: v has no such text, or it does not fit; -EBADMSG. */
static int
append_scalar(struct text *t, struct value v)
{
	const char *data;
	size_t length;
	int r;

	switch (value_kind(v)) {
	case VALUE_STRING:
		if (!value_string(v, &data, &length))
			return -EBADMSG;
		r = append(data, length, t);
		break;
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_UINT:
	case VALUE_DOUBLE:
	case VALUE_NUMBER:
		r = value_to_json(v, append, t);
		break;
	default:
		return 0;
	}
	return r == 0 ? 1 : r == -E2BIG ? 0 : r;
}

static int
hand_over(const struct values *vs, const char *data, size_t length)
{
	return length <= INDEX_VALUE_MAX ? vs->each(data, length, vs->context) : 0;
}

/* Length of a scheme as in "containerd://": letters, digits, '+', '-', '.', then "://"; 0: none. */
static size_t
scheme_length(const char *data, size_t length)
{
	size_t i = 0;

	while (i < length &&
	       ((data[i] >= 'a' && data[i] <= 'z') || (data[i] >= 'A' && data[i] <= 'Z') ||
		(data[i] >= '0' && data[i] <= '9') || data[i] == '+' || data[i] == '-' || data[i] == '.'))
		i++;
	return i > 0 && length - i >= 3 && memcmp(data + i, "://", 3) == 0 ? i + 3 : 0;
}

static int
each_part(const struct values *vs, const char *data, size_t length)
{
	const char *end = data + length;
	int r = 0;

	while (r == 0 && data <= end) {
		const char *stop = memchr(data, vs->rule->separator, (size_t)(end - data));
		const char *from = data, *to;

		if (!stop)
			stop = end;
		to = stop;
		while (from < to && (*from == ' ' || *from == '\t'))
			from++;
		while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
			to--;
		if (to > from)
			r = hand_over(vs, from, (size_t)(to - from));
		data = stop + 1;
	}
	return r;
}

static int
each_field(const struct values *vs, struct value object)
{
	struct value_iter it = value_iterate(object);
	struct text t;
	int r = 0;

	if (value_kind(object) != VALUE_OBJECT)
		return 0;
	while (r == 0 && value_next(&it)) {
		t.length = 0;
		if (append(it.key, it.key_length, &t) < 0 || append("=", 1, &t) < 0)
			continue;
		r = append_scalar(&t, it.item);
		if (r > 0)
			r = hand_over(vs, t.data, t.length);
	}
	return r == 0 && it.damaged ? -EBADMSG : r;
}

static int
each_hit(struct value hit, void *context)
{
	const struct values *vs = context;
	const char *data;
	size_t length, skip;
	struct text t;
	int r;

	if (vs->rule->as == INDEX_KEYVALUE)
		return each_field(vs, hit);
	if (value_kind(hit) != VALUE_STRING) {
		t.length = 0;
		r = append_scalar(&t, hit);
		return r > 0 ? hand_over(vs, t.data, t.length) : r;
	}
	if (!value_string(hit, &data, &length))
		return -EBADMSG;
	if (vs->rule->as == INDEX_SPLIT)
		return each_part(vs, data, length);
	if (vs->rule->as == INDEX_STRING)
		return hand_over(vs, data, length);
	skip = scheme_length(data, length);
	return length > skip ? hand_over(vs, data + skip, length - skip) : 0;
}

int
index_rule_each(const struct index_rule *rule, struct value hit,
		int (*each)(const char *data, size_t length, void *context), void *context)
{
	struct values vs = {rule, each, context};

	return each_hit(hit, &vs);
}

int
index_def_each(const struct index_def *def, struct value body,
	       int (*each)(const char *data, size_t length, void *context), void *context)
{
	struct values vs = {.each = each, .context = context};
	int r = 0;

	for (unsigned i = 0; i < def->rule_count && r == 0; i++) {
		vs.rule = &def->rules[i];
		if (vs.rule->as != INDEX_NAMESPACE)
			r = path_each(&vs.rule->path, body, each_hit, &vs);
		else if (body.own && body.own->namespace_length > 0)
			r = each(object_namespace(body.own), body.own->namespace_length, context);
	}
	return r;
}

struct filing {
	const struct index_def *def;
	int (*each)(const char *data, size_t length, void *context);
	void *context;
};

static int
hand_over_filed(const char *data, size_t length, void *context)
{
	const struct filing *f = context;

	return f->each(data, index_def_filed_length(f->def, length), f->context);
}

int
index_def_each_filed(const struct index_def *def, struct value body,
		     int (*each)(const char *data, size_t length, void *context), void *context)
{
	struct filing f = {def, each, context};

	return index_def_each(def, body, hand_over_filed, &f);
}

struct wanted {
	const char *data;
	size_t length;
};

static int
is_wanted(const char *data, size_t length, void *context)
{
	const struct wanted *w = context;

	return length == w->length && memcmp(data, w->data, length) == 0;
}

static int
begins_as_wanted(const char *data, size_t length, void *context)
{
	const struct wanted *w = context;

	return length >= w->length && memcmp(data, w->data, w->length) == 0;
}

int
index_def_has(const struct index_def *def, struct value body, const char *data, size_t length)
{
	struct wanted w = {data, length};

	return index_def_each(def, body, is_wanted, &w);
}

int
index_def_has_prefix(const struct index_def *def, struct value body, const char *data, size_t length)
{
	struct wanted w = {data, length};

	return index_def_each(def, body, begins_as_wanted, &w);
}

int
index_def_has_filed(const struct index_def *def, struct value body, const char *data, size_t length)
{
	/* a filed value of `prefix` bytes may be all of a value, or its beginning */
	return def->prefix > 0 && length == def->prefix ? index_def_has_prefix(def, body, data, length)
							 : index_def_has(def, body, data, length);
}

/* ---- roles ---- */

static bool
path_is(const struct path *path, const char *text)
{
	struct path other;

	return path_compile(&other, text, strlen(text), NULL, NULL) == 0 && path_same(path, &other);
}

int
index_with_role(const struct index_def *defs, unsigned count, enum index_role role)
{
	static const struct {
		enum index_as as;
		const char *path; /* NULL: any */
	} rules[] = {
		[INDEX_ROLE_NAMESPACE] = {INDEX_NAMESPACE, NULL},
		[INDEX_ROLE_LABELS] = {INDEX_KEYVALUE, "metadata.labels"},
		[INDEX_ROLE_UID] = {INDEX_STRING, "metadata.uid"},
		[INDEX_ROLE_ADDRESS] = {INDEX_STRING, "status.podIPs[*].ip"},
		[INDEX_ROLE_CONTAINER] = {INDEX_SCHEME, NULL},
	};

	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < defs[i].rule_count; k++)
			if (defs[i].rules[k].as == rules[role].as &&
			    (!rules[role].path || path_is(&defs[i].rules[k].path, rules[role].path)))
				return (int)i;
	return -1;
}
