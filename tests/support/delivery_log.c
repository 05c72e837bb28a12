/* SPDX-License-Identifier: Apache-2.0 */
/* Records what a handler is told, and compares it with the server's history. */
#include "tests/support/delivery_log.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct delivery_log *
delivery_log_new(bool web_only, bool scoped)
{
	struct delivery_log *log = calloc(1, sizeof(*log));

	if (!log)
		abort();
	log->web_only = web_only;
	log->scoped = scoped;
	log->listens = true;
	return log;
}

void
delivery_log_free(struct delivery_log *log)
{
	free(log);
}

const char *
delivery_namespace(const char *name)
{
	return name[0] == 'x' ? "other" : "default";
}

unsigned
delivery_log_state(struct delivery_log *log, const char *name, unsigned uid, bool web, bool deleted)
{
	struct delivery_state *s = &log->states[log->state_count];

	if (log->state_count == DELIVERY_STATES)
		abort();
	*s = (struct delivery_state){.uid = uid, .web = web, .deleted = deleted};
	snprintf(s->name, sizeof(s->name), "%s", name);
	return ++log->state_count;
}

void
delivery_log_moment(struct delivery_log *log, unsigned moment)
{
	log->moments[moment] = log->state_count;
}

/* ---- what is told ---- */

static struct delivery_event *
write_down(struct delivery_log *log, char what)
{
	static struct delivery_event nowhere;
	struct delivery_event *e = log->listens && log->count < DELIVERY_EVENTS ? &log->events[log->count++]
										: &nowhere;

	*e = (struct delivery_event){.what = what, .readable = true};
	return e;
}

static bool
read_number(int r, const char *data, size_t length, unsigned *ret)
{
	char text[16];

	snprintf(text, sizeof(text), "%.*s", (int)length, r == 0 ? data : "");
	*ret = (unsigned)atoi(text);
	/* lent memory may be zero by now */
	return r == 0 && *ret > 0 && strlen(text) == length;
}

static bool
read_name(const struct informer_object *o, char name[8])
{
	const char *data = "";
	size_t length = 0;
	int r = informer_object_name(o, &data, &length);

	snprintf(name, 8, "%.*s", (int)length, r == 0 ? data : "");
	return r == 0 && length > 0 && strlen(name) == length;
}

static bool
read_version(const struct informer_object *o, unsigned *ret_rv)
{
	const char *data = "";
	size_t length = 0;
	int r = informer_object_resource_version(o, &data, &length);

	return read_number(r, data, length, ret_rv);
}

/* Reads name, uid and version; only_key: an object may have only the name. */
static bool
read_object(const struct informer_object *o, bool only_key, char name[8], unsigned *ret_uid, unsigned *ret_rv)
{
	const char *data = "";
	size_t length = 0;
	int r;

	if (!read_name(o, name))
		return false;
	r = informer_object_uid(o, &data, &length);
	if (r == INFORMER_E_NOT_FOUND && only_key)
		return true;
	return read_number(r, data, length, ret_uid) && read_version(o, ret_rv);
}

static void
on_add(void *context, const struct informer_object *o, bool initial)
{
	struct delivery_event *e = write_down(context, '+');

	e->readable = read_object(o, false, e->name, &e->uid, &e->rv);
	e->initial = initial;
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *o)
{
	struct delivery_event *e = write_down(context, 'u');

	e->readable = read_object(o, false, e->name, &e->uid, &e->rv) &&
		      (!old || read_version(old, &e->old_rv));
}

static void
on_delete(void *context, const struct informer_object *o, bool known)
{
	struct delivery_event *e = write_down(context, '-');

	e->readable = read_object(o, !known, e->name, &e->uid, &e->rv);
	e->known = known;
}

