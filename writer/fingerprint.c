/*
 * Fingerprint. Each part goes in with its length in front, so that no two sources read the same.
 */
#include "writer/fingerprint.h"

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

static int
compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int
fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES])
{
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
	put_text(&state, "informer fingerprint 1");
	put_text(&state, source->server);
	put(&state, source->ca, source->ca ? source->ca_length : 0);
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
