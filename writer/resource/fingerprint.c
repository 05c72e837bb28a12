/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprint. Each part goes in with its length in front, so that no two sources read the same.
 */
#include "writer/resource/fingerprint.h"

#include <endian.h>
#include <errno.h>
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

static int
make(const struct fingerprint_source *source, bool former, uint8_t ret_fingerprint[FINGERPRINT_BYTES])
{
	static const struct kube_impersonation nobody;
	crypto_generichash_state state;
	const char **drops = NULL;

	if (source->drop_count > 0) {
		drops = malloc(source->drop_count * sizeof(*drops));
		if (!drops)
			return -ENOMEM;
		memcpy(drops, source->drops, source->drop_count * sizeof(*drops));
		qsort(drops, source->drop_count, sizeof(*drops), compare);
	}
	crypto_generichash_init(&state, NULL, 0, FINGERPRINT_BYTES);
	put_text(&state, former ? "informer fingerprint 2" : "informer fingerprint 3");
	put_text(&state, source->server);
	if (former)
		put(&state, source->ca, source->ca ? source->ca_length : 0);
	put_impersonation(&state, source->as ? source->as : &nobody);
	put_text(&state, source->resource->group);
	put_text(&state, source->resource->version);
	put_text(&state, source->resource->resource);
	put_text(&state, source->namespace_);
	put_text(&state, source->label_selector);
	put_text(&state, source->field_selector);
	for (size_t i = 0; i < source->drop_count; i++)
		put_text(&state, drops[i]);
	if (source->metadata_only)
		put_text(&state, "metadata only"); /* no path of a drop has a blank */
	crypto_generichash_final(&state, ret_fingerprint, FINGERPRINT_BYTES);
	free(drops);
	return 0;
}

int
fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES])
{
	uint8_t of_ca[FINGERPRINT_BYTES];
	crypto_generichash_state state;
	int r = make(source, false, ret_fingerprint);

	crypto_generichash_init(&state, NULL, 0, sizeof(of_ca));
	put(&state, source->ca, source->ca ? source->ca_length : 0);
	crypto_generichash_final(&state, of_ca, sizeof(of_ca));
	memcpy(ret_fingerprint + FINGERPRINT_CONTENT_BYTES, of_ca,
	       FINGERPRINT_BYTES - FINGERPRINT_CONTENT_BYTES);
	return r;
}

int
fingerprint_make_former(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES])
{
	return make(source, true, ret_fingerprint);
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
