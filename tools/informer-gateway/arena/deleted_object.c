/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up deletions; see deleted_object.h. */
#include "tools/informer-gateway/arena/deleted_object.h"

#include "tools/serving/stored_object.h"

int
gw_deleted_object(const struct informer_snapshot *snapshot, struct informer_resource *resource,
		  const char *namespace_, const char *name, uint64_t within_ns, uint64_t now_ns,
		  struct informer_object *ret_object)
{
	_cleanup_(api_buf_done) struct api_buf key = {0};
	struct informer_object object;
	uint64_t deleted_ns = 0;
	bool deleted;
	int r;

	api_object_key(&key, namespace_, name);
	r = informer_find(snapshot, resource, INFORMER_BY_KEY, key.data, key.len, &object, &deleted);
	if (r < 0)
		return r;
	/* a deletion in the future is recent: the clock was set back */
	if (!deleted || !informer_object_deleted(&object, &deleted_ns) || deleted_ns == 0 ||
	    (now_ns > deleted_ns && now_ns - deleted_ns > within_ns))
		return INFORMER_E_NOT_FOUND;
	*ret_object = object;
	return 0;
}
