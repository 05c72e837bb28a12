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
	struct watch_error met;
	int r = watch_error_read(s, ref, &met);

	if (r < 0)
		return r;
	if (only_news && (met.recovered || met.hash == w->status_seen))
		return 0;
	w->status_seen = met.hash;
	told.recovered = met.recovered;
	told.http_code = met.recovered ? 0 : met.code;
	told.reason = met.recovered ? "" : met.reason;
	told.message = met.recovered ? "" : met.message;
	if (w->o.on_error)
		w->o.on_error(w->o.context, &told);
	return 0;
}
