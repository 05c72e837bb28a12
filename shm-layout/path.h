/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths into a document, compiled once, followed often.
 *
 *	metadata.labels            spec.containers[*].image        status.podIPs[0].ip
 *	metadata.annotations["a.b/c"]      metadata.labels['app.kubernetes.io/name']
 *
 * A leading '.' or '$.' and surrounding '{ }' (as kubectl's JSONPath writes it) are accepted. [*] visits
 * every element of an array or every value of an object.
 */
#ifndef SHM_LAYOUT_PATH_H
#define SHM_LAYOUT_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/value.h"

#define PATH_STEPS_MAX 16u
#define PATH_TEXT_MAX 1024u

enum path_step_kind { PATH_KEY, PATH_ELEMENT, PATH_ANY };

struct path_step {
	enum path_step_kind kind;
	uint8_t fingerprint;
	uint16_t name_offset;	/* into path.names */
	uint16_t name_length;
	uint32_t element;
	struct value_memo memo;	/* changes while the path is followed, by any thread */
};

/* Fields that stand in an object's header, too (object.h). */
enum path_header {
	PATH_BODY = 0,
	PATH_NODE_NAME,
	PATH_PHASE,
	PATH_STRING	/* this and the next are enum object_string's */
};

struct path {
	unsigned count;
	enum path_header header;
	struct path_step steps[PATH_STEPS_MAX];
	char names[PATH_TEXT_MAX];
};

/*
 * Compile text.
 * ret_offset  on failure, the byte at which it stopped making sense (may be NULL)
 * ret_why     on failure, a constant text (may be NULL)
 * Returns 0, -EINVAL, or -E2BIG (too many steps, too long)
 */
int path_compile(struct path *ret_path, const char *text, size_t length, size_t *ret_offset,
		 const char **ret_why);

/* Whether both lead to the same places, however they were written. */
bool path_same(const struct path *a, const struct path *b);

/*
 * Follow a path without [*] (with one: its first hit). at == NULL when nothing is there. No allocation, no
 * parse.
 */
struct value path_get(const struct path *path, struct value root);

/* The same in place, from v on. False when nothing is there, and v means nothing then. */
bool path_follow(const struct path *path, struct value *v);

/* Every hit of a path, in order. A non-zero result of each stops and is returned; else 0, or -EBADMSG. */
int path_each(const struct path *path, struct value root, int (*each)(struct value hit, void *context),
	      void *context);

#endif
