/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The label selector's lexer and parser, after labels.Parse: the same tokens, messages and two contexts.
 * Where a value is expected, "in" and "notin" are ordinary words.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/serving/selector.h"

enum token {
	TOKEN_END,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_NOT,
	TOKEN_DOUBLE_EQUALS,
	TOKEN_EQUALS,
	TOKEN_GREATER,
	TOKEN_IDENTIFIER,
	TOKEN_IN,
	TOKEN_LESS,
	TOKEN_NOT_EQUALS,
	TOKEN_NOT_IN,
	TOKEN_OPEN,
};

struct word {
	const char *text; /* in the selector */
	size_t len;
};

struct parser {
	const char *at;
	enum token token; /* the next one */
	struct word word; /* the next token's text */
	struct word used; /* the last consumed token's text */
	char **error;
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool
is_special(char c)
{
	return c && strchr("=!(),><", c);
}

static bool
is(struct word word, const char *text)
{
	return word.len == strlen(text) && !memcmp(word.text, text, word.len);
}

/* Read the next token into p->token and p->word. */
static void
scan(struct parser *p)
{
	static const struct {
		const char *text;
		enum token token;
	} symbols[] = {{"==", TOKEN_DOUBLE_EQUALS},
		       {"!=", TOKEN_NOT_EQUALS},
		       {"=", TOKEN_EQUALS},
		       {"!", TOKEN_NOT},
		       {"(", TOKEN_OPEN},
		       {")", TOKEN_CLOSE},
		       {",", TOKEN_COMMA},
		       {">", TOKEN_GREATER},
		       {"<", TOKEN_LESS}};

	while (is_space(*p->at))
		p->at++;
	p->word = (struct word){.text = p->at};
	p->token = *p->at ? TOKEN_IDENTIFIER : TOKEN_END;
	for (size_t i = 0; is_special(*p->at) && !p->word.len; i++)
		if (!strncmp(p->at, symbols[i].text, strlen(symbols[i].text))) {
			p->token = symbols[i].token;
			p->word.len = strlen(symbols[i].text);
		}
	while (p->token == TOKEN_IDENTIFIER && p->at[p->word.len] && !is_space(p->at[p->word.len]) &&
	       !is_special(p->at[p->word.len]))
		p->word.len++;
	p->at += p->word.len;
	if (is(p->word, "in"))
		p->token = TOKEN_IN;
	else if (is(p->word, "notin"))
		p->token = TOKEN_NOT_IN;
}

/* The next token, where a word is expected. */
static enum token
look(const struct parser *p)
{
	return p->token == TOKEN_IN || p->token == TOKEN_NOT_IN ? TOKEN_IDENTIFIER : p->token;
}

static enum token
consume(struct parser *p)
{
	enum token token = p->token;

	p->used = p->word;
	scan(p);
	return token;
}

static enum token
consume_word(struct parser *p)
{
	enum token token = look(p);

	consume(p);
	return token;
}

static int
fail(struct parser *p, const char *prefix, struct word found, const char *expected)
{
	/* upstream's message has no comma there */
	return api_selector_refuse(p->error, "%sfound '%.*s'%s expected: %s", prefix, (int)found.len,
				   found.text, strcmp(expected, "'('") ? "," : "", expected);
}

#define IN_REQUIREMENT "unable to parse requirement: "
#define INTEGER "for 'Gt', 'Lt' operators, the value must be an integer"
#define KEY                                                                                                  \
	"a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and "    \
	"end with an alphanumeric character, with an optional DNS subdomain prefix and '/'"
#define NAME_PART                                                                                            \
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with "   \
	"an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "            \
	"validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE                                                                                                \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " \
	"must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "   \
	"regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/* Alphanumeric at both ends; in between also '-', '_' and '.'. */
static bool
is_part(const char *text, size_t len)
{
	if (len == 0 || !isalnum((unsigned char)text[0]) || !isalnum((unsigned char)text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

static int
invalid(struct parser *p, const char *field, const char *text, const char *rule)
{
	return api_selector_refuse(p->error, IN_REQUIREMENT "%s: Invalid value: \"%s\": %s", field, text,
				   rule);
}

static int
check_key(struct parser *p, const char *key)
{
	const char *slash = strrchr(key, '/');
	const char *name = slash ? slash + 1 : key;

	if (slash && (slash == key || memchr(key, '/', (size_t)(slash - key))))
		return invalid(p, "key", key, KEY);
	if (strlen(name) > 63)
		return invalid(p, "key", key, "name part must be no more than 63 bytes");
	if (!is_part(name, strlen(name)))
		return invalid(p, "key", key, NAME_PART);
	if (slash && !is_part(key, (size_t)(slash - key)))
		return invalid(p, "key", key, "prefix part must be a lowercase RFC 1123 subdomain");
	return 0;
}

static int
check_values(struct parser *p, const struct api_requirement *r)
{
	char field[400];
	long long number;

	for (size_t i = 0; i < r->value_count; i++) {
		const char *value = r->values[i];

		snprintf(field, sizeof(field), "values[%zu]", i);
		if ((r->op == API_OP_GREATER || r->op == API_OP_LESS) &&
		    !api_requirement_integer(value, &number))
			return invalid(p, field, value, INTEGER);
		snprintf(field, sizeof(field), "values[%zu][%s]", i, r->key);
		if (strlen(value) > 63)
			return invalid(p, field, value, "must be no more than 63 bytes");
		if (value[0] && !is_part(value, strlen(value)))
			return invalid(p, field, value, VALUE);
	}
	return 0;
}

/* Parse the list behind '('. An empty place between commas is the empty value. */
static int
identifiers(struct parser *p, struct api_requirement *r)
{
	for (;;) {
		enum token token = consume_word(p);

		if (token == TOKEN_IDENTIFIER) {
			api_requirement_value(r, p->used.text, p->used.len);
			if (look(p) == TOKEN_CLOSE)
				return 0;
			if (look(p) != TOKEN_COMMA)
				return fail(p, IN_REQUIREMENT, p->word, "',' or ')'");
		} else if (token == TOKEN_COMMA) {
			if (r->value_count == 0)
				api_requirement_value(r, "", 0);
			if (look(p) == TOKEN_CLOSE) {
				api_requirement_value(r, "", 0);
				return 0;
			}
			if (look(p) == TOKEN_COMMA) {
				consume_word(p);
				api_requirement_value(r, "", 0);
			}
		} else {
			return fail(p, IN_REQUIREMENT, p->used, "',', or identifier");
		}
	}
}

static int
set_values(struct parser *p, struct api_requirement *r)
{
	int result;

	if (consume_word(p) != TOKEN_OPEN)
		return fail(p, IN_REQUIREMENT, p->used, "'('");
	switch (look(p)) {
	case TOKEN_IDENTIFIER:
	case TOKEN_COMMA:
		result = identifiers(p, r);
		if (result < 0)
			return result;
		if (consume_word(p) != TOKEN_CLOSE)
			return fail(p, IN_REQUIREMENT, p->used, "')'");
		return 0;
	case TOKEN_CLOSE:
		consume_word(p);
		api_requirement_value(r, "", 0);
		return 0;
	default:
		return fail(p, IN_REQUIREMENT, p->word, "',', ')' or identifier");
	}
}

static int
exact_value(struct parser *p, struct api_requirement *r)
{
	if (look(p) == TOKEN_END || look(p) == TOKEN_COMMA) {
		api_requirement_value(r, "", 0);
		return 0;
	}
	if (consume_word(p) != TOKEN_IDENTIFIER)
		return fail(p, IN_REQUIREMENT, p->used, "identifier");
	api_requirement_value(r, p->used.text, p->used.len);
	return 0;
}

static int
requirement(struct parser *p, struct api_selector *selector)
{
	static const struct {
		enum token token;
		enum api_op op;
		int (*values)(struct parser *p, struct api_requirement *r);
	} operators[] = {{TOKEN_IN, API_OP_IN, set_values},
			 {TOKEN_NOT_IN, API_OP_NOT_IN, set_values},
			 {TOKEN_EQUALS, API_OP_IN, exact_value},
			 {TOKEN_DOUBLE_EQUALS, API_OP_IN, exact_value},
			 {TOKEN_NOT_EQUALS, API_OP_NOT_IN, exact_value},
			 {TOKEN_GREATER, API_OP_GREATER, exact_value},
			 {TOKEN_LESS, API_OP_LESS, exact_value}};
	struct api_requirement *r = api_selector_add(selector);
	enum token token = consume_word(p);
	int result;

	r->op = API_OP_EXISTS;
	if (token == TOKEN_NOT) {
		r->op = API_OP_ABSENT;
		token = consume_word(p);
	}
	if (token != TOKEN_IDENTIFIER)
		return fail(p, IN_REQUIREMENT, p->used, "identifier");
	r->key = api_strndup(p->used.text, p->used.len);
	result = check_key(p, r->key);
	if (result < 0)
		return result;
	if (look(p) == TOKEN_END || look(p) == TOKEN_COMMA || r->op == API_OP_ABSENT)
		return 0;
	token = consume(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
		if (operators[i].token != token)
			continue;
		r->op = operators[i].op;
		result = operators[i].values(p, r);
		return result < 0 ? result : check_values(p, r);
	}
	return fail(p, IN_REQUIREMENT, p->used, "in, notin, =, ==, !=, gt, lt");
}

static int
requirements(struct parser *p, struct api_selector *selector)
{
	for (;;) {
		int r;

		switch (look(p)) {
		case TOKEN_IDENTIFIER:
		case TOKEN_NOT:
			r = requirement(p, selector);
			if (r < 0)
				return r;
			break;
		case TOKEN_END:
			return 0;
		default:
			return fail(p, "", p->word, "!, identifier, or 'end of string'");
		}
		switch (consume_word(p)) {
		case TOKEN_END:
			return 0;
		case TOKEN_COMMA:
			if (look(p) != TOKEN_IDENTIFIER && look(p) != TOKEN_NOT)
				return fail(p, "", p->word, "identifier after ','");
			break;
		default:
			return fail(p, "", p->used, "',' or 'end of string'");
		}
	}
}

int
api_labels_parse(const char *text, struct api_selector **ret_selector, char **ret_error)
{
	struct api_selector *selector = api_selector_new();
	struct parser p = {.at = text, .error = ret_error};
	int r;

	scan(&p);
	r = requirements(&p, selector);
	if (r < 0) {
		api_selector_free(selector);
		return r;
	}
	selector->text = api_strndup(text, strlen(text));
	*ret_selector = selector;
	return 0;
}
