/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a list, for api_list.c and for informer-sim, which computes its size in advance. */
#ifndef TOOLS_SERVING_API_LIST_PRIVATE_H
#define TOOLS_SERVING_API_LIST_PRIVATE_H

#include "tools/serving/api_list.h"
#include "tools/serving/page.h"
#include "tools/serving/watch_line.h"

enum list_phase { COUNTING, HEAD, AMID, TAIL, DONE };

struct list_piece {
	const char *bytes;
	size_t len;
};

struct api_list {
	const struct api_store *store;
	const struct api_query *query;
	struct api_form form;
	bool as_events;
	bool begun; /* the view is ready, and at the page's first key */
	enum list_phase phase;

	struct api_view *view;
	uint64_t rv, position;
	struct api_buf prefix; /* "namespace/", or "" */
	struct api_page page;
	uint64_t limit;  /* 0: none */
	uint64_t picked; /* in this walk */

	/* results of the counting walk, if there was one */
	bool sizing;
	uint64_t items, bytes, left;
	struct api_buf token;

	struct api_object *object; /* the item being sent */
	struct api_buf own;        /* bytes being sent that belong to no object */
	struct api_buf item_head;  /* for metadata only */
	struct list_piece pieces[4];
	unsigned piece_count, piece_at;
	size_t offset;
};

/*
 * Continue the counting walk: at most budget objects, with their bytes if it is sizing.
 *
 * Returns  0: done, the list is at its head; -EAGAIN; -EIO
 */
int list_count(struct api_list *list, unsigned budget);
/* Fill list->own with the bytes before the items, or after them. */
void list_make_head(struct api_list *list);
void list_make_tail(struct api_list *list);

#endif
