/* SPDX-License-Identifier: Apache-2.0 */
/* What a request asks, as authorization sees it; see attributes.h. */
#include "tools/informer-gateway/config/attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

static const char *
or_nothing(const char *text)
{
	return text ? text : "";
}

/* ---- a name in a field selector ---- */

/* The value of one term "metadata.name=VALUE" (or ==), unescaped; false: it is another term. */
static bool
term_names(const char *term, size_t length, char name[GW_NAME_MAX])
{
	static const char field[] = "metadata.name";
	size_t at = sizeof(field) - 1, n = 0;

	if (length <= at || strncmp(term, field, at) != 0 || term[at] != '=')
		return false;
	at += at + 1 < length && term[at + 1] == '=' ? 2 : 1;
	for (; at < length; at++) {
		if (term[at] == '\\' && at + 1 < length)
			at++;
		if (n + 1 == GW_NAME_MAX)
			return false;
		name[n++] = term[at];
	}
	name[n] = '\0';
	return true;
}

/* Whether a selector wants one name, which could be a segment of a path; the first such term counts. */
static bool
selector_names(const char *selector, char name[GW_NAME_MAX])
{
	for (const char *at = selector; *at;) {
		size_t length = 0;

		for (; at[length] && at[length] != ','; length++)
			if (at[length] == '\\' && at[length + 1])
				length++;
		if (term_names(at, length, name))
			return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
			       !strpbrk(name, "/%");
		at += length + (at[length] == ',');
	}
	return false;
}

/* ---- making ---- */

struct gw_attributes
gw_attributes_of(const struct gw_asked *asked, char name[GW_NAME_MAX])
{
	struct gw_attributes a = {
		.verb = "get",
		.group = or_nothing(asked->group),
		.version = or_nothing(asked->version),
		.resource = or_nothing(asked->resource),
		.subresource = or_nothing(asked->subresource),
		.namespace_ = or_nothing(asked->namespace_),
		.name = or_nothing(asked->name),
		.field_selector = "",
		.label_selector = "",
		.path = "",
	};

	if (*a.name) {
		if (!*a.group && !*a.namespace_ && strcmp(a.resource, "namespaces") == 0)
			a.namespace_ = a.name;
		return a;
	}
	a.verb = asked->watch ? "watch" : "list";
	a.field_selector = or_nothing(asked->field_selector);
	a.label_selector = or_nothing(asked->label_selector);
	if (selector_names(a.field_selector, name))
		a.name = name;
	return a;
}

struct gw_attributes
gw_attributes_of_path(const char *path)
{
	return (struct gw_attributes){"get", "", "", "", "", "", "", "", "", path};
}

const char *
gw_attributes_verb(const char *method, const char *name)
{
	if (strcmp(method, "POST") == 0)
		return "create";
	if (strcmp(method, "PUT") == 0)
		return "update";
	if (strcmp(method, "PATCH") == 0)
		return "patch";
	if (strcmp(method, "DELETE") == 0)
		return name ? "delete" : "deletecollection";
	return "get";
}

/* ---- as one ---- */

#define TEXTS 10

static void
texts_of(const struct gw_attributes *a, const char *texts[TEXTS])
{
	const char *const all[TEXTS] = {a->verb,           a->group,      a->version, a->resource,
					a->subresource,    a->namespace_, a->name,    a->field_selector,
					a->label_selector, a->path};

	memcpy(texts, all, sizeof(all));
}

size_t
gw_attributes_size(const struct gw_attributes *attributes)
{
	const char *texts[TEXTS];
	size_t size = 0;

	texts_of(attributes, texts);
	for (size_t i = 0; i < TEXTS; i++)
		size += strlen(texts[i]);
	return size;
}

void
gw_attributes_digest(const struct gw_attributes *attributes, const uint8_t *who, size_t who_length,
		     const uint8_t key[GW_DIGEST], uint8_t digest[GW_DIGEST])
{
	crypto_generichash_state state;
	const char *texts[TEXTS];

	texts_of(attributes, texts);
	crypto_generichash_init(&state, key, GW_DIGEST, GW_DIGEST);
	crypto_generichash_update(&state, who, who_length);
	for (size_t i = 0; i < TEXTS; i++) /* with their ends, so that no two ways of cutting are alike */
		crypto_generichash_update(&state, (const uint8_t *)texts[i], strlen(texts[i]) + 1);
	crypto_generichash_final(&state, digest, GW_DIGEST);
}

/* ---- words ---- */

/* As Go's %q, as far as names and paths need it, and as upstream's answers escape what browsers read. */
static void
quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else if (*c == '\n')
			fputs("\\n", out);
		else if (*c == '\t')
			fputs("\\t", out);
		else if (*c == '\r')
			fputs("\\r", out);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(out, "\\x%02x", *c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}

static void
refusal(FILE *out, const struct gw_attributes *a, const char *user)
{
	fputs("User ", out);
	quoted(out, user);
	if (*a->path) {
		fprintf(out, " cannot %s path ", a->verb);
		quoted(out, a->path);
		return;
	}
	fprintf(out, " cannot %s resource \"%s%s%s\" in API group ", a->verb, a->resource,
		*a->subresource ? "/" : "", a->subresource);
	quoted(out, a->group);
	if (!*a->namespace_) {
		fputs(" at the cluster scope", out);
		return;
	}
	fputs(" in the namespace ", out);
	quoted(out, a->namespace_);
}

char *
gw_attributes_refusal(const struct gw_attributes *attributes, const char *user, const char *reason)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	refusal(out, attributes, user);
	if (reason && *reason)
		fprintf(out, ": %s", reason);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
