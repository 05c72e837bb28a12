/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's private structs, shared by object_store.c (changes, watching) and object_store_view.c (views,
 * restoring).
 */
#ifndef TOOLS_INFORMER_SIM_OBJECT_STORE_PRIVATE_H
#define TOOLS_INFORMER_SIM_OBJECT_STORE_PRIVATE_H

#include <pthread.h>

#include "tools/informer-sim/object_store.h"

struct shelf {
	struct sim_key_chunks table;
	struct api_event *ring; /* `history` entries once the first event came */
	uint64_t first;         /* position of the oldest event kept */
	uint64_t next;          /* position of the next event */
	uint64_t floor;
	pthread_cond_t changed;
};

struct sim_store {
	pthread_mutex_t lock;
	pthread_cond_t rv_changed;
	unsigned rv_waiters;
	uint64_t rv;
	uint64_t changes;
	size_t history;
	bool stopped;
	unsigned wakes; /* of sim_store_wake() */
	unsigned count;
	/* found by the resource's index, which the registry bounds */
	struct shelf shelves[API_RESOURCES_MAX];
};

#endif
