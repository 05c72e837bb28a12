/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration: what informerd caches, from where, and for whom.
 *
 * The struct and who frees it. Who fills it stands above: the command line (options.h), the configuration
 * file (config_file.h), and both together with the defaults (config_build.h).
 */
#ifndef WRITER_CONFIG_CONFIG_H
#define WRITER_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/backoff.h"
#include "writer/base/growing.h"
#include "writer/kube/server_choice.h"
#include "writer/kube/resource_name.h"
#include "writer/config/list_choices.h"

#define CONFIG_DEFAULT_MAX_READERS 256
#define CONFIG_LIMIT_MAX_READERS   4096
#define CONFIG_LIMIT_CONSUMERS	   65536
#define CONFIG_MAX_RESOURCES	   256
#define CONFIG_MAX_INDEXES	   256

#define CONFIG_LIMIT_TOMBSTONES	   10000000

#define CONFIG_LIMIT_PAGE_SIZE	   100000

/* milliseconds */
#define CONFIG_LEAST_BACKOFF	   10u
#define CONFIG_LIMIT_BACKOFF	   3600000u
#define CONFIG_LEAST_RESET	   1000u
#define CONFIG_LIMIT_RESET	   86400000u
#define CONFIG_LEAST_WATCH	   5000u
#define CONFIG_LIMIT_WATCH	   86400000u
#define CONFIG_LEAST_CHECK	   1000u
#define CONFIG_LIMIT_CHECK	   604800000u

enum config_choice { CONFIG_NOT_SAID, CONFIG_NO, CONFIG_YES };

/* How long deletions are remembered (struct tombstone_limits); 0: not said. */
struct config_tombstones {
	bool count_said;	/* 0 is a count, too: none are kept */
	uint64_t count;
	uint64_t bytes;
	unsigned seconds;
};

/* One --resource, or one entry of `resources:`. */
struct config_resource {
	char *resource;	      /* as the user wrote it: "pods", "widgets.v1.example.com" */
	char *namespace_;     /* NULL: all. Before config_take_resource(): several, separated by commas */
	char *label_selector; /* NULL: none; sent to the server as it is */
	char *field_selector;
	char **drops;	      /* paths whose values are not stored; metadata.managedFields is not among them,
				 see keep_managed_fields */
	size_t n_drops;
	bool metadata_only;   /* PartialObjectMetadata: nothing but metadata is asked for, and stored */
	bool on_demand;	      /* not asked for before a reader does */
	bool optional;	      /* the server may not know it yet: it is asked again */
	enum config_choice watch_list; /* what is not said here is as in struct config */
	unsigned page_size;   /* of LISTs; 0: as it is usual (reflector.h) */
	enum reflector_version version; /* of the first LIST or WatchList */
	enum wire_choice wire;
	struct config_tombstones tombstones; /* what is not said here is as in struct config */
	char *origin;	      /* for messages: "--resource pods" or "file:line:column" */
	bool namespace_is_default; /* from --namespace, not this entry's own */
};

/* One --index, or one entry of `indexes:`. */
struct config_index {
	char *name;
	char *resource; /* must mean one of the resources */
	char **paths;
	size_t n_paths;
	char *split; /* NULL, or the separator of a value that is a list in one string */
	char *origin;
};

struct config {
	struct kubeconfig_choice choice;

	/* what is cached */
	char *namespace_; /* default for entries without one; NULL: all */
	struct config_resource *resources;
	size_t n_resources;
	struct config_index *indexes;
	size_t n_indexes;
	bool keep_managed_fields, allow_secrets;
	enum config_choice watch_list;
	enum wire_choice wire;
	char *schema; /* a file of Kubernetes' kinds (tools/schema); NULL: the one that is built in */
	struct config_tombstones tombstones;
	struct backoff_pace backoff;	/* after LISTs and WATCHes that failed; 0: what is usual */
	uint64_t check_every_ms;	/* compare with the server so often (check_schedule.h); 0: never */
	uint64_t watch_timeout_ms;	/* the least that a watch lasts; 0: what is usual (reflector.h) */

	/* where it is kept and who may read it */
	char *socket;		  /* never NULL after config_build() */
	char *arena_dir;	  /* NULL: shm_open()'s */
	char *arena_name; /* never NULL after config_build(): "informer" for the default socket of root, else
			     with a hash of the socket's path, so that two daemons never meet */
	uint64_t arena_max_bytes; /* 0: as much as the file system allows */
	uint64_t hold_bytes;	  /* what an open snapshot may hold back (daemon/limits.h); 0: the default */
	unsigned hold_seconds;	  /* and for how long */
	struct refs allow_uids;   /* numbers of users, besides informerd's own and root's … */
	struct refs allow_gids;   /* … and of groups */
	unsigned max_readers;

	/* events and consumers; 0: the defaults of fan_out.h, broker.h and consumers.h */
	unsigned queue_entries, max_queue_entries;
	uint64_t queue_bytes, max_queue_memory;
	unsigned queue_seconds;
	unsigned consumers_per_user, consumers_total, consumer_days;

	char *metrics_address;	/* where /metrics, /livez and /readyz are (listen_address.h); NULL: nowhere */

	int log_level; /* enum log_level; -1 before config_build(): not said */
};

/* Free what `config` owns, not itself; a zeroed one is fine. */
void config_done(struct config *config);

/* Free what one entry owns; a zeroed one is fine. */
void config_resource_done(struct config_resource *resource);
void config_index_done(struct config_index *index);

#endif
