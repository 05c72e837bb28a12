/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: how much memory those who ask can make a server hold, for several purposes together. Each purpose
 * has a share with a limit of its own; the limits may add up to more than the whole.
 *
 *	struct api_budget all = {.most = 512 MiB};
 *	struct api_share lists = {.whole = &all, .most = 256 MiB}, bodies = …;
 *
 * Threads: one.
 */
#ifndef TOOLS_SERVING_BUDGET_H
#define TOOLS_SERVING_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_budget {
	size_t most, held; /* bytes */
};

struct api_share {
	struct api_budget *whole; /* NULL: it stands alone */
	size_t most, held;        /* bytes */
	uint64_t refused;         /* how often there was no room */
};

/* Bytes that it can still take; 0 as well when it holds more than it may. */
size_t api_share_room(const struct api_share *share);
/* Take so many bytes, if there is room for them. 0 is always fine. */
bool api_share_take(struct api_share *share, size_t bytes);
/* Take them, whether there is room or not: they are held already. */
void api_share_add(struct api_share *share, size_t bytes);
void api_share_give_back(struct api_share *share, size_t bytes);

#endif
