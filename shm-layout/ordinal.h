/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an ordinal to its object, by a resource's trie `ordinals`: for readers, and for the writer, which
 * finds so what its own tries lead to.
 */
#ifndef SHM_LAYOUT_ORDINAL_H
#define SHM_LAYOUT_ORDINAL_H

#include <errno.h>

#include "shm-layout/object.h"
#include "shm-layout/trie.h"

/*
 * ordinals  link of the trie
 * Returns   1 and the object with its ref; 0 none; -EBADMSG damaged
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
