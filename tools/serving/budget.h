/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: limits the memory that clients can make a server hold. Each purpose has a share with its own limit;
 * the shares' limits may exceed the budget in sum.
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
	struct api_budget *whole; /* NULL: no common budget */
	size_t most, held;        /* bytes */
	uint64_t refused;         /* refused requests for room */
};

/* Free bytes of the share; 0 also if it holds more than its limit. */
size_t api_share_room(const struct api_share *share);
/* Take bytes if there is room. 0 bytes always succeeds. */
bool api_share_take(struct api_share *share, size_t bytes);
/* Take bytes without a check: they are held already. */
void api_share_add(struct api_share *share, size_t bytes);
void api_share_give_back(struct api_share *share, size_t bytes);

#endif
