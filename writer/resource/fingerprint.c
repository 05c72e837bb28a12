/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes fingerprints. The length of each text is hashed before it, so that different sources give different
 * input.
 */
#include "writer/resource/fingerprint.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

static void
put(crypto_generichash_state *state, const void *data, size_t length)
{
	uint64_t prefix = htole64((uint64_t)length);

	crypto_generichash_update(state, (const unsigned char *)&prefix, sizeof(prefix));
	if (length > 0)
		crypto_generichash_update(state, data, length);
}

static void
put_text(crypto_generichash_state *state, const char *text)
{
	put(state, text ? text : "", text ? strlen(text) : 0);
}

static void
put_pairs(crypto_generichash_state *state, const struct kube_pairs *pairs)
{
	uint64_t n = htole64((uint64_t)pairs->n);

	put(state, &n, sizeof(n));
	for (size_t i = 0; i < pairs->n; i++) {
		put_text(state, pairs->items[i].name);
		put_text(state, pairs->items[i].value);
	}
}

static void
put_impersonation(crypto_generichash_state *state, const struct kube_impersonation *as)
{
	put_text(state, as->user);
	put_text(state, as->uid);
	put_pairs(state, &as->groups);
	put_pairs(state, &as->extra);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
finish(crypto_generichash_state *state, uint8_t ret_part[FINGERPRINT_PART_BYTES])
{
	uint8_t hash[FINGERPRINT_BYTES];

	crypto_generichash_final(state, hash, sizeof(hash));
	memcpy(ret_part, hash, FINGERPRINT_PART_BYTES);
}

static int
put_drops(crypto_generichash_state *state, const char *const *drops, size_t count)
{
	const char **sorted = calloc(count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	if (count > 0)
		memcpy(sorted, drops, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++)
		put_text(state, sorted[i]);
	free(sorted);
	return 0;
}

int
fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES])
{
	static const struct kube_impersonation nobody;
	crypto_generichash_state state;
	int r;

	crypto_generichash_init(&state, NULL, 0, FINGERPRINT_BYTES);
	put_text(&state, source->server);
	put_impersonation(&state, source->as ? source->as : &nobody);
	put_text(&state, source->resource->group);
	put_text(&state, source->resource->resource);
	finish(&state, ret_fingerprint);

	crypto_generichash_init(&state, NULL, 0, FINGERPRINT_BYTES);
	put_text(&state, source->resource->version);
	put_text(&state, source->resource->kind);
	put_text(&state, source->resource->namespaced ? "namespaced" : "");
	put_text(&state, source->namespace_);
	put_text(&state, source->label_selector);
	put_text(&state, source->field_selector);
	put_text(&state, source->metadata_only ? "metadata only" : "");
	r = put_drops(&state, source->drops, source->drop_count);
	finish(&state, ret_fingerprint + FINGERPRINT_PART_BYTES);

	crypto_generichash_init(&state, NULL, 0, FINGERPRINT_BYTES);
	put(&state, source->ca, source->ca ? source->ca_length : 0);
	finish(&state, ret_fingerprint + FINGERPRINT_CONTENT_BYTES);
	return r;
}

void
fingerprint_cluster(const char *id, uint8_t ret_cluster[FINGERPRINT_CLUSTER_BYTES])
{
	uint8_t hash[crypto_generichash_BYTES_MIN];

	memset(ret_cluster, 0, FINGERPRINT_CLUSTER_BYTES);
	if (!*id)
		return;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)id, strlen(id), NULL, 0);
	memcpy(ret_cluster, hash, FINGERPRINT_CLUSTER_BYTES);
	if (sodium_is_zero(ret_cluster, FINGERPRINT_CLUSTER_BYTES))
		ret_cluster[0] = 1;
}