/* A value is the object's version, stored in the pointer itself. */
static void *
transform(void *context, const struct informer_object *o)
{
	unsigned rv;

	(void)context;
	return read_version(o, &rv) ? (void *)(uintptr_t)rv : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

static void
on_value(void *context, const struct informer_object *o, void *old, void *value)
{
	struct delivery_event *e = write_down(context, 'v');

	e->readable = read_name(o, e->name);
	e->old_rv = (unsigned)(uintptr_t)old;
	e->rv = (unsigned)(uintptr_t)value;
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	write_down(context, kind == INFORMER_COALESCED ? 'O' : 'R');
}

static void
on_resync_begin(void *context)
{
	write_down(context, 'B');
}

static void
on_resync_end(void *context)
{
	write_down(context, 'E');
}

static void
on_synced(void *context)
{
	write_down(context, 'S');
}

void
delivery_log_listen(struct delivery_log *log, bool values, struct informer_handler_options *ret)
{
	log->values = values;
	*ret = (struct informer_handler_options){.size = sizeof(*ret),
						 .resource = "pods",
						 .context = log,
						 .on_overflow = on_overflow,
						 .on_resync_begin = on_resync_begin,
						 .on_resync_end = on_resync_end,
						 .on_synced = on_synced};
	if (values) {
		ret->transform = transform;
		ret->on_value = on_value;
		return;
	}
	ret->on_add = on_add;
	ret->on_update = on_update;
	ret->on_delete = on_delete;
}

void
delivery_log_after(struct delivery_log *log)
{
	log->during = log->count;
	for (unsigned i = 0; i < log->count; i++)
		log->unread += !log->events[i].readable;
}

void
delivery_log_forget(struct delivery_log *log)
{
	log->count = log->during = log->unread = 0;
	log->result = 0;
	log->error[0] = '\0';
}

const char *
delivery_log_text(struct delivery_log *log)
{
	size_t n = 0;

	log->text[0] = '\0';
	for (unsigned i = 0; i < log->count && n + 64 < sizeof(log->text); i++) {
		const struct delivery_event *e = &log->events[i];

		n += (size_t)snprintf(log->text + n, sizeof(log->text) - n, "%s%c%s",
				      i == log->during ? "| " : "", e->what, e->readable ? "" : "(unread)");
		if (strchr("+u-v", e->what))
			n += (size_t)snprintf(log->text + n, sizeof(log->text) - n, "%s/%u:%u>%u%s", e->name,
					      e->uid, e->old_rv, e->rv, e->initial ? "*" : "");
		n += (size_t)snprintf(log->text + n, sizeof(log->text) - n, " ");
	}
	return log->text;
}

/* ---- whether it is right ---- */

/*
 * What the handler was told so far.
 *
 * there   the rv told last, if the object was not told as gone; 0: absent
 * newest  the newest rv told of this name
 * met     told since a RESYNC began
 * last    the name of the last call before the arena was revoked, which may be told again
 * unread  how many calls could not be read
 */
struct belief {
	char names[DELIVERY_NAMES][8];
	unsigned count;
	unsigned there[DELIVERY_NAMES], newest[DELIVERY_NAMES];
	bool met[DELIVERY_NAMES];
	bool resyncing, synced;
	unsigned last, unread;
};

__attribute__((format(printf, 2, 3))) static const char *
say(struct delivery_log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(log->wrong, sizeof(log->wrong), format, args);
	va_end(args);
	return log->wrong;
}

static unsigned
place_of(struct belief *b, const char *name)
{
	unsigned i = 0;

	while (i < b->count && strcmp(b->names[i], name) != 0)
		i++;
	if (i == DELIVERY_NAMES)
		abort();
	if (i == b->count)
		memcpy(b->names[b->count++], name, sizeof(b->names[0]));
	return i;
}

/* This name's rv on the server after so many states; 0: absent, or not visible to the handler. */
static unsigned
had(const struct delivery_log *log, unsigned states, const char *name)
{
	for (unsigned i = states; i-- > 0;) {
		const struct delivery_state *s = &log->states[i];

		if (strcmp(s->name, name) != 0)
			continue;
		return s->deleted || (log->web_only && !s->web) || (log->scoped && name[0] == 'x') ? 0
												   : i + 1;
	}
	return 0;
}

/* True if the handler could see the object from the first moment to the last. */
static bool
stays(const struct delivery_log *log, const char *name)
{
	for (unsigned i = log->moments[0]; i <= log->moments[DELIVERY_LOG_MOMENTS - 1]; i++)
		if (!had(log, i, name))
			return false;
	return true;
}

/* The unreadable object is known by its old value. */
static bool
ends_a_value_that_stays(const struct delivery_log *log, const struct delivery_event *e)
{
	return e->what == 'v' && e->rv == 0 && e->old_rv && stays(log, log->states[e->old_rv - 1].name);
}

static const char *
check_state(struct delivery_log *log, const struct belief *b, const struct delivery_event *e, unsigned at)
{
	const struct delivery_state *s;

	if (e->rv == 0)
		return e->what == '-' || e->what == 'v' ? NULL : say(log, "%s without a version", e->name);
	if (e->rv > log->state_count)
		return say(log, "%s never had version %u", e->name, e->rv);
	s = &log->states[e->rv - 1];
	if (strcmp(s->name, e->name) != 0 || (e->what != 'v' && s->uid != e->uid))
		return say(log, "%s, uid %u, never had version %u", e->name, e->uid, e->rv);
	if (log->scoped && e->name[0] == 'x')
		return say(log, "%s is in another namespace", e->name);
	if (log->web_only && !s->web && (e->what != '-' || e->known))
		return say(log, "%s, version %u, is not selected", e->name, e->rv);
	if (e->rv < b->newest[at] && (e->what != '-' || e->known))
		return say(log, "%s, version %u, after version %u", e->name, e->rv, b->newest[at]);
	return NULL;
}

static const char *
check_event(struct delivery_log *log, struct belief *b, const struct delivery_event *e, bool taken)
{
	unsigned at = place_of(b, e->name);
	bool gone = e->what == '-' || (e->what == 'v' && e->rv == 0);
	/* the last call before the revocation may be unread, or told again */
	bool sure = !taken || (b->unread == 0 && at != b->last);
	const char *wrong = check_state(log, b, e, at);

	if (wrong)
		return wrong;
	if (e->what == '+' && b->there[at] && !b->resyncing && sure)
		return say(log, "add of %s, which is there", e->name);
	if (e->what == 'u' && !b->there[at] && sure)
		return say(log, "update of %s, which is not there", e->name);
	if (e->what == 'u' && e->old_rv && e->old_rv != b->there[at] && sure)
		return say(log, "update of %s from %u, but %u was told", e->name, e->old_rv, b->there[at]);
	if (gone && !b->there[at] && sure)
		return say(log, "delete of %s, which is not there", e->name);
	if (gone && stays(log, e->name))
		return say(log, "delete of %s, which was there all the while", e->name);
	if (e->what == 'v' && e->old_rv != b->there[at] && sure)
		return say(log, "value of %s was %u, and %u was told", e->name, e->old_rv, b->there[at]);
	b->there[at] = gone ? 0 : e->rv;
	b->met[at] = true;
	if (e->rv > b->newest[at])
		b->newest[at] = e->rv;
	return NULL;
}

static const char *
check_call(struct delivery_log *log, struct belief *b, const struct delivery_event *e, bool taken)
{
	switch (e->what) {
	case 'B':
		b->resyncing = true;
		memset(b->met, 0, sizeof(b->met));
		return NULL;
	case 'E':
		b->resyncing = false;
		/* what a RESYNC did not tell is gone; for values this is told */
		for (unsigned i = 0; i < b->count && !log->values; i++) {
			if (b->there[i] && !b->met[i] && stays(log, b->names[i]))
				return say(log, "%s was not told anew", b->names[i]);
			b->there[i] = b->met[i] ? b->there[i] : 0;
		}
		return NULL;
	case 'S':
		b->synced = true;
		return NULL;
	case 'O':
	case 'R':
		return NULL;
	default:
		return check_event(log, b, e, taken);
	}
}

const char *
delivery_log_wrong(struct delivery_log *log, bool taken)
{
	unsigned last = log->moments[DELIVERY_LOG_MOMENTS - 1];
	struct belief b = {.last = DELIVERY_NAMES};

	if (log->count == DELIVERY_EVENTS)
		return say(log, "it is told for ever");
	if (log->result != 0)
		return say(log, "its last turn said %s", informer_error_name(log->result));
	if (strstr(log->error, "no sense"))
		return say(log, "it said: %s", log->error);
	for (unsigned i = 0; i < log->count; i++) {
		const char *wrong;

		if (i + 1 == log->during && log->events[i].name[0])
			b.last = place_of(&b, log->events[i].name);
		if (!log->events[i].readable) {
			if (!taken || i >= log->during || b.unread++)
				return say(log, "call %u could not be read", i);
			if (ends_a_value_that_stays(log, &log->events[i]))
				return say(log, "call %u ends the value of what was there all the while", i);
			continue;
		}
		wrong = check_call(log, &b, &log->events[i], taken);
		if (wrong)
			return wrong;
	}
	for (unsigned i = 0; i < last; i++)
		if (b.there[place_of(&b, log->states[i].name)] != had(log, last, log->states[i].name))
			return say(log, "in the end %s is %u, and %u was told", log->states[i].name,
				   had(log, last, log->states[i].name),
				   b.there[place_of(&b, log->states[i].name)]);
	return b.synced ? NULL : say(log, "it was not synced");
}
