/* SPDX-License-Identifier: Apache-2.0 */
/* Identities and their keys; see identity.h. */
#include "tools/informer-gateway/access/identity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "tools/serving/buf.h"

struct gw_identity *
gw_identity_new(enum gw_identity_kind kind, const char *user, const char *uid)
{
	struct gw_identity *identity = api_alloc(sizeof(*identity));

	*identity = (struct gw_identity){
		.refs = 1,
		.kind = kind,
		.expires_ms = UINT64_MAX,
		.user = api_strndup(user, strlen(user)),
		.uid = api_strndup(uid, strlen(uid)),
	};
	return identity;
}

struct gw_identity *
gw_identity_of_uid(uid_t uid)
{
	char name[32];

	snprintf(name, sizeof(name), "uid:%lu", (unsigned long)uid);
	return gw_identity_new(GW_IDENTITY_PEER, name, "");
}

struct gw_texts *
gw_identity_extra(struct gw_identity *identity, const char *name)
{
	struct gw_extra *extra;

	for (size_t i = 0; i < identity->extra_count; i++)
		if (strcmp(identity->extra[i].name, name) == 0)
			return &identity->extra[i].values;
	identity->extra = api_realloc(identity->extra, (identity->extra_count + 1) * sizeof(*extra));
	extra = &identity->extra[identity->extra_count++];
	*extra = (struct gw_extra){.name = api_strndup(name, strlen(name))};
	return &extra->values;
}

/* ---- the identity's key ---- */

static void
hash_text(crypto_generichash_state *state, const char *text)
{
	crypto_generichash_update(state, (const uint8_t *)text, strlen(text) + 1);
}

static void
hash_texts(crypto_generichash_state *state, const struct gw_texts *texts)
{
	uint64_t count = texts->count;

	crypto_generichash_update(state, (const uint8_t *)&count, sizeof(count));
	for (size_t i = 0; i < texts->count; i++)
		hash_text(state, texts->items[i]);
}

void
gw_identity_seal(struct gw_identity *identity, const uint8_t secret[GW_DIGEST])
{
	crypto_generichash_state state;
	uint8_t kind = (uint8_t)identity->kind;

	crypto_generichash_init(&state, secret, GW_DIGEST, GW_DIGEST);
	crypto_generichash_update(&state, &kind, 1);
	hash_text(&state, identity->user);
	hash_text(&state, identity->uid);
	hash_texts(&state, &identity->groups);
	for (size_t i = 0; i < identity->extra_count; i++) {
		hash_text(&state, identity->extra[i].name);
		hash_texts(&state, &identity->extra[i].values);
	}
	crypto_generichash_final(&state, identity->key, GW_DIGEST);
}

/* ---- references and sizes ---- */

struct gw_identity *
gw_identity_ref(struct gw_identity *identity)
{
	identity->refs++;
	return identity;
}

void
gw_identity_unref(struct gw_identity *identity)
{
	if (!identity || --identity->refs > 0)
		return;
	free(identity->user);
	free(identity->uid);
	gw_texts_done(&identity->groups);
	for (size_t i = 0; i < identity->extra_count; i++) {
		free(identity->extra[i].name);
		gw_texts_done(&identity->extra[i].values);
	}
	free(identity->extra);
	free(identity);
}

static size_t
texts_size(const struct gw_texts *texts)
{
	size_t size = 0;

	for (size_t i = 0; i < texts->count; i++)
		size += strlen(texts->items[i]) + 32;
	return size;
}

size_t
gw_identity_size(const struct gw_identity *identity)
{
	size_t size = sizeof(*identity) + strlen(identity->user) + strlen(identity->uid) +
		      texts_size(&identity->groups);

	for (size_t i = 0; i < identity->extra_count; i++)
		size += sizeof(*identity->extra) + strlen(identity->extra[i].name) +
			texts_size(&identity->extra[i].values);
	return size;
}
