/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of `informerctl get`: flags (command_get.c), finding (get.c), showing (get_show.c), following
 * (get_watch.c).
 */
#ifndef TOOLS_INFORMERCTL_GET_H
#define TOOLS_INFORMERCTL_GET_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/informer.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/workload_name.h"
#include "tools/printer/field.h"
#include "tools/printer/print.h"
#include "tools/printer/text.h"

/* In the order of command_get.c's names. */
enum get_output { GET_JSON, GET_YAML, GET_NAME, GET_WIDE, GET_TABLE, GET_OUTPUT_COUNT };

/* A resource, and a name in it; NULL: all. */
struct get_target {
	char *resource_name;
	const char *name;
	struct informer_resource *resource;
	struct informer_resource_info info;
	char *kept; /* get_keep_names() */
};

enum hit_value { HIT_NOTHING, HIT_NUMBER, HIT_TEXT };

/*
 * A found object of the target with index `target`. Hits are sorted by key, or by the value of --sort-by,
 * then key.
 */
struct get_hit {
	struct field_text namespace_;
	struct field_text name;
	struct informer_object object;
	size_t target;
	enum hit_value has;
	double number;
	struct field_text text;
};

struct get {
	const struct cli_args *args;
	const char *namespace_;
	bool all_namespaces;
	const char *selector_text;
	char *index_name;
	const char *index_value;
	enum informer_by find_by; /* the index as informer_find() takes it, with --deleted */
	enum get_output output;
	bool no_headers;
	bool show_labels;
	bool show_kind;
	bool ignore_not_found;
	bool deleted; /* --deleted: include deleted objects; without name or index, only those */
	bool watch;
	bool watch_only;
	bool watch_events;
	const char *field_text;
	struct workload_name workload;
	const char *sort_by;
	const char *timeout;
	struct flag_texts label_columns;

	struct get_target *targets;
	size_t target_count;

	struct informer *inf;
	struct informer_snapshot snap;
	struct informer_label_selector *selector;
	struct informer_field_selector *fields;
	struct get_hit *hits;
	size_t hit_count;
	size_t hit_size;
	bool missed; /* a named object does not exist */
	bool uncached; /* the namespace is not cached for some target: its result is unknown */
};

/* The name for all cached resources of kubectl's category "all". */
#define GET_ALL "all"

/* Add a target; name NULL: all objects. Borrowed. Returns 0 or -ENOMEM. */
int
get_add_target(struct get *get, const char *resource, size_t resource_length, const char *name);
/* Attach, find, show. Returns the exit code. */
int
get_run(struct get *get);
void
get_done(struct get *get);

/* ---- get.c: finding, in get->snap ---- */

/* Compile the selectors, resolve the workload, and open the targets. Returns -1, or the exit code. */
int get_prepare(struct get *get);
/* Fill hits, in order. Prints which named objects do not exist. Returns -1, or the exit code. */
int get_find(struct get *get);

/* ---- get_target.c ---- */

/* Parse "pods,svc" followed by names, or "pod/a svc/b". Returns -1, or the exit code. */
int get_parse_targets(struct get *get, const struct cli_args *args);

/* Replace "all" by its cached resources. Returns -1, or the exit code. */
int
get_expand_all(struct get *get);
/*
 * Wait until each target is known and listed. A configured resource is known when the API server has
 * answered: up to 5 s. Its list: up to args->start_ms; 5 s if it was not known, or if it is on demand and so
 * listed at its first use. May replace get->snap. Returns -1, or the exit code.
 */
int
get_wait_synced(struct get *get);
/* Print which indexes exist. Returns the exit code. */
int
get_fail_no_index(struct get *get, const struct get_target *target);

/* get_sort.c: put the hits in order. Returns -1, or the exit code. */
int
get_sort(struct get *get);

/* Write the hits as asked for. */
void
get_show(struct get *get, struct text *out);

/*
 * get -w: show the objects, then each change, until the time limit or until the output's reader is gone.
 * Returns the exit code.
 */
int
get_watch(struct get *get);

/* ---- pieces that both share ---- */

/* Open a target in get->snap; warn if its data may be incomplete. Returns -1, or the exit code. */
int
get_open_target(struct get *get, struct get_target *target);
/* Copy the names that info borrows, so that they outlive the snapshot. False: no memory. */
bool
get_keep_names(struct get_target *target);
/* Look up the name of --workload in get->snap. */
void
get_resolve_workload(struct get *get);
void
get_warn_stale(struct get *get);
/* In kubectl's words, which scripts match. */
void
get_say_not_found(struct get *get, const struct get_target *target);

/* Add a table's heading (returns the number of columns), or one object's row. */
size_t
get_add_heading(const struct get *get, const struct get_target *target, struct cells *cells);
void get_add_row(const struct get *get, const struct get_target *target, struct field object,
		 struct field_text ns, struct cells *cells);
/* "pod/", "deployment.apps/" */
void get_add_kind(const struct get_target *target, struct text *text);
/* "pod/web-0" */
void
get_add_name(const struct get_target *target, struct field_text name, struct text *out);
/* One object as JSON or YAML. */
void get_add_document(const struct get *get, const struct get_target *target, struct field object,
		      struct text *out);

#endif
