/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `informerctl get -w`; see get.h. Shows the initial objects in one table, sorted by key. Each later change
 * is a row with the same columns.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "tools/change/change.h"
#include "tools/informerctl/document.h"
#include "tools/informerctl/field_informer.h"
#include "tools/informerctl/follow.h"
#include "tools/informerctl/get.h"
#include "tools/informerctl/aligned_table.h"

#define KEY_MAX 512

/* An initial object: its key, and the range of its cells or of its text. */
struct present {
	char *key;
	size_t start, end;
};

/*
 * listing    the initial objects arrive; they are kept in `present`, `cells` and `text`
 * columns    number of columns of the table; their widths only grow
 * documents  number of documents written
 */
struct get_watch {
	struct get *get;
	const struct get_target *target;
	struct follow follow;
	struct informer_handler_options options;
	struct text out;
	bool listing;
	struct present *present;
	size_t present_count, present_size;
	struct cells cells;
	struct text text;
	size_t columns;
	size_t *widths;
	bool heading_written;
	size_t documents;
	int error;
};

static bool
is_table(const struct get_watch *watch)
{
	return watch->get->output == GET_TABLE || watch->get->output == GET_WIDE;
}

/* ---- one object ---- */

/* Append JSON on one line, as kubectl writes a watch event. */
static void
compact(const char *json, size_t length, struct text *out)
{
	bool string = false;

	for (size_t i = 0; i < length; i++) {
		if (string && json[i] == '\\')
			text_addc(out, json[i++]);
		else if (json[i] == '"')
			string = !string;
		else if (!string && (json[i] == ' ' || json[i] == '\n'))
			continue;
		text_addc(out, json[i]);
	}
}

/* {"type":...,"object":...} around a document, as JSON or YAML. */
static void
add_event_document(struct get_watch *watch, const char *event, struct field object, struct text *out)
{
	struct get json = *watch->get;
	struct text text = TEXT_INIT(-1), line = TEXT_INIT(-1);

	json.output = GET_JSON;
	get_add_document(&json, watch->target, object, &text);
	text_addf(&line, "{\"type\":\"%s\",\"object\":", event);
	if (text.data)
		compact(text.data, text.length, &line);
	text_addc(&line, '}');
	if (watch->get->output == GET_YAML && line.data) {
		cJSON *tree = cJSON_ParseWithLength(line.data, line.length);
		const struct document document = {.object = field_of_cjson(tree)};

		document_yaml(&document, out);
		cJSON_Delete(tree);
	} else if (line.data) {
		text_add(out, line.data, line.length);
		text_addc(out, '\n');
	}
	if (text.error < 0 || line.error < 0)
		out->error = -ENOMEM;
	text_done(&text);
	text_done(&line);
}

static void
add_document(struct get_watch *watch, const char *event, struct field object, struct text *out)
{
	if (watch->get->watch_events)
		add_event_document(watch, event, object, out);
	else
		get_add_document(watch->get, watch->target, object, out);
}

/* A document with only the name, for a tombstone that has only its key. */
static cJSON *
key_only(const struct informer_object *object)
{
	struct text text = TEXT_INIT(-1);
	cJSON *tree = NULL;

	if (change_object(object, &text) == 0 && text.data)
		tree = cJSON_ParseWithLength(text.data, text.length);
	text_done(&text);
	return tree;
}

/* ---- initial objects ---- */

