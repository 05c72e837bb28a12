/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of `informerctl get`: what is asked for (command_get.c), how it is found (get.c), how it is shown
 * (get_show.c), and how it is followed (get_watch.c).
 */
#ifndef TOOLS_INFORMERCTL_GET_H
#define TOOLS_INFORMERCTL_GET_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/informer.h"
#include "tools/informerctl/cli.h"
#include "tools/printer/field.h"
#include "tools/printer/print.h"
#include "tools/printer/text.h"

/* In the order of the names in command_get.c. */
enum get_output { GET_JSON, GET_YAML, GET_NAME, GET_WIDE, GET_TABLE, GET_OUTPUT_COUNT };

/* A resource, and a name in it or NULL for all. */
struct get_target {
	char *resource_name;
	const char *name;
	struct informer_resource *resource;
	struct informer_resource_info info;
	char *kept; /* get_keep_names() */
};

enum hit_value { HIT_NOTHING, HIT_NUMBER, HIT_TEXT };

/*
 * An object that was found; `target` says what it is. Sorted by key before it is shown, or first by what
 * --sort-by names: `has`.
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
	enum informer_by find_by; /* what the index says to informer_find(), with --deleted */
	enum get_output output;
	bool no_headers;
	bool show_labels;
	bool show_kind;
	bool ignore_not_found;
	bool deleted; /* --deleted: what was deleted counts too; without name or index, that alone */
	bool watch;
	bool watch_only;
	bool watch_events;
	const char *field_text;
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
	bool uncached; /* the namespace is not cached for one of the targets: nothing can be said of it */
};

/* What stands for those that are cached of kubectl's category of that name. */
#define GET_ALL "all"

/* Returns 0 or -ENOMEM. name NULL: all objects. Borrowed. */
int
get_add_target(struct get *get, const char *resource, size_t resource_length, const char *name);
/* Attach, find, show. Returns the exit code. */
int
get_run(struct get *get);
void
get_done(struct get *get);

/* ---- get.c: finding, in get->snap ---- */

/* Compile the selectors, and open the targets. Returns -1, or the exit code. */
int get_prepare(struct get *get);
/* Fill hits, in order. Says of names that are not there that they are not. Returns -1, or the exit code. */
int get_find(struct get *get);

/* ---- get_target.c ---- */

/*
 * "pods,svc" and names behind it, or "pod/a svc/b": from the command line. Returns -1, or the exit code.
 */
int get_parse_targets(struct get *get, const struct cli_args *args);

/* "all" becomes those of its resources that are cached. Returns -1, or the exit code. */
int
get_expand_all(struct get *get);
/*
 * A resource on demand is listed from the first look at it on, and one that informerd is configured to cache
 * is known when the API server has answered: waited for a moment, as somebody who sits there would. get->snap
 * may be another one then. Returns -1, or the exit code.
 */
int
get_wait_on_demand(struct get *get);
/* Say which indexes there are. Returns the exit code. */
int
get_fail_no_index(struct get *get, const struct get_target *target);

/* get_sort.c: put the hits in order. Returns -1, or the exit code. */
int
get_sort(struct get *get);

/* Write the hits as asked for. */
void
get_show(struct get *get, struct text *out);

/*
 * get -w: the same, and each change from then on, until the output's reader or the time ends. Returns the
 * exit code.
 */
int
get_watch(struct get *get);

/* ---- pieces that both share ---- */

/* Find out what a target is, in get->snap; warn of what the answer may lack. Returns -1, or the exit code. */
int
get_open_target(struct get *get, struct get_target *target);
/* Copy what info lends, so that it outlives the snapshot. False: no memory. */
bool
get_keep_names(struct get_target *target);
void
get_warn_stale(struct get *get);
/* kubectl's words; scripts look for them. */
void
get_say_not_found(struct get *get, const struct get_target *target);

/* Of a table: cells of the heading (returns how many columns), of one object. */
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
