/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity tags: key derivation, the two-step SipHash tag of a block, and the memory of readers that verify,
 * so that they check each block once.
 */
#include "shm-layout/tag.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

uint64_t
tag_content_hash(const struct tag_keys *keys, const void *payload, uint32_t length)
{
	uint64_t h;

	crypto_shorthash((unsigned char *)&h, payload, length, keys->content);
	return h;
}

uint64_t
tag_block(const struct tag_keys *keys, uint64_t offset, const struct block *b, uint64_t content_hash)
{
	struct {
		uint64_t offset;
		uint32_t type_length;
		uint32_t aux;
		uint64_t content_hash;
	} covered = {offset, b->type_length, b->aux, content_hash};
	uint64_t tag;

	crypto_shorthash((unsigned char *)&tag, (const unsigned char *)&covered, sizeof(covered),
			 keys->block);
	return tag;
}

uint32_t
tag_covered(const struct block *b)
{
	return block_type(b) == BLOCK_SHORTCUT && block_length(b) > SHORTCUT_TAGGED ? SHORTCUT_TAGGED
										    : block_length(b);
}

bool
tag_block_ok(const struct tag_keys *keys, uint64_t offset, const struct block *b)
{
	return b->tag == tag_block(keys, offset, b, tag_content_hash(keys, b->payload, tag_covered(b)));
}

/* ---- what a reader has checked ----------------------------------------------- */

/* Entries of the table of checked blocks: 2^14 of 16 bytes, a reader's private 256 KiB. */
#define VERIFIER_BITS 14u

struct checked {
	_Atomic uint64_t ref;
	_Atomic uint64_t tag;
};

struct block_verifier {
	struct tag_keys keys;
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

/*
 * Two threads may store different entries in one place; a mixed pair {ref of one, tag of the other} matches
 * neither block, so it only costs another check.
 */
bool
block_verify(const struct arena_view *view, uint32_t ref, const struct block *b)
{
	struct block_verifier *v = view->verifier;
	struct checked *c = &v->table[(ref * 2654435761u) >> (32 - VERIFIER_BITS)];
	uint64_t tag = b->tag;

	if (atomic_load_explicit(&c->ref, memory_order_relaxed) == ref &&
	    atomic_load_explicit(&c->tag, memory_order_relaxed) == tag)
		return true;
	if (!tag_block_ok(&v->keys, ref_offset(ref), b))
		return false;
	atomic_store_explicit(&c->ref, ref, memory_order_relaxed);
	atomic_store_explicit(&c->tag, tag, memory_order_relaxed);
	return true;
}
