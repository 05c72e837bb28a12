/* SPDX-License-Identifier: Apache-2.0 */
/* Counting bytes; see budget.h. */
#include "tools/serving/budget.h"

static size_t
room(size_t most, size_t held)
{
	return held < most ? most - held : 0;
}

size_t
api_share_room(const struct api_share *share)
{
	size_t mine = room(share->most, share->held),
	       all = share->whole ? room(share->whole->most, share->whole->held) : mine;

	return mine < all ? mine : all;
}

void
api_share_add(struct api_share *share, size_t bytes)
{
	share->held += bytes;
	if (share->whole)
		share->whole->held += bytes;
}

bool
api_share_take(struct api_share *share, size_t bytes)
{
	if (bytes > api_share_room(share)) {
		share->refused++;
		return false;
	}
	api_share_add(share, bytes);
	return true;
}

void
api_share_give_back(struct api_share *share, size_t bytes)
{
	share->held -= bytes;
	if (share->whole)
		share->whole->held -= bytes;
}
