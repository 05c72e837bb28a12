/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer, the node's view: from what the kernel knows of a process to its container, its Pod and its
 * workload; and from an address to what has it. Pages: informer_container_of_id(3), informer_workload(3),
 * informer_by_address(3), informer_services_of(3).
 *
 *	struct informer_container c = {.size = sizeof(c)};
 *
 *	if (informer_begin(inf, &snap) == 0) {
 *		if (informer_container_of_pid(&snap, pods, pid, 0, &c) == 0)
 *			use(&c.pod, c.name);			valid until informer_end()
 *		informer_end(&snap);
 *	}
 *
 * The functions use indexes that informerd has by default (informer_by_index(3)). Results, threads and
 * lifetime are as in informer.h. No function allocates after its first call.
 */
#ifndef INFORMER_NODE_H
#define INFORMER_NODE_H

#include <sys/types.h>

#include "informer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum informer_container_kind {
	INFORMER_CONTAINER_UNKNOWN, /* only the Pod is known */
	INFORMER_CONTAINER_REGULAR,
	INFORMER_CONTAINER_INIT, /* also a sidecar: an init container that keeps running */
	INFORMER_CONTAINER_EPHEMERAL,
};

enum informer_container_state {
	INFORMER_CONTAINER_NO_STATE,
	INFORMER_CONTAINER_WAITING,
	INFORMER_CONTAINER_RUNNING,
	INFORMER_CONTAINER_TERMINATED,
};

#define INFORMER_CONTAINER_ID_MAX 127u
#define INFORMER_CONTAINER_PREFIX_MIN 12u /* characters of an ID, as docker and crictl show IDs */

/*
 * A container, as the kubelet reported it last. Texts are lent, and empty where nothing is known.
 *
 * size           set by the caller: sizeof(struct informer_container)
 * pod            its Pod
 * deleted        the Pod was deleted; informer_object_deleted() says when
 * kind           UNKNOWN: the Pod's status does not have this container: it is the Pod's sandbox, or the
 *                kubelet has not reported the container yet. All below but id is empty then
 * previous       the ID is that of the container's last run; the container has been restarted since
 * state          of this run
 * restart_count  of the container
 * id             the whole ID, without a scheme, terminated; "" if the path has none
 * name, image, image_id  as in the Pod's status
 */
struct informer_container {
	size_t size;
	struct informer_object pod;
	bool deleted;
	enum informer_container_kind kind;
	bool previous;
	enum informer_container_state state;
	uint32_t restart_count;
	struct informer_text name, image, image_id;
	char id[INFORMER_CONTAINER_ID_MAX + 1];
};

/*
 * Find a container by its ID, or by the beginning of its ID. A Pod that is present comes before a deleted one
 * (informer_find(3)).
 *
 * id       the whole ID, mostly 64 hexadecimal digits; or 12 to 63 characters with which it begins. A scheme
 *          ("containerd://") before it is skipped. A container whose whole ID this is comes first
 * Returns  0; INFORMER_E_NOT_FOUND: no Pod has this container, or not yet; INFORMER_E_AMBIGUOUS: the IDs of
 *          two or more containers of present Pods begin so or, if no present Pod has one, of deleted Pods;
 *          INFORMER_E_NO_INDEX
 * Cost     an index lookup, and a walk over the Pod's container statuses; by a prefix three lookups, and a
 *          walk over the statuses of each Pod with a container whose ID begins so
 */
INFORMER_API int informer_container_of_id(const struct informer_snapshot *snapshot,
					  struct informer_resource *pods, const char *id, size_t length,
					  struct informer_container *ret_container);

/*
 * Find the container that a cgroup belongs to, or the Pod alone where the cgroup is the Pod's own, its
 * sandbox's or a monitor's (conmon).
 *
 * path     a path in a cgroup hierarchy, with or without its mount point; or lines of /proc/PID/cgroup. Paths
 *          of version 1 and 2, of the cgroupfs and the systemd driver, of nested cgroups and of nodes that
 *          are containers are known
 * Returns  0; INFORMER_E_TYPE: the path names no Pod and no container; INFORMER_E_NOT_FOUND: those that it
 *          names are not in the snapshot, or not yet; INFORMER_E_NO_INDEX
 */
INFORMER_API int informer_container_of_cgroup(const struct informer_snapshot *snapshot,
					      struct informer_resource *pods, const char *path, size_t length,
					      struct informer_container *ret_container);

/*
 * Find the container that a process runs in, by /proc/PID/cgroup; $HOST_PROC replaces /proc.
 *
 * pid         as this process's /proc numbers it: in a container, that needs hostPID or the host's /proc
 * start_time  the process's start, field 22 of /proc/PID/stat: guards against a pid that was used again;
 *             0: any process
 * Returns     as informer_container_of_cgroup(); -ESRCH: no such process, or another one now; -EACCES and
 *             other negative errno
 * Cost        the lookup, and four to seven system calls
 */
INFORMER_API int informer_container_of_pid(const struct informer_snapshot *snapshot,
					   struct informer_resource *pods, pid_t pid, uint64_t start_time,
					   struct informer_container *ret_container);

/* ---- workloads ---------------------------------------------------------- */

