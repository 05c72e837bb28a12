/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find an object by its ordinal, in a resource's trie `ordinals`. Readers and the writer use it.
 */
#ifndef SHM_LAYOUT_ORDINAL_H
#define SHM_LAYOUT_ORDINAL_H

#include <errno.h>

#include "shm-layout/object.h"
#include "shm-layout/trie.h"

/*
 * ordinals  link of the trie
 * Returns   1 with the object and its ref; 0 no object has this ordinal; -EBADMSG damaged
 */
static inline int
ordinal_object(const struct arena_view *view, uint32_t ordinals, uint32_t ordinal, uint32_t *ret_ref,
	       const struct object **ret_object)
{
	const struct object *o;
	uint32_t leaf;
	int found = trie_get(view, ordinals, ordinal, &leaf);

	if (found <= 0)
		return found;
	o = link_is_immediate(leaf) ? NULL : object_at(view, leaf);
	if (__builtin_expect(!o, 0))
		return -EBADMSG;
	*ret_ref = leaf;
	*ret_object = o;
	return o->ordinal == ordinal;
}

#endif
