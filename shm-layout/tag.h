/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrity tags, by libsodium.
 *
 * One key file (32 random bytes, mode 0600, beside the socket) yields by crypto_kdf:
 *
 *   content, block   two SipHash-2-4 keys (kdf id 1, context "infblock", 32 bytes: content
 *                    first); handed to readers that ask to verify
 *   root             a BLAKE2b key (kdf id 2, context "inf_root"); the broker gives it to nobody: only who
 *                    may read the key file has it
 *
 * The key that hashes names and index values is another one: random, a generation's
 * own, in the arena's header.
 *
 *   content hash  h   = SipHash(content, payload)
 *   block tag     tag = SipHash(block, LE64 offset | LE32 type_length | LE32 aux | LE64 h)
 *
 * so a payload is hashed once: h finds an equal block in the writer's books, and the
 * tag that covers offset and bytes follows from it at the price of 24 bytes more.
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

/* Derive both from the key file's 32 bytes. sodium_init() must have been called. */
void tag_derive(const uint8_t master[TAG_MASTER_BYTES], struct tag_keys *ret_keys,
		struct tag_root_key *ret_root);

/* Which key file this is, for the header. */
void tag_key_id(const uint8_t master[TAG_MASTER_BYTES], uint8_t ret_id[16]);
/* The tag of a header's identity: all that stands before it. */
void tag_identity(const struct tag_root_key *key, const struct header *h, uint8_t ret_tag[32]);
/* The tag of a root block that lies at offset. At least its fixed fields are there. */
void tag_root(const struct tag_root_key *key, const uint8_t hash_key[16], uint64_t offset,
	      const struct block *b, uint8_t ret_tag[TAG_ROOT_BYTES]);

uint64_t tag_content_hash(const struct tag_keys *keys, const void *payload, uint32_t length);
uint64_t tag_block(const struct tag_keys *keys, uint64_t offset, const struct block *b,
		   uint64_t content_hash);

/* How many bytes of a block's payload its tag covers: all but for a shortcut, whose cells change in place. */
uint32_t tag_covered(const struct block *b);

/*
 * True when b, which lies at offset, carries the tag that it should. Cost: one hash of its payload.
 * type_length: the block's when its bounds were checked; no more than that is read.
 */
bool tag_load_ok(const struct tag_keys *keys, uint64_t offset, const struct block *b, uint32_t type_length);

/*
 * What remembers which blocks a reader has checked. A direct-mapped table of {ref, tag}: a block
 * that was reused since carries another tag and is checked again.
 * Threads: relaxed atomics; several threads may share one.
 */
struct block_verifier;
struct block_verifier *block_verifier_new(const struct tag_keys *keys);
/* Whether a wrong tag was met, ever: then what reads as absent may be unreadable, and no answer counts. */
bool block_verifier_met_damage(const struct block_verifier *v);
void block_verifier_free(struct block_verifier *v);

#endif