/*
 * What a Pod belongs to: the topmost controller, as a Deployment. Texts are lent, and empty where nothing is
 * known.
 *
 * size         set by the caller: sizeof(struct informer_workload)
 * cached       object is the workload, and it has no controller. false: the workload is known by a reference
 *              to it, but its resource is not cached, or lacks it; a controller above it would be unknown
 * from_names   the workload's name was taken from its ReplicaSet's, because the ReplicaSet is not cached
 * group, version  "apps" and "v1"; the core group is ""
 * uid          "" if from_names
 */
struct informer_workload {
	size_t size;
	bool cached, from_names;
	struct informer_object object;
	struct informer_text group, version, kind, ns, name, uid;
};

/*
 * Find the workload of a Pod, or of any object, by its controllers: Pod, ReplicaSet, Deployment; Pod, Job,
 * CronJob; StatefulSet, DaemonSet, and custom controllers. An object without a controller is its own
 * workload; so is a static Pod, which its Node controls. ReplicaSets and Jobs may be cached as metadata
 * alone.
 *
 * If a ReplicaSet is not cached, the Deployment's (or Argo's Rollout's) name is what stands before the hash
 * in the ReplicaSet's name: the Pod has that hash as a label.
 *
 * object   of a snapshot; a deleted object has its workload too, if that is present
 * Returns  0
 * Cost     for each controller on the way a lookup by key, below 1 µs in all
 */
INFORMER_API int informer_workload(const struct informer_object *object,
				   struct informer_workload *ret_workload);

/*
 * Find the object that controls an object, in the same snapshot: one step of informer_workload().
 *
 * ret_controller  may be object
 * Returns         0; INFORMER_E_NOT_FOUND: the object has no controller, or the snapshot lacks it;
 *                 INFORMER_E_NO_RESOURCE: informerd does not cache the controller's resource
 */
INFORMER_API int informer_controller_of(const struct informer_object *object,
					struct informer_object *ret_controller);

/*
 * Find an object's Namespace, and a Pod's Node, in the same snapshot: for their labels and annotations.
 *
 * Returns  0; INFORMER_E_NOT_FOUND: the object is cluster-scoped, the Pod is not scheduled, or the snapshot
 *          lacks the Namespace or Node; INFORMER_E_NO_RESOURCE: informerd does not cache namespaces or nodes
 */
INFORMER_API int informer_namespace_of(const struct informer_object *object,
				       struct informer_object *ret_namespace);
INFORMER_API int informer_node_of(const struct informer_object *pod, struct informer_object *ret_node);

/* ---- addresses ---------------------------------------------------------- */

enum informer_address_kind { INFORMER_ADDRESS_POD, INFORMER_ADDRESS_SERVICE, INFORMER_ADDRESS_NODE };

/*
 * What has an IP address.
 *
 * size       set by the caller: sizeof(struct informer_address)
 * kind       of object: a Pod, a Service or a Node
 * deleted    the Pod was deleted; informer_object_deleted() says when
 * host_pods  of a Node: how many cached Pods use its address, because they are on the host's network
 */
struct informer_address {
	size_t size;
	enum informer_address_kind kind;
	bool deleted;
	struct informer_object object;
	uint64_t host_pods;
};

/*
 * Find what has an IP address: a Pod that has it as its own and has not ended; else a Service, by its
 * cluster, external or load balancer's address; else a Node; else the newest Pod that had the address and has
 * ended, or was deleted a short while ago. Resources that are not cached are left out.
 *
 * ip       IPv4 or IPv6, in any spelling; "::ffff:10.0.0.1" is 10.0.0.1
 * Returns  0; INFORMER_E_NOT_FOUND; INFORMER_E_NO_RESOURCE: neither pods nor services nor nodes are cached;
 *          -EINVAL: no IP address
 */
INFORMER_API int informer_by_address(const struct informer_snapshot *snapshot, const char *ip, size_t length,
				     struct informer_address *ret_address);

/* ---- services ----------------------------------------------------------- */

/*
 * Call `each` for every Service that sends traffic to a Pod, once each; by EndpointSlices, which say more
 * than selectors. A non-zero result of each stops and is returned.
 *
 * Returns  0, also when there is none; INFORMER_E_NO_RESOURCE: informerd does not cache endpointslices or
 *          services, or the Pod is a copy; INFORMER_E_NOT_FOUND: the Pod has no UID
 */
INFORMER_API int informer_services_of(const struct informer_object *pod,
				      int (*each)(void *context, const struct informer_object *service),
				      void *context);

/*
 * An endpoint of a Service. Texts are lent, and empty where the slice says nothing.
 *
 * size         sizeof(struct informer_endpoint), as the library has it
 * slice        the EndpointSlice; its "ports" are the endpoint's
 * has_pod      pod is the cached Pod behind the endpoint
 * address      its first address
 * ready, serving, terminating   its conditions; what the slice does not say counts as ready
 */
struct informer_endpoint {
	size_t size;
	struct informer_object slice, pod;
	struct informer_text address, node;
	bool has_pod, ready, serving, terminating;
};
/* Call `each` for every endpoint of a Service, by EndpointSlices. Otherwise as informer_services_of(). */
INFORMER_API int informer_endpoints_of(const struct informer_object *service,
				       int (*each)(void *context, const struct informer_endpoint *endpoint),
				       void *context);

#ifdef __cplusplus
}
#endif

#endif
