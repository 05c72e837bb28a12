/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A size sample finds out how many objects of a resource the API server has, and what they take: as bytes of
 * a list, and in an arena. It reads some objects into a scratch store, as a Reflector reads its first list,
 * and extrapolates.
 *
 *	a selector of spec.nodeName  one LIST at RV "0", of all objects: the server's cache has an index of
 *	                             them, and its storage has none
 *	else                         one LIST of SIZE_SAMPLE_OBJECTS objects at RV "". Without a selector the
 *	                             server says how many more there are (remainingItemCount)
 *	  if it does not say         further pages of metadata alone, in JSON, are counted
 *
 * Later objects share strings with earlier ones. So the objects that were not read are taken to be as large
 * as the second half of those that were.
 *
 * Memory    what the sample takes in the scratch arena, and a page's drafts
 * Source    Kubernetes API, ListMeta.remainingItemCount: it is absent if a selector is set
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_SIZE_SAMPLE_H
#define WRITER_RESOURCE_SIZE_SAMPLE_H

#include "writer/reflect/request_result.h"
#include "writer/reflect/source.h"
#include "writer/store/store.h"

#define SIZE_SAMPLE_OBJECTS 500u /* of a sample, and of a page that is counted */

/* True if all objects that the field selector (NULL: none) selects are cheap for the server to list. */
bool size_sample_is_whole(const char *field_selector);

struct size_estimate {
	uint64_t objects;     /* at most UINT32_MAX: no arena holds more */
	uint64_t sampled;     /* of these: read whole */
	uint64_t read_bytes;  /* of all answers to this sample */
	uint64_t wire_bytes;  /* of a list of all objects, before compression */
	uint64_t arena_bytes; /* of all objects, with their indexes */
};

/*
 * source    of the resource; its fifo is not used; borrowed, and kept by copy
 * store     the scratch store, over source's arena, with the resource at `resource`; nothing else changes it
 *           meanwhile. The sample stays in it.
 * whole     size_sample_is_whole() of the resource's field selector
 * on_done   called once, from the loop; may call size_sample_free(). Both arguments are lent; the estimate is
 *           set on RESULT_OK only.
 * Returns   0, -EINVAL, -ENOMEM, -ENOSPC (then on_done is not called)
 */
struct size_sample;
typedef void size_sample_done_fn(void *context, const struct request_result *ended,
				 const struct size_estimate *estimate);
int size_sample_start(const struct source *source, struct store *store, unsigned resource, bool whole,
		      size_sample_done_fn *on_done, void *context, struct size_sample **ret);
/* May be called while the sample runs: cancels it. NULL is fine. */
void size_sample_free(struct size_sample *sample);

/* How many objects were seen so far. */
uint64_t size_sample_seen(const struct size_sample *sample);

#endif
