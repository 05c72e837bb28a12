/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects from files: what `kubectl get -o json` prints (a List, or a PodList
 * whose items carry no kind), single manifests, several documents one behind the
 * other, and folders of such *.json files.
 *
 * Every object gets the next RV; a missing UID, creation time or namespace is
 * filled in. A kind that the server does not know becomes a custom resource.
 */
#ifndef TOOLS_INFORMER_SIM_LOAD_H
#define TOOLS_INFORMER_SIM_LOAD_H

#include "tools/informer-sim/replica.h"
#include "tools/informer-sim/object_store.h"

struct sim_loader {
	struct api_registry *registry;
	struct sim_store *store;
	struct sim_rng *rng;
	const struct sim_hosts *hosts; /* for replicas */
	unsigned replicas;             /* of each pod, the loaded one included; 0 as 1 */
	int64_t now;                   /* creation time of what has none */
	/* counted */
	size_t objects;
	size_t replaced; /* loaded twice under one name: the later one counts */
};

/*
 * Load a file or a folder.
 *
 * Returns  0, or negative errno; *ret_error then says which file, where in it, and why (free it)
 */
int
sim_load(struct sim_loader *loader, const char *path, char **ret_error);

/* The same for a text; `name` stands for the file in messages. */
int
sim_load_text(struct sim_loader *loader, const char *name, const char *text, size_t len, char **ret_error);

#endif
