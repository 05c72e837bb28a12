/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration: what informerd caches, from which server, and for which readers.
 *
 * This header has the struct, and the functions that free it. It is filled by the command line (options.h),
 * the configuration file (config_file.h), and config_build.h, which joins both and adds defaults.
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
	bool count_said; /* count was said; 0 is a count too: none is kept */
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
	bool metadata_only;             /* PartialObjectMetadata: only metadata is requested and stored */
	bool on_demand;                 /* not requested before a reader asks for it */
	bool optional;                  /* the server may not know it yet: informerd keeps asking */
	enum config_choice watch_list;  /* not said: as in struct config */
	unsigned page_size;             /* of LISTs; 0: the default (reflector.h) */
	enum reflector_version version; /* of the first LIST or WatchList */
	enum wire_choice wire;
	struct config_tombstones tombstones; /* not said: as in struct config */
	char *origin;	      /* for messages: "--resource pods" or "file:line:column" */
	bool namespace_is_default; /* namespace_ is from --namespace, not from this entry */
};

/* One --index, or one entry of `indexes:`. */
struct config_index {
	char *name;
	char *resource; /* must mean one of the resources */
	char **paths;
	size_t n_paths;
	char *split; /* NULL, or the separator of a value that is a list in one string */
	unsigned prefix; /* bytes of a value under which it is filed, so that prefixes are found; 0: all */
	char *origin;
};

struct config {
	struct kubeconfig_choice choice;

	/* what is cached */
	char *preset; /* its resources are added to those below (preset.h); NULL: none */
	char *namespace_; /* default for entries without one; NULL: all */
	struct config_resource *resources;
	size_t n_resources;
	struct config_index *indexes;
	size_t n_indexes;
	bool keep_managed_fields, allow_secrets;
	enum config_choice watch_list;
	enum wire_choice wire;
	char *schema; /* a file of Kubernetes' kinds (tools/schema); NULL: the built-in one */
	struct config_tombstones tombstones;
	struct backoff_pace backoff; /* after failed LISTs and WATCHes; 0: the default */
	uint64_t check_every_ms;     /* interval of comparisons with the server (check_schedule.h); 0:
					never */
	uint64_t watch_timeout_ms;   /* least duration of a watch; 0: the default (reflector.h) */

	/* where the cache is kept, and which users may read it */
	char *socket;		  /* never NULL after config_build() */
	char *arena_dir;          /* NULL: /dev/shm */
	char *arena_name; /* never NULL after config_build(): "informer" for root's default socket, else
			     with a hash of the socket's path, so that two daemons have different names */
	uint64_t arena_max_bytes; /* 0: by file system and memory (daemon/arena_budget.h) */
	uint64_t hold_bytes;      /* limit of what an open snapshot holds back (daemon/limits.h); 0: the
				     default */
	unsigned hold_seconds;    /* limit of its age; 0: the default */
	struct refs allow_uids;   /* user ids, besides informerd's own and root's … */
	struct refs allow_gids;   /* … and group ids */
	unsigned max_readers;

	/* events and consumers; 0: the defaults of fan_out.h, broker.h and consumers.h */
	unsigned queue_entries, max_queue_entries;
	uint64_t queue_bytes, max_queue_memory;
	unsigned queue_seconds;
	unsigned consumers_per_user, consumers_total, consumer_days;

	char *metrics_address; /* address of /metrics, /livez and /readyz (listen_address.h); NULL: not
				  served */

	int log_level; /* enum log_level; -1 before config_build(): not said */
	int log_format; /* enum log_format */
};

/* Free what `config` owns, not the struct itself. A zeroed one is fine. */
void config_done(struct config *config);

/* Free what one entry owns. A zeroed one is fine. */
void config_resource_done(struct config_resource *resource);
void config_index_done(struct config_index *index);

#endif
