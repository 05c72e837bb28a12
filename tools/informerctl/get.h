/*
 * One run of `informerctl get`: what is asked for (command_get.c), how it is found (get.c), how it is shown (get_show.c).
 */
#ifndef INFORMERCTL_GET_H
#define INFORMERCTL_GET_H

#include <stdbool.h>
#include <stddef.h>

#include "reader-lib/informer.h"
#include "tools/informerctl/cli.h"
#include "tools/printer/field.h"
#include "tools/printer/text.h"

/* In the order of the names in command_get.c. */
enum get_output { GET_JSON, GET_YAML, GET_NAME, GET_WIDE, GET_TABLE, GET_OUTPUT_COUNT };

/* A resource, and a name in it or NULL for all. */
struct get_target {
	char *resource_name;
	const char *name;
	struct informer_resource *resource;
	struct informer_resource_info info;
};

/* An object that was found; `target` says what it is. Sorted by key before it is shown. */
struct get_hit {
	struct field_text namespace_;
	struct field_text name;
	struct informer_object object;
	size_t target;
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
	struct cli_values label_columns;

	struct get_target *targets;
	size_t target_count;

	struct informer *inf;
	struct informer_snapshot snap;
	struct informer_selector *selector;
	struct get_hit *hits;
	size_t hit_count;
	size_t hit_size;
	bool missed; /* a named object does not exist */
};

/* Returns 0 or -ENOMEM. name NULL: all objects. Borrowed. */
int
get_add_target(struct get *get, const char *resource, size_t resource_length, const char *name);
/* Attach, find, show. Returns the exit code. */
int
get_run(struct get *get);
void
get_done(struct get *get);

/* Write the hits as asked for. */
void
get_show(struct get *get, struct text *out);

#endif
