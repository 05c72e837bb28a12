/*
 * What the Reflector met, from the arena to on_error (LAYOUT.md, STATUS).
 */
#include <string.h>

#include "reader-lib/handler.h"

static void
take_text(struct value status, const char *field, char *buffer, size_t size)
{
	const char *data;
	size_t length;

	buffer[0] = '\0';
	if (!value_string(value_at_name(status, field), &data, &length))
		return;
	if (length >= size)
		length = size - 1;
	memcpy(buffer, data, length);
	buffer[length] = '\0';
}

static int
hash_piece(const char *data, size_t length, void *context)
{
	uint64_t *hash = context;

	for (size_t i = 0; i < length; i++)
		*hash = (*hash ^ (uint8_t)data[i]) * 0x100000001b3ull;
	return 0;
}

int
handler_tell_status(struct informer_handler *h, const struct snapshot *s, uint32_t ref, bool only_news)
{
	struct handler_work *w = h->work;
	struct value status = value_of_block(&s->view, ref);
	struct informer_watch_status told = {.size = sizeof(told), .resource = w->sub.resource->name};
	uint64_t hash = 0xcbf29ce484222325ull;
	char reason[128], message[1024];
	int64_t code = 0;
	int r;

	if (!status.at)
		return snapshot_settle(s, -EBADMSG);
	r = value_to_json(status, hash_piece, &hash);
	value_bool(value_at_name(status, "recovered"), &told.recovered);
	if (value_int(value_at_name(status, "code"), &code) && code > 0 && code < 1000)
		told.http_code = (int)code;
	take_text(status, "reason", reason, sizeof(reason));
	take_text(status, "message", message, sizeof(message));
	r = snapshot_settle(s, r);
	if (r < 0)
		return r;
	if (only_news && (told.recovered || hash == w->status_seen))
		return 0;
	w->status_seen = hash;
	if (told.recovered) {
		told.http_code = 0;
		reason[0] = message[0] = '\0';
	}
	told.reason = reason;
	told.message = message;
	if (w->o.on_error)
		w->o.on_error(w->o.context, &told);
	return 0;
}
