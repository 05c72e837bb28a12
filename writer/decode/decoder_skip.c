/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips an unwanted JSON value. If it was the rest of an item that cannot be kept, the item ends with it.
 */
#include "writer/decode/decoder_internal.h"

int
decoder_skip_run(struct decoder *d, const char **p, const char *end, bool final)
{
	const char *from = *p;
	int r = json_skip_run(&d->skip, p, end, final);

	if (r == -EBADMSG)
		return decoder_fail(d, *p, d->skip.why);
	if (d->skipping_to && r >= 0 && item_add_type(d->skipping_to, from, (size_t)(*p - from)) < 0)
		return -ENOMEM;
	if (r <= 0)
		return r;
	d->skipping = false;
	d->skipping_to = NULL;
	if (!d->skipping_item)
		return GO_ON;
	d->skipping_item = false;
	d->state = JSON_NEXT;
	return item_end(d, *p);
}
