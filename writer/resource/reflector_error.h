/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reflector error: what the Reflector of one resource met, as readers are told of it (their on_error;
 * LAYOUT.md, STATUS).
 *
 *	Reflector ── met, over ──▶ error ── once a second at most ──▶ store_set_status()
 *
 * Told are: an error that begins, an error that becomes another one, the end. An error that repeats itself is
 * not told again; one that was over before it could be told is told nevertheless, and its end a second later.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RESOURCE_REFLECTOR_ERROR_H
#define WRITER_RESOURCE_REFLECTOR_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: none was met, and none told. */
struct reflector_error {
	bool met;		/* something is to be told, or was */
	bool over;		/* since then it worked */
	bool told;		/* readers know of it, as it is described here */
	bool told_any;		/* readers know of some trouble whose end they were not told */
	int code;
	char *reason, *message;
	uint64_t since_wall_ns;
	uint64_t count;
};

void reflector_error_done(struct reflector_error *t);

/* What was told before this life began (adoption): trouble that still has to be ended. */
void reflector_error_adopt(struct reflector_error *t);

/*
 * A request failed. code: HTTP status or Status code, 0: no answer; reason: the API's, or ""; message: a
 * sentence.
 */
void reflector_error_meet(struct reflector_error *t, int code, const char *reason, const char *message,
			  uint64_t now_wall_ns);
/* A request succeeded. */
void reflector_error_end(struct reflector_error *t);

/*
 * What is to be told, a JSON document to be freed; NULL: nothing, or no memory. To be called once a second;
 * it counts as told when reflector_error_was_told() follows.
 */
char *reflector_error_news(const struct reflector_error *t);
void reflector_error_was_told(struct reflector_error *t);

#endif
