/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity tags: key derivation and the two-step SipHash tag of a block.
 */
#include "shm-layout/tag.h"

#include <sodium.h>
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
