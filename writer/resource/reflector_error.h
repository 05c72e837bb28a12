/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Reflector error is the failure of one resource's Reflector, as readers are told of it (their on_error;
 * LAYOUT.md, STATUS).
 *
 *	Reflector ── met, over ──▶ error ── once a second at most ──▶ store_set_status()
 *
 * Readers are told when an error begins, when it changes, and when it ends. A repeated error is told once.
 * An error that ends before it is told is still told, and its end a second later.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_RESOURCE_REFLECTOR_ERROR_H
#define WRITER_RESOURCE_REFLECTOR_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: no error was met or published. */
struct reflector_error {
	bool met;	    /* there is an error, published or to be published */
	bool over;	    /* a request has succeeded since */
	bool published;	    /* readers can see the error as it is now */
	bool any_published; /* readers can see an error; its end is not yet published */
	int code;
	char *reason, *message;
	uint64_t since_wall_ns;
	uint64_t count;
};

void reflector_error_done(struct reflector_error *t);

/* After adoption: the previous writer published an error. Its end must still be published. */
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
 * The next message for readers: a JSON document to be freed. NULL: nothing, or no memory. Call once a
 * second; then call reflector_error_published() to mark it published.
 */
char *reflector_error_news(const struct reflector_error *t);
void reflector_error_published(struct reflector_error *t);

#endif
