/* SPDX-License-Identifier: Apache-2.0 */
/* Changes as lines of JSON; see change.h. */
#include "tools/change/change.h"

#include <inttypes.h>
#include <string.h>

const char *
change_type_name(enum change_type type)
{
	static const char *const names[] = {"ADDED",     "MODIFIED", "DELETED",
					    "COALESCED", "RESYNC",   "RESYNC_END"};

	return names[type];
}

uint64_t
change_seq(enum change_type type, const struct informer_object *object, const struct informer_cursor *cursor)
{
	uint64_t seq = type < CHANGE_DELETED ? informer_object_seq(object) : 0;

	return seq > 0 ? seq : cursor->seq;
}

void
change_string(const char *data, size_t length, struct text *out)
{
	text_addc(out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c == '"' || c == '\\')
			text_addc(out, '\\');
		if (c < 0x20)
			text_addf(out, "\\u%04x", c);
		else
			text_addc(out, (char)c);
	}
	text_addc(out, '"');
}

void
change_line(const struct change *change, struct text *out)
{
	text_addf(out, "{\"seq\":%" PRIu64 ",\"type\":\"%s\"", change->seq, change_type_name(change->type));
	if (change->type <= CHANGE_DELETED) {
		text_addf(out, ",\"initial\":%s", change->initial ? "true" : "false");
		if (change->final_unknown)
			text_adds(out, ",\"finalStateKnown\":false");
		if (change->coalesced)
			text_adds(out, ",\"coalesced\":true");
		text_adds(out, ",\"object\":");
		text_add(out, change->object, change->object_length);
		if (change->old) {
			text_adds(out, ",\"old\":");
			text_add(out, change->old, change->old_length);
		}
	} else if (change->resync) {
		text_addf(out, ",\"id\":%" PRIu64, change->resync);
	}
	text_adds(out, "}\n");
}

static int
emit(void *context, const char *data, size_t length)
{
	struct text *out = context;

	text_add(out, data, length);
	return out->error;
}

static bool
has_field(const struct informer_value *object, const char *name)
{
	struct informer_value value;

	return informer_value_field(object, name, strlen(name), &value) == 0;
}

/* Add apiVersion and kind if the value lacks them, as items of lists do, and if informerd knows them. */
static void
add_identity(const struct informer_object *object, const struct informer_value *value, struct text *out)
{
	struct informer_resource_info info = {.size = sizeof(info)};

	if ((value && has_field(value, "kind") && has_field(value, "apiVersion")) ||
	    informer_resource_info_at(object->snapshot_, informer_object_position(object), &info) != 0)
		return;
	if (!value || !has_field(value, "apiVersion")) {
		text_adds(out, "\"apiVersion\":\"");
		text_add(out, info.group, info.group_length);
		text_adds(out, info.group_length > 0 ? "/" : "");
		text_add(out, info.version, info.version_length);
		text_adds(out, "\",");
	}
	if (!value || !has_field(value, "kind")) {
		text_adds(out, "\"kind\":");
		change_string(info.kind, info.kind_length, out);
		text_addc(out, ',');
	}
}

static int
add_key_only(const struct informer_object *object, struct text *out)
{
	const char *ns = "", *name;
	size_t ns_length = 0, name_length;
	int r = informer_object_name(object, &name, &name_length);

	if (r < 0)
		return r;
	informer_object_namespace(object, &ns, &ns_length);
	text_addc(out, '{');
	add_identity(object, NULL, out);
	text_adds(out, "\"metadata\":{");
	if (ns_length > 0) {
		text_adds(out, "\"namespace\":");
		change_string(ns, ns_length, out);
		text_addc(out, ',');
	}
	text_adds(out, "\"name\":");
	change_string(name, name_length, out);
	text_adds(out, "}}");
	return 0;
}

int
change_object(const struct informer_object *object, struct text *out)
{
	size_t start = out->length, body;
	struct informer_value value;
	int r = informer_object_value(object, &value);

	if (r == INFORMER_E_NOT_FOUND || (r == 0 && informer_value_kind(&value) != INFORMER_OBJECT))
		return add_key_only(object, out);
	if (r < 0)
		return r;
	text_addc(out, '{');
	add_identity(object, &value, out);
	/* leave out the value's own opening brace */
	body = out->length;
	r = informer_value_to_json(&value, emit, out);
	if (r == 0 && out->error == 0 && out->length > body) {
		memmove(out->data + body, out->data + body + 1, out->length - body - 1);
		out->length--;
		/* without members, remove the comma behind apiVersion and kind */
		if (out->data[body] == '}' && out->data[body - 1] == ',') {
			out->data[body - 1] = '}';
			out->length--;
		}
		return 0;
	}
	out->length = start;
	return r < 0 ? r : out->error;
}
