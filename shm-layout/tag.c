/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity tags: key derivation, a block's two-step SipHash tag, and a verifying reader's table of the
 * blocks that it has checked.
 */
#include "shm-layout/tag.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/header.h"
#include "shm-layout/shortcut.h"

_Static_assert(crypto_shorthash_KEYBYTES == 16, "tag: SipHash keys are 16 bytes");
_Static_assert(crypto_kdf_KEYBYTES == TAG_MASTER_BYTES, "tag: the key file is a kdf key");

void
tag_derive(const uint8_t master[TAG_MASTER_BYTES], struct tag_keys *ret_keys, struct tag_root_key *ret_root)
{
	uint8_t both[32];

	crypto_kdf_derive_from_key(both, sizeof(both), 1, "infblock", master);
	memcpy(ret_keys->content, both, 16);
	memcpy(ret_keys->block, both + 16, 16);
	sodium_memzero(both, sizeof(both));
	crypto_kdf_derive_from_key(ret_root->key, sizeof(ret_root->key), 2, "inf_root", master);
}

void
tag_key_id(const uint8_t master[TAG_MASTER_BYTES], uint8_t ret_id[16])
{
	crypto_generichash(ret_id, 16, master, TAG_MASTER_BYTES, (const uint8_t *)"informer key id", 15);
}

void
tag_identity(const struct tag_root_key *key, const struct header *h, uint8_t ret_tag[32])
{
	crypto_generichash(ret_tag, 32, (const uint8_t *)h, HEADER_IDENTITY_BYTES, key->key,
			   sizeof(key->key));
}

void
tag_root(const struct tag_root_key *key, const uint8_t hash_key[16], uint64_t offset, const struct block *b,
	 uint8_t ret_tag[TAG_ROOT_BYTES])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, key->key, sizeof(key->key), TAG_ROOT_BYTES);
	crypto_generichash_update(&state, b->payload + TAG_ROOT_BYTES, block_length(b) - TAG_ROOT_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)&offset, sizeof(offset));
	/* hash_key: the identity tag covers it, and a verbatim copy of the arena keeps it */
	crypto_generichash_update(&state, hash_key, 16);
	crypto_generichash_final(&state, ret_tag, TAG_ROOT_BYTES);
}

uint64_t
tag_content_hash(const struct tag_keys *keys, const void *payload, uint32_t length)
{
	uint64_t h;

	crypto_shorthash((unsigned char *)&h, payload, length, keys->content);
	return h;
}

/* The tag of a block. type_length: the caller's copy, because the block's own word may change. */
static uint64_t
tag_of(const struct tag_keys *keys, uint64_t offset, uint32_t type_length, uint32_t aux,
       uint64_t content_hash)
{
	struct {
		uint64_t offset;
		uint32_t type_length;
		uint32_t aux;
		uint64_t content_hash;
	} covered = {offset, type_length, aux, content_hash};
	uint64_t tag;

	crypto_shorthash((unsigned char *)&tag, (const unsigned char *)&covered, sizeof(covered),
			 keys->block);
	return tag;
}

uint64_t
tag_block(const struct tag_keys *keys, uint64_t offset, const struct block *b, uint64_t content_hash)
{
	return tag_of(keys, offset, b->type_length, b->aux, content_hash);
}

static uint32_t
covered_of(uint32_t type_length)
{
	uint32_t length = type_length & BLOCK_LENGTH_MAX;

	return type_length >> 28 == BLOCK_SHORTCUT && length > SHORTCUT_TAGGED ? SHORTCUT_TAGGED : length;
}

uint32_t
tag_covered(const struct block *b)
{
	return covered_of(b->type_length);
}

bool
tag_load_ok(const struct tag_keys *keys, uint64_t offset, const struct block *b, uint32_t type_length)
{
	uint64_t tag = LOAD_ONCE(&b->tag), hash = tag_content_hash(keys, b->payload, covered_of(type_length));

	return tag == tag_of(keys, offset, type_length, b->aux, hash);
}

/* ---- what a reader has checked ----------------------------------------------- */

/* 2^14 entries of 16 bytes: 256 KiB of the reader's private memory. */
#define VERIFIER_BITS 14u

struct checked {
	_Atomic uint64_t ref;
	_Atomic uint64_t tag;
};

struct block_verifier {
	struct tag_keys keys;
	_Atomic bool met_damage;
	struct checked table[1u << VERIFIER_BITS];
};

struct block_verifier *
block_verifier_new(const struct tag_keys *keys)
{
	struct block_verifier *v = calloc(1, sizeof(*v));

	if (v)
		v->keys = *keys;
	return v;
}

void
block_verifier_free(struct block_verifier *v)
{
	if (!v)
		return;
	sodium_memzero(&v->keys, sizeof(v->keys));
	free(v);
}

void
block_note_damage(const struct arena_view *view)
{
	atomic_store_explicit(&view->verifier->met_damage, true, memory_order_relaxed);
}

bool
block_verifier_met_damage(const struct block_verifier *v)
{
	return atomic_load_explicit(&((struct block_verifier *)(uintptr_t)v)->met_damage,
				    memory_order_relaxed);
}

/*
 * Two threads may store different entries in one place. A mixed pair (ref of one block, tag of the other)
 * matches neither block, and costs one more check.
 */
bool
block_verify(const struct arena_view *view, uint32_t ref, const struct block *b, uint32_t type_length)
{
	struct block_verifier *v = view->verifier;
	struct checked *c = &v->table[(ref * 2654435761u) >> (32 - VERIFIER_BITS)];
	uint64_t tag = LOAD_ONCE(&b->tag);

	if (atomic_load_explicit(&c->ref, memory_order_relaxed) == ref &&
	    atomic_load_explicit(&c->tag, memory_order_relaxed) == tag)
		return true;
	if (!tag_load_ok(&v->keys, ref_offset(ref), b, type_length)) {
		block_note_damage(view);
		return false;
	}
	atomic_store_explicit(&c->ref, ref, memory_order_relaxed);
	atomic_store_explicit(&c->tag, tag, memory_order_relaxed);
	return true;
}
