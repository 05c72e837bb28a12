/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the envelope in JSON. It is small compared with its items, so each call does one step.
 */
#include "writer/decode/decoder_envelope.h"

#include <inttypes.h>

#include "shm-layout/value.h"
#include "writer/decode/decoder_body.h"
#include "writer/decode/decoder_internal.h"

static void
forget_captured(struct decoder_envelope *e)
{
	bytes_clear(&e->type);
	bytes_clear(&e->list_kind);
	bytes_clear(&e->version);
	bytes_clear(&e->continue_token);
	e->remaining = 0;
	e->has_items = false;
}

void
envelope_reset(struct decoder *d)
{
	d->envelope.place = BETWEEN_DOCUMENTS;
	d->envelope.target = TARGET_NOTHING;
	d->envelope.documents = 0;
	forget_captured(&d->envelope);
}

void
envelope_done(struct decoder *d)
{
	bytes_done(&d->envelope.type);
	bytes_done(&d->envelope.list_kind);
	bytes_done(&d->envelope.version);
	bytes_done(&d->envelope.continue_token);
}

/* ---- the end of a document ---- */

static int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

/* Hand over the object of a bookmark or an error as text. */
static int
hand_over_other(struct decoder *d)
{
	struct decoder_envelope *e = &d->envelope;
	struct bytes json = {0};
	int r;

	if (d->item.bad)
		return item_hand_over(d, "", 0);
	r = value_to_json(value_of_object(&d->arena->view, d->item.draft.ref), collect, &json);
	item_drop(d);
	if (r == 0)
		r = decoder_answered(d, d->events->on_other
						? d->events->on_other(d->context, (const char *)e->type.data,
								      e->type.length, (const char *)json.data,
								      json.length)
						: 0);
	bytes_done(&json);
	return r;
}

static bool
is_type(const struct decoder *d, const char *type)
{
	const struct decoder_envelope *e = &d->envelope;

	return e->type.length == strlen(type) && memcmp(e->type.data, type, e->type.length) == 0;
}

int
envelope_event_end(struct decoder *d, const char *p)
{
	struct decoder_envelope *e = &d->envelope;

	if (!d->item.has_draft && !d->item.bad) {
		item_why(d, "the event that ends at byte %" PRIu64 " has no object", decoder_offset(d, p));
		return item_report_bad(d);
	}
	if (e->type.length == 0 && !d->item.bad) {
		item_why(d, "the event with the object at byte %" PRIu64 " has no type", d->item.start);
		d->item.bad = true;
	}
	if (is_type(d, "BOOKMARK") || is_type(d, "ERROR"))
		return hand_over_other(d);
	return item_hand_over(d, (const char *)e->type.data, e->type.length);
}

int
envelope_list_end(struct decoder *d)
{
	struct decoder_envelope *e = &d->envelope;

	if (!d->events->on_list_end)
		return GO_ON;
	if (bytes_append(&e->version, "", 1) < 0 || bytes_append(&e->continue_token, "", 1) < 0)
		return -ENOMEM;
	return decoder_answered(d, d->events->on_list_end(d->context, (const char *)e->version.data,
						  (const char *)e->continue_token.data, e->remaining));
}

static int
document_end(struct decoder *d, const char *p)
{
	struct decoder_envelope *e = &d->envelope;
	int r = GO_ON;

	e->place = BETWEEN_DOCUMENTS;
	e->documents++;
	if (d->mode == DECODE_WATCH)
		r = envelope_event_end(d, p);
	else if (d->mode == DECODE_LIST)
		r = envelope_list_end(d);
	forget_captured(e);
	return r;
}

/* ---- values ---- */

/* Skip the next value. */
static int
skip_value(struct decoder *d)
{
	json_skip_begin(&d->skip);
	d->skipping = true;
	d->state = JSON_NEXT;
	return GO_ON;
}

/* Keep a string for the caller; null is skipped. */
static int
capture_string(struct decoder *d, const char **p, const char *end, struct bytes *to, const char *why)
{
	const char *text, *next;
	size_t length;
	int r;

	to->length = 0;
	if (**p == 'n')
		return skip_value(d);
	if (**p != '"')
		return decoder_fail(d, *p, why);
	r = decoder_string(d, *p, end, &text, &length, &next);
	if (r != GO_ON)
		return r;
	if (bytes_append(to, text, length) < 0)
		return -ENOMEM;
	if (memchr(text, '\0', length))
		return decoder_fail(d, *p, why);
	*p = next;
	d->state = JSON_NEXT;
	return GO_ON;
}

static int
capture_remaining(struct decoder *d, const char **p, const char *end)
{
	struct decoder_envelope *e = &d->envelope;
	enum json_scan_result scanned;
	int64_t n = 0;

	e->remaining = 0;
	if (**p == 'n')
		return skip_value(d);
	if (**p != '-' && (**p < '0' || **p > '9'))
		return decoder_fail(d, *p, "metadata.remainingItemCount is not a number");
	scanned = json_scan_number(&d->scan, *p, end);
	if (scanned == JSON_SCAN_MORE)
		return NEED_MORE;
	if (scanned == JSON_SCAN_BAD)
		return decoder_fail(d, *p + d->scan.scanned, d->scan.why);
	for (size_t i = 0; i < d->scan.scanned && d->scan.integer && **p != '-'; i++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (*p)[i] - '0', &n))
			n = 0;
	e->remaining = n;
	*p += d->scan.scanned;
	memset(&d->scan, 0, sizeof(d->scan));
	d->state = JSON_NEXT;
	return GO_ON;
}

static int
enter(struct decoder *d, const char **p, enum envelope_place place, enum json_state state)
{
	struct decoder_envelope *e = &d->envelope;

	(*p)++;
	e->place = place;
	d->state = state;
	return GO_ON;
}

