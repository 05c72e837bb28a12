/* SPDX-License-Identifier: Apache-2.0 */
/* A request's attributes and their digest; see attributes.h. */
#include "tools/informer-gateway/config/attributes.h"

#include <string.h>

#include <sodium.h>

#define TEXTS 10
_Static_assert(sizeof(struct gw_attributes) == TEXTS * sizeof(char *), "they are texts, and nothing else");

/* ---- the name in a field selector ---- */

/* The unescaped value of a term "metadata.name=VALUE" or "metadata.name==VALUE". False: another term. */
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

/* Whether the selector selects one name that is a valid path segment. Only the first such term is used. */
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

/* ---- creating ---- */

struct gw_attributes
gw_attributes_of(const struct gw_attributes *asked, char name[GW_NAME_MAX])
{
	struct gw_attributes a = *asked;
	const char **texts = (const char **)&a;

	for (size_t i = 0; i < TEXTS; i++)
		if (!texts[i])
			texts[i] = "";
	if (*a.name) {
		a.verb = "get";
		a.field_selector = a.label_selector = "";
		if (!*a.group && !*a.namespace_ && strcmp(a.resource, "namespaces") == 0)
			a.namespace_ = a.name;
		return a;
	}
	if (!*a.verb)
		a.verb = "list";
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

/* ---- size and digest ---- */

size_t
gw_attributes_size(const struct gw_attributes *attributes)
{
	const char *const *texts = (const char *const *)attributes;
	size_t size = 0;

	for (size_t i = 0; i < TEXTS; i++)
		size += strlen(texts[i]);
	return size;
}

void
gw_attributes_digest(const struct gw_attributes *attributes, const uint8_t *who, size_t who_length,
		     const uint8_t key[GW_DIGEST], uint8_t digest[GW_DIGEST])
{
	const char *const *texts = (const char *const *)attributes;
	crypto_generichash_state state;

	crypto_generichash_init(&state, key, GW_DIGEST, GW_DIGEST);
	crypto_generichash_update(&state, who, who_length);
	for (size_t i = 0; i < TEXTS; i++) /* with the NULs: different texts give different bytes */
		crypto_generichash_update(&state, (const uint8_t *)texts[i], strlen(texts[i]) + 1);
	crypto_generichash_final(&state, digest, GW_DIGEST);
}
