/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Reflector met, from the arena to on_error (LAYOUT.md, STATUS).
 */
#include "reader-lib/events/handler.h"
#include "reader-lib/events/watch_error.h"

int
handler_tell_status(struct informer_handler *h, const struct snapshot *s, uint32_t ref, bool only_news)
{
	struct handler_work *w = h->work;
	struct informer_watch_status told = {.size = sizeof(told), .resource = w->sub.resource->name};
	struct watch_error trouble;
	int r = watch_error_read(s, ref, &trouble);

	if (r < 0)
		return r;
	if (only_news && (trouble.recovered || trouble.hash == w->status_seen))
		return 0;
	w->status_seen = trouble.hash;
	told.recovered = trouble.recovered;
	told.http_code = trouble.recovered ? 0 : trouble.code;
	told.reason = trouble.recovered ? "" : trouble.reason;
	told.message = trouble.recovered ? "" : trouble.message;
	if (w->o.on_error)
		w->o.on_error(w->o.context, &told);
	return 0;
}
