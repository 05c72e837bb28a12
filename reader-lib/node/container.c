/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an ID, a cgroup or a process to its container.
 */
#include <errno.h>
#include <string.h>

#include "reader-lib/base/error.h"
#include "reader-lib/node/cgroup_path.h"
#include "reader-lib/node/container_status.h"
#include "reader-lib/node/process_cgroup.h"
#include "reader-lib/read/find.h"
#include "reader-lib/read/found_object.h"

/* Lines of cgroup version 1, one for each controller, of deeply nested containers. */
#define CGROUP_TEXT_MAX 16384u

/* From a found Pod to the answer. */
static int
answer(const struct informer_container *found, struct informer_container *ret)
{
	const struct snapshot *s = snapshot_of(found->pod.snapshot_);
	struct informer_container c = *found;
	int r;

	container_status_find(value_of_object(&s->view, c.pod.ref_), &c);
	r = snapshot_validate(s, 0);
	if (r < 0)
		return r;
	c.size = ret->size;
	memcpy(ret, &c, ret->size < sizeof(c) ? ret->size : sizeof(c));
	return 0;
}

static int
find(const struct informer_snapshot *snapshot, struct informer_resource *pods, enum informer_by by,
     const char *value, size_t length, struct informer_container *c)
{
	return informer_find(snapshot, pods, by, value, length, &c->pod, &c->deleted);
}

static int
collect(void *context, const struct informer_object *pod)
{
	struct container_ids *ids = context;

	container_status_collect(value_of_object(&snapshot_of(pod->snapshot_)->view, pod->ref_), ids);
	return ids->count > 1 ? INFORMER_E_AMBIGUOUS : 0;
}

static int
collect_present(const struct informer_snapshot *snapshot, struct informer_resource *pods,
		struct container_ids *ids)
{
	struct informer_object pod;
	struct informer_iter it;
	int r = informer_by_index_prefix(snapshot, pods, "containerID", ids->prefix, ids->length, &it);

	while (r == 0 && (r = informer_next(&it, &pod)) > 0)
		r = collect(ids, &pod);
	return r < 0 ? snapshot_validate(snapshot_of(snapshot), r) : r;
}

/* Set id to the only one that begins with a prefix: of the present Pods, or else of the deleted ones. */
static int
complete_id(const struct informer_snapshot *snapshot, struct informer_resource *pods, const char *prefix,
	    size_t length, char id[INFORMER_CONTAINER_ID_MAX + 1])
{
	struct container_ids ids = {.prefix = prefix, .length = length};
	int r = collect_present(snapshot, pods, &ids);

	if (r == 0 && ids.count == 0)
		r = deleted_each_of_container_prefix(snapshot, pods, prefix, length, collect, &ids);
	if (r == INFORMER_E_AMBIGUOUS)
		return error_set(r, "'%.*s' is ambiguous: it begins the IDs of containers such as %s and %s",
				 (int)length, prefix, ids.ids[0], ids.ids[1]);
	if (r < 0)
		return r;
	strcpy(id, ids.ids[0]);
	return ids.count > 0 ? 0 : INFORMER_E_NOT_FOUND;
}

int
informer_container_of_id(const struct informer_snapshot *snapshot, struct informer_resource *pods,
			 const char *id, size_t length, struct informer_container *ret_container)
{
	struct informer_container c = {0};
	int r;

	if (!id || !ret_container || ret_container->size < sizeof(c.size))
		return -EINVAL;
	container_id_strip(&id, &length);
	if (length > INFORMER_CONTAINER_ID_MAX)
		return INFORMER_E_NOT_FOUND;
	memcpy(c.id, id, length);
	r = find(snapshot, pods, INFORMER_BY_CONTAINER_ID, id, length, &c);
	if (r == INFORMER_E_NOT_FOUND && length >= INFORMER_CONTAINER_PREFIX_MIN &&
	    length < CGROUP_CONTAINER_ID) {
		r = complete_id(snapshot, pods, id, length, c.id);
		if (r == 0)
			r = find(snapshot, pods, INFORMER_BY_CONTAINER_ID, c.id, strlen(c.id), &c);
	}
	if (r < 0)
		return r;
	return answer(&c, ret_container);
}

/* The Pod's UID comes first: it is there before the kubelet reports the container's ID. */
static int
of_place(const struct informer_snapshot *snapshot, struct informer_resource *pods,
	 const struct cgroup_place *place, struct informer_container *ret)
{
	struct informer_container c = {0};
	int r = INFORMER_E_NOT_FOUND;

	if (place->uid_length > 0)
		r = find(snapshot, pods, INFORMER_BY_UID, place->uid, place->uid_length, &c);
	if (r == INFORMER_E_NOT_FOUND && place->id)
		r = find(snapshot, pods, INFORMER_BY_CONTAINER_ID, place->id, CGROUP_CONTAINER_ID, &c);
	if (r < 0)
		return r;
	if (place->id)
		memcpy(c.id, place->id, CGROUP_CONTAINER_ID);
	return answer(&c, ret);
}

int
informer_container_of_cgroup(const struct informer_snapshot *snapshot, struct informer_resource *pods,
			     const char *path, size_t length, struct informer_container *ret_container)
{
	struct cgroup_place place;
	int r = INFORMER_E_TYPE;
	size_t at = 0;

	if (!path || !ret_container || ret_container->size < sizeof(ret_container->size))
		return -EINVAL;
	/* Of nested clusters, the outermost that this cache knows. */
	while ((r == INFORMER_E_TYPE || r == INFORMER_E_NOT_FOUND) &&
	       cgroup_path_next(path, length, &at, &place))
		r = of_place(snapshot, pods, &place, ret_container);
	return r == INFORMER_E_TYPE ? error_set(r, "the cgroup names no Pod and no container") : r;
}

int
informer_container_of_pid(const struct informer_snapshot *snapshot, struct informer_resource *pods, pid_t pid,
			  uint64_t start_time, struct informer_container *ret_container)
{
	char text[CGROUP_TEXT_MAX];
	size_t length;
	int r = process_cgroup_read(pid, start_time, text, sizeof(text), &length);

	return r < 0 ? r : informer_container_of_cgroup(snapshot, pods, text, length, ret_container);
}
