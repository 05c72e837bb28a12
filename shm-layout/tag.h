/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity tags, by libsodium. The writer makes them; it checks them when it takes over an arena, and
 * readers check them on request (INFORMER_VERIFY).
 *
 * crypto_kdf derives the keys from the key file (key_file.h):
 *
 *   content, block   two SipHash-2-4 keys (kdf id 1, context "infblock", 32 bytes: content
 *                    first); the broker sends them to readers that ask to verify
 *   root             a BLAKE2b key (kdf id 2, context "inf_root"); the broker sends it to no reader, so only
 *                    who may read the key file has it
 *
 * Names and index values are hashed under another key: header.hash_key (key_hash.h).
 *
 *   content hash  h   = SipHash(content, payload)
 *   block tag     tag = SipHash(block, LE64 offset | LE32 type_length | LE32 aux | LE64 h)
 *
 * So a payload is hashed once: by h the writer finds an equal block, and the tag costs 24 bytes more.
 *
 *   root tag          = BLAKE2b-256(root, root payload after its tag | LE64 offset | hash_key)
 */
#ifndef SHM_LAYOUT_TAG_H
#define SHM_LAYOUT_TAG_H

#include <stdint.h>

#include "shm-layout/block.h"

#define TAG_MASTER_BYTES 32
#define TAG_ROOT_BYTES 32

struct tag_keys {
	uint8_t content[16];
	uint8_t block[16];
};

struct tag_root_key {
	uint8_t key[32];
};

struct header;

/* Derive all keys from the key file's 32 bytes. sodium_init() must have been called. */
void tag_derive(const uint8_t master[TAG_MASTER_BYTES], struct tag_keys *ret_keys,
		struct tag_root_key *ret_root);

/* Identify the key file: header.key_id. */
void tag_key_id(const uint8_t master[TAG_MASTER_BYTES], uint8_t ret_id[16]);
/* The tag of a header's identity: of the bytes before header.tag. */
void tag_identity(const struct tag_root_key *key, const struct header *h, uint8_t ret_tag[32]);
/* The tag of the root block b at `offset`. Its payload has at least sizeof(struct root) bytes. */
void tag_root(const struct tag_root_key *key, const uint8_t hash_key[16], uint64_t offset,
	      const struct block *b, uint8_t ret_tag[TAG_ROOT_BYTES]);

uint64_t tag_content_hash(const struct tag_keys *keys, const void *payload, uint32_t length);
uint64_t tag_block(const struct tag_keys *keys, uint64_t offset, const struct block *b,
		   uint64_t content_hash);

/* The bytes of b's payload that its tag covers: all; of a SHORTCUT only the first SHORTCUT_TAGGED. */
uint32_t tag_covered(const struct block *b);

/*
 * True when the block b at `offset` has the right tag.
 *
 * type_length  the copy by which b's bounds were checked; reads stay within it
 * Cost         one hash of the payload
 */
bool tag_load_ok(const struct tag_keys *keys, uint64_t offset, const struct block *b, uint32_t type_length);

/*
 * A reader's memory of the blocks that it has checked: a direct-mapped table of {ref, tag}. A block whose
 * memory was reused has another tag and is checked again.
 *
 * Threads: several threads may share a verifier.
 */
struct block_verifier;
struct block_verifier *block_verifier_new(const struct tag_keys *keys);
/*
 * True once a damaged block was met. Then an object that seems absent may be unreadable: discard all answers.
 */
bool block_verifier_met_damage(const struct block_verifier *v);
void block_verifier_free(struct block_verifier *v);

#endif