static int
compare_present(const void *a, const void *b)
{
	const struct present *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static bool
add_present(struct get_watch *watch, const struct informer_object *object, size_t start, size_t end)
{
	char key[KEY_MAX];
	size_t length;

	if (informer_object_key(object, key, sizeof(key), &length) < 0 || length >= sizeof(key))
		return false;
	if (watch->present_count == watch->present_size) {
		size_t size = watch->present_size ? watch->present_size * 2 : 256;
		struct present *present = reallocarray(watch->present, size, sizeof(*present));

		if (!present)
			return false;
		watch->present = present;
		watch->present_size = size;
	}
	watch->present[watch->present_count] = (struct present){strdup(key), start, end};
	return watch->present[watch->present_count++].key != NULL;
}

static void
free_present(struct get_watch *watch)
{
	for (size_t i = 0; i < watch->present_count; i++)
		free(watch->present[i].key);
	free(watch->present);
	watch->present = NULL;
	watch->present_count = watch->present_size = 0;
	cells_done(&watch->cells);
	text_done(&watch->text);
	watch->cells = (struct cells)CELLS_INIT;
	watch->text = (struct text)TEXT_INIT(-1);
}

/* ---- output ---- */

static void
add_heading(struct get_watch *watch, struct cells *cells)
{
	if (watch->heading_written || watch->get->no_headers)
		return;
	if (watch->get->watch_events)
		cells_adds(cells, "EVENT");
	get_add_heading(watch->get, watch->target, cells);
	watch->heading_written = true;
}

/* Write kubectl's separator between YAML documents. */
static void
separate_documents(struct get_watch *watch)
{
	if (watch->get->output == GET_YAML && watch->documents++ > 0)
		text_adds(&watch->out, "---\n");
}

static void
show_present(struct get_watch *watch)
{
	struct cells sorted = CELLS_INIT;

	watch->listing = false;
	if (watch->present_count > 0)
		qsort(watch->present, watch->present_count, sizeof(*watch->present), compare_present);
	if (is_table(watch) && watch->present_count > 0)
		add_heading(watch, &sorted);
	for (size_t i = 0; i < watch->present_count; i++) {
		const struct present *present = &watch->present[i];

		if (is_table(watch)) {
			for (size_t k = present->start; k < present->end; k++)
				cells_add(&sorted, cells_at(&watch->cells, k));
		} else {
			separate_documents(watch);
			text_add(&watch->out, watch->text.data + present->start,
				 present->end - present->start);
		}
	}
	if (is_table(watch))
		table_write_more(&sorted, watch->columns, watch->widths, &watch->out);
	cells_done(&sorted);
	free_present(watch);
}

static void
add_row(struct get_watch *watch, const char *event, struct field object, struct field_text ns,
	struct cells *cells)
{
	if (watch->get->watch_events)
		cells_addf(cells, "%-8s", event); /* the width of the widest event */
	get_add_row(watch->get, watch->target, object, ns, cells);
}

/* Keep an initial object until all have arrived; write a change at once. */
static void
show_fields(struct get_watch *watch, const char *event, const struct informer_object *object,
	    struct field field)
{
	struct field_text ns = {"", 0}, name = {"", 0};
	struct cells row = CELLS_INIT, *cells = watch->listing ? &watch->cells : &row;
	struct text *text = watch->listing ? &watch->text : &watch->out;
	size_t start;

	informer_object_namespace(object, &ns.data, &ns.length);
	informer_object_name(object, &name.data, &name.length);
	if (is_table(watch)) {
		if (!watch->listing)
			add_heading(watch, cells);
		start = cells->count;
		add_row(watch, event, field, ns, cells);
		if (!watch->listing)
			table_write_more(cells, watch->columns, watch->widths, &watch->out);
		else if (!add_present(watch, object, start, cells->count))
			watch->error = -ENOMEM;
	} else {
		if (!watch->listing)
			separate_documents(watch);
		start = text->length;
		if (watch->get->output == GET_NAME)
			get_add_name(watch->target, name, text);
		else
			add_document(watch, event, field, text);
		if (watch->listing && !add_present(watch, object, start, text->length))
			watch->error = -ENOMEM;
	}
	cells_done(&row);
}

static void
show(struct get_watch *watch, const char *event, const struct informer_object *object)
{
	struct informer_value value;
	cJSON *tree = NULL;
	int r;

	if (watch->follow.stop)
		return;
	r = informer_object_value(object, &value);
	if (r == INFORMER_E_EXPIRED) /* the arena was taken back during the call: the change is told again */
		return;
	if (r == 0 && informer_value_kind(&value) == INFORMER_OBJECT) {
		show_fields(watch, event, object, field_of_value(&value));
	} else {
		tree = key_only(object);
		show_fields(watch, event, object, field_of_cjson(tree));
		cJSON_Delete(tree);
	}
	if (watch->error == 0)
		watch->error = field_take_error();
	watch->follow.stop |= watch->error < 0;
	follow_added(&watch->follow);
}

/* ---- callbacks ---- */

/* Whether to show an object: with a name, only the one of that name. */
static bool
wanted(const struct get_watch *watch, const struct informer_object *object)
{
	struct field_text name = {"", 0};

	return !watch->target->name || (informer_object_name(object, &name.data, &name.length) == 0 &&
					field_text_is(name, watch->target->name));
}

/*
 * The handler's filter for --workload. Its answer depends on the controllers, too: their change counts from
 * the object's next change on. The handler remembers which objects it told, so that on_delete comes for an
 * object whose controllers were deleted before it.
 */
static bool
is_of_workload(void *context, const struct informer_object *object)
{
	const struct get_watch *watch = context;

	return workload_name_matches(&watch->get->workload, object) > 0;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	struct get_watch *watch = context;

	(void)is_initial;
	if (wanted(watch, object) && !(watch->listing && watch->get->watch_only))
		show(watch, "ADDED", object);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	struct get_watch *watch = context;

	(void)old;
	if (wanted(watch, object))
		show(watch, "MODIFIED", object);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	struct get_watch *watch = context;

	(void)final_state_known;
	if (wanted(watch, object))
		show(watch, "DELETED", object);
}

static void
on_synced(void *context)
{
	struct get_watch *watch = context;

	if (!watch->listing)
		return;
	if (watch->target->name && watch->present_count == 0 && !watch->get->watch_only) {
		get_say_not_found(watch->get, watch->target);
		watch->follow.stop = true;
	} else if (watch->present_count == 0 && !watch->get->watch_only) {
		follow_say_empty(&watch->options);
		workload_name_say_lacking(&watch->get->workload);
	}
	show_present(watch);
	follow_added(&watch->follow);
}

/* ---- running ---- */

/* Refuse what --watch cannot follow. Returns -1, or the exit code. */
static int
check(const struct get *get)
{
	if (get->target_count != 1)
		return cli_fail("--watch follows one resource, or one object of it; %zu were named",
				get->target_count);
	if (get->index_name)
		return cli_fail("--watch follows a namespace, -l or --field-selector; not --index");
	if (get->deleted)
		return cli_fail("--watch shows what is there and changes, --deleted what is gone: not both");
	return -1;
}

static int
finish(struct get_watch *watch)
{
	int r = cli_finish(&watch->out);

	if (r == 0 && watch->error < 0)
		r = cli_fail_code(watch->error, "the output is incomplete");
	return r ? r : watch->get->missed ? EXIT_CONDITION : EXIT_SUCCESS;
}

static int
follow(struct get_watch *watch)
{
	struct get *get = watch->get;
	const bool narrow = watch->target->info.namespaced && !get->all_namespaces;
	bool timed_out;
	int r;

	watch->options = (struct informer_handler_options){
		.size = sizeof(watch->options),
		.resource = watch->target->resource_name,
		.namespace_ = narrow ? get->namespace_ : NULL,
		.label_selector = get->selector_text,
		.field_selector = get->field_text,
		.filter = get->workload.text ? is_of_workload : NULL,
		.context = watch,
		.on_add = on_add,
		.on_update = on_update,
		.on_delete = on_delete,
		.on_synced = on_synced,
	};
	watch->follow = (struct follow){.inf = get->inf, .out = &watch->out, .timeout_ms = -1};
	if (get->timeout && !cli_duration(get->timeout, &watch->follow.timeout_ms))
		return cli_fail("--timeout %s is no time; write 500ms, 30s, 2m or 1h30m", get->timeout);
	r = follow_run(&watch->follow, &watch->options, &timed_out);
	return r < 0 ? finish(watch) : r;
}

int
get_watch(struct get *get)
{
	struct get_watch watch = {
		.get = get, .out = TEXT_INIT(1), .text = TEXT_INIT(-1), .cells = CELLS_INIT, .listing = true};
	struct cells heading = CELLS_INIT;
	int r = check(get);

	if (r >= 0)
		return r;
	get->inf = cli_attach(get->args, 0);
	if (!get->inf)
		return EXIT_USAGE;
	r = cli_begin(get->inf, get->args, &get->snap);
	if (r >= 0)
		return r;
	get_warn_stale(get);
	watch.target = &get->targets[0];
	r = get_open_target(get, &get->targets[0]);
	if (r >= 0)
		return r;
	get_resolve_workload(get);
	get->missed = false;
	watch.columns = get_add_heading(get, watch.target, &heading) + get->watch_events;
	cells_done(&heading);
	watch.widths = calloc(watch.columns + 1, sizeof(*watch.widths));
	/* copy the resource's names: the snapshot that lends them ends here */
	r = watch.widths && get_keep_names(&get->targets[0]) ? -1 : cli_fail("no memory");
	informer_end(&get->snap);
	if (r < 0)
		r = follow(&watch);
	free_present(&watch);
	free(watch.widths);
	text_done(&watch.out);
	return r;
}