static int
envelope_value(struct decoder *d, const char **p, const char *end, bool final)
{
	struct decoder_envelope *e = &d->envelope;

	switch (e->target) {
	case TARGET_NOTHING:
		return skip_value(d);
	case TARGET_ITEM:
		return decoder_body_begin(d, p, end, final);
	case TARGET_DOCUMENT:
		if (**p != '{')
			return decoder_fail(d, *p,
					    d->mode == DECODE_LIST ? "a list is a JSON object"
								   : "a watch event is a JSON object");
		return enter(d, p, d->mode == DECODE_LIST ? IN_LIST : IN_EVENT, JSON_FIRST_NAME);
	case TARGET_ITEMS:
		e->has_items = true;
		if (**p == 'n')
			return skip_value(d);
		if (**p != '[')
			return decoder_fail(d, *p, "items is not an array");
		return enter(d, p, IN_ITEMS, JSON_FIRST_ELEMENT);
	case TARGET_METADATA:
		if (**p == 'n')
			return skip_value(d);
		if (**p != '{')
			return decoder_fail(d, *p, "the list's metadata is not an object");
		return enter(d, p, IN_LIST_METADATA, JSON_FIRST_NAME);
	case TARGET_KIND:
		return capture_string(d, p, end, &e->list_kind, "the list's kind is not a string");
	case TARGET_TYPE:
		return capture_string(d, p, end, &e->type, "type is not a string");
	case TARGET_VERSION:
		return capture_string(d, p, end, &e->version, "metadata.resourceVersion is not a string");
	case TARGET_CONTINUE:
		return capture_string(d, p, end, &e->continue_token, "metadata.continue is not a string");
	case TARGET_REMAINING:
		return capture_remaining(d, p, end);
	}
	return -EINVAL;
}

/* ---- fields ---- */

/* What a field of this name means at this place. */
static enum envelope_target
target_of(enum envelope_place place, const char *name, size_t length)
{
	static const struct {
		enum envelope_place place;
		enum envelope_target target;
		const char *name;
	} known[] = {
		{IN_LIST, TARGET_ITEMS, "items"},
		{IN_LIST, TARGET_METADATA, "metadata"},
		{IN_LIST, TARGET_KIND, "kind"},
		{IN_LIST_METADATA, TARGET_VERSION, "resourceVersion"},
		{IN_LIST_METADATA, TARGET_CONTINUE, "continue"},
		{IN_LIST_METADATA, TARGET_REMAINING, "remainingItemCount"},
		{IN_EVENT, TARGET_TYPE, "type"},
		{IN_EVENT, TARGET_ITEM, "object"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (place == known[i].place && strlen(known[i].name) == length &&
		    memcmp(known[i].name, name, length) == 0)
			return known[i].target;
	return TARGET_NOTHING;
}

static int
envelope_name(struct decoder *d, const char **p, const char *end)
{
	struct decoder_envelope *e = &d->envelope;
	const char *text, *next;
	size_t length;
	int r;

	if (**p != '"')
		return decoder_fail(d, *p, "a field name in quotes is expected here");
	r = decoder_string(d, *p, end, &text, &length, &next);
	if (r != GO_ON)
		return r;
	e->target = target_of(e->place, text, length);
	*p = next;
	d->state = JSON_COLON;
	return GO_ON;
}

/* The end of an array or object of the envelope. */
static int
envelope_close(struct decoder *d, const char **p)
{
	struct decoder_envelope *e = &d->envelope;

	(*p)++;
	d->state = JSON_NEXT;
	if (e->place != IN_ITEMS && e->place != IN_LIST_METADATA)
		return document_end(d, *p);
	e->place = IN_LIST;
	return GO_ON;
}

int
envelope_run(struct decoder *d, const char **p, const char *end, bool final)
{
	struct decoder_envelope *e = &d->envelope;
	bool array = e->place == IN_ITEMS;

	if (e->place == BETWEEN_DOCUMENTS && d->state == JSON_NEXT) {
		/* a single scalar or container has been read, or a document has ended */
		d->state = JSON_VALUE;
		if (d->mode == DECODE_DOCUMENT)
			e->documents++;
	}
	*p = json_space_end(*p, end);
	if (*p == end)
		return NEED_MORE;
	if (e->place == BETWEEN_DOCUMENTS && !d->item.open) {
		if (d->mode != DECODE_WATCH && e->documents > 0)
			return decoder_fail(d, *p, "something follows the document");
		e->target = d->mode == DECODE_DOCUMENT ? TARGET_ITEM : TARGET_DOCUMENT;
	}
	switch (d->state) {
	case JSON_FIRST_NAME:
		return **p == '}' ? envelope_close(d, p) : envelope_name(d, p, end);
	case JSON_NAME:
		return envelope_name(d, p, end);
	case JSON_COLON:
		if (**p != ':')
			return decoder_fail(d, *p, "a colon is expected here");
		(*p)++;
		d->state = JSON_VALUE;
		return GO_ON;
	case JSON_FIRST_ELEMENT:
		if (**p == ']')
			return envelope_close(d, p);
		e->target = TARGET_ITEM;
		return envelope_value(d, p, end, final);
	case JSON_VALUE:
		return envelope_value(d, p, end, final);
	default:
		break;
	}
	if (**p == ',') {
		(*p)++;
		d->state = array ? JSON_VALUE : JSON_NAME;
		e->target = TARGET_ITEM;
		return GO_ON;
	}
	if (**p == (array ? ']' : '}'))
		return envelope_close(d, p);
	return decoder_fail(d, *p, array ? "a comma or ] is expected here" : "a comma or } is expected here");
}
