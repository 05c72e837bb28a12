/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the pods and containers that a cgroup's path names, as kubelets and container runtimes write it.
 *
 *	/kubepods/burstable/pod6f2c…-…/9a0b…				cgroupfs driver
 *	/kubepods.slice/kubepods-pod6f2c_….slice/crio-9a0b….scope	systemd driver
 *	/system.slice/kubepods-pod6f2c_….slice:cri-containerd:9a0b…	both, mixed
 *	/docker/1c2d…/kubelet/kubepods/pod6f2c…/9a0b…			a node in a container
 *
 * The text is a path, or lines of /proc/PID/cgroup. It is split at '/', ':' and line ends. A part is
 *
 *	a pod		"pod" and a UID: 36 characters, or the 32 of a static pod; '-' may be '_'
 *			"…-" may stand before, ".slice" behind
 *	a container	64 hexadecimal digits, at the beginning or after '-' or '_'
 *			".scope" may stand behind
 *	neither		all else; also "…conmon…", the monitor that CRI-O and Podman run
 *			beside a container
 *
 * A container belongs to the pod before it on the same line. What stands below a container is its own affair:
 * a second container is left out until another pod begins.
 */
#ifndef READER_LIB_NODE_CGROUP_PATH_H
#define READER_LIB_NODE_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define CGROUP_UID_MAX 36u
#define CGROUP_CONTAINER_ID 64u /* digits of a whole container ID */

/* A place that a path names: a pod, a container, or both. Never neither. */
struct cgroup_place {
	char uid[CGROUP_UID_MAX]; /* with '-' */
	size_t uid_length;        /* 0: no pod */
	const char *id;           /* CGROUP_CONTAINER_ID digits of the text; NULL: no container */
};

/*
 * Get the next place, outermost first.
 *
 * at       where to go on; 0 at first
 * Returns  false at the end
 */
bool cgroup_path_next(const char *text, size_t length, size_t *at, struct cgroup_place *ret_place);

#endif
