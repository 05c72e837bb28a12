/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies all that a snapshot reaches. The walk checks form; this file checks tags, so that the walk goes on
 * after a wrong one.
 */
#include <string.h>

#include "reader-lib/read/private_home.h"
#include "shm-layout/walk.h"

struct check {
	const struct snapshot *s;
	struct walk_seen seen;
	struct informer_verify_counts counts;
	int (*report)(void *context, uint64_t offset, const char *what);
	void *context;
	int result;	/* what `report` returned */
};

static int
fault(struct check *c, uint32_t ref, const char *what)
{
	c->counts.faults++;
	if (c->report && c->result == 0)
		c->result = c->report(c->context, ref_offset(ref), what);
	return c->result ? -ECANCELED : 0;
}

static int
check_block(void *context, uint32_t ref, const struct block *b)
{
	struct check *c = context;
	uint32_t type_length = LOAD_ONCE(&b->type_length), length = type_length & BLOCK_LENGTH_MAX;
	int r = 0;

	if (!walk_seen_first(&c->seen, ref))
		return 0;
	/* a revoked snapshot reads as zeros, and so as damaged: stop, and do not touch its other pages */
	if (c->counts.blocks % SNAPSHOT_LOOK_EVERY == 0 && snapshot_validate(c->s, 0) == INFORMER_E_EXPIRED)
		return -ECANCELED;
	c->counts.blocks++;
	c->counts.bytes += block_footprint(length);
	if (c->s->view.verifier) {
		c->counts.tags++;
		if (ref_offset(ref) + sizeof(*b) + length > c->s->view.committed ||
		    !tag_load_ok(&c->s->mapping->keys, ref_offset(ref), b, type_length))
			r = fault(c, ref, "the block's integrity tag is wrong");
	}
	return r < 0 ? r : 1;
}

int
informer_verify(const struct informer_snapshot *snapshot,
		int (*report)(void *context, uint64_t offset, const char *what), void *context,
		struct informer_verify_counts *ret_counts)
{
	struct check c = {.s = snapshot_of(snapshot), .report = report, .context = context};
	struct walk_visitor visitor = {check_block, &c};
	struct walk_damage damage = {0, "damaged"};
	struct arena_view view;
	int r = snapshot_usable(c.s);

	if (r < 0)
		return r;
	if (is_private_home(c.s))
		return -EINVAL;
	/*
	 * Without the verifier, which would end the walk at the first wrong tag, and skip blocks that it
	 * knows.
	 */
	view = c.s->view;
	view.verifier = NULL;
	r = walk_seen_init(&c.seen, view.committed);
	if (r < 0)
		return r;
	r = walk_root(&view, (uint64_t)((const uint8_t *)c.s->root - view.base) - sizeof(struct block),
		      &visitor, &damage);
	walk_seen_done(&c.seen);
	if (snapshot_validate(c.s, 0) == INFORMER_E_EXPIRED)
		return INFORMER_E_EXPIRED;
	if (r == -EBADMSG)
		fault(&c, damage.ref, damage.why);
	if (ret_counts)
		*ret_counts = c.counts;
	if (c.result)
		return c.result;
	return r < 0 && r != -EBADMSG ? r : c.counts.faults ? INFORMER_E_CORRUPT : 0;
}
