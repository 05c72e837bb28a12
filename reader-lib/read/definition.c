/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads definitions from descriptors, and finds them again by a digest of the text.
 */
#include "reader-lib/read/definition.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#define INDEXES_MAX 256u

const char *
descriptor_text(struct value descriptor, const char *field, size_t *ret_length)
{
	const char *data;

	if (!value_string(value_at_name(descriptor, field), &data, ret_length)) {
		*ret_length = 0;
		return "";
	}
	return data;
}

bool
descriptor_canonical_name(struct value descriptor, char *name, size_t size)
{
	const char *plural, *group;
	size_t plural_length, group_length;
	int n;

	plural = descriptor_text(descriptor, "resource", &plural_length);
	group = descriptor_text(descriptor, "group", &group_length);
	n = snprintf(name, size, "%.*s%s%.*s", (int)plural_length, plural, group_length ? "." : "",
		     (int)group_length, group);
	return n > 0 && (size_t)n < size;
}

static int
digest_piece(const char *data, size_t length, void *context)
{
	return crypto_generichash_update(context, (const unsigned char *)data, length);
}

static int
digest_of(struct value v, uint8_t ret_digest[16])
{
	crypto_generichash_state state;
	int r;

	crypto_generichash_init(&state, NULL, 0, 16);
	r = value_to_json(v, digest_piece, &state);
	if (r == 0)
		crypto_generichash_final(&state, ret_digest, 16);
	return r;
}

static void
definition_free(struct informer *inf, struct definition *d)
{
	for (uint32_t i = 0; i < d->index_count; i++)
		index_def_done(&d->indexes[i]);
	memory_put(inf, d);
}

void
definitions_free(struct informer *inf, struct definition **list)
{
	while (*list) {
		struct definition *d = *list;

		*list = d->next;
		definition_free(inf, d);
	}
}

static int
read_definition(struct informer *inf, struct value descriptor, struct definition **ret_definition)
{
	struct value indexes = value_at_name(descriptor, "indexes");
	size_t count = value_count(indexes);
	struct definition *d;
	struct value_iter it;
	const char *why;
	int r = 0;

	if (count > INDEXES_MAX)
		return -EBADMSG;
	d = memory_get(inf, sizeof(*d) + count * sizeof(d->indexes[0]));
	if (!d)
		return -ENOMEM;
	it = value_iterate(indexes);
	while (r == 0 && d->index_count < count && value_next(&it)) {
		r = index_def_read(&d->indexes[d->index_count], it.item, &why);
		if (r == 0)
			d->index_count++;
	}
	if (r < 0 || it.damaged) {
		definition_free(inf, d);
		return r == -ENOMEM ? r : -EBADMSG;
	}
	for (unsigned role = 0; role < INDEX_ROLES; role++)
		d->roles[role] = index_with_role(d->indexes, d->index_count, (enum index_role)role);
	*ret_definition = d;
	return 0;
}

int
definition_get(struct informer *inf, struct definition **list, struct value descriptor,
	       const struct definition **ret_definition)
{
	uint8_t digest[16], again[16];
	struct definition *d;
	int r = digest_of(descriptor, digest);

	if (r < 0)
		return -EBADMSG;
	for (d = *list; d; d = d->next) {
		if (memcmp(d->digest, digest, sizeof(digest)) == 0) {
			*ret_definition = d;
			return 0;
		}
	}
	r = read_definition(inf, descriptor, &d);
	if (r < 0)
		return r;
	/*
	 * The digest stands for the definition from now on, so both must come from the same bytes. Bytes that
	 * turned to zeros meanwhile stay zeros, so the second digest differs.
	 */
	if (digest_of(descriptor, again) < 0 || memcmp(digest, again, sizeof(digest)) != 0) {
		definition_free(inf, d);
		return -EBADMSG;
	}
	memcpy(d->digest, digest, sizeof(digest));
	d->next = *list;
	*list = d;
	*ret_definition = d;
	return 0;
}

int
definition_index(const struct definition *d, const char *name)
{
	for (uint32_t i = 0; i < d->index_count; i++)
		if (strcmp(d->indexes[i].name, name) == 0)
			return (int)i;
	return -1;
}
