/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: reads objects from files. A file is output of `kubectl get -o json` (a List, or a PodList whose items
 * have no kind), or has one or more manifests. A folder is read as its *.json files.
 *
 * Every object gets the next RV; a missing UID, creation time or namespace is filled in. An unknown kind
 * becomes a custom resource.
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
	unsigned replicas;             /* copies of each pod, including the loaded one; 0 as 1 */
	int64_t now;                   /* creation time of objects without one */
	/* counted */
	size_t objects;
	size_t replaced; /* objects replaced by a later one of the same name */
};

/*
 * Load a file or a folder.
 *
 * Returns  0, or negative errno with file, position and reason in *ret_error (free it)
 */
int
sim_load(struct sim_loader *loader, const char *path, char **ret_error);

/* The same for a text; `name` stands for the file in messages. */
int
sim_load_text(struct sim_loader *loader, const char *name, const char *text, size_t len, char **ret_error);

#endif
