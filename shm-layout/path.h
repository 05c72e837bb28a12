/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths into a document: compiled once, followed often. Both sides use them.
 *
 *	metadata.labels            spec.containers[*].image        status.podIPs[0].ip
 *	metadata.annotations["a.b/c"]      metadata.labels['app.kubernetes.io/name']
 *
 * A leading '.' or '$.' and surrounding '{ }', as in kubectl's JSONPath, are accepted. [*] visits each
 * element of an array or each value of an object.
 */
#ifndef SHM_LAYOUT_PATH_H
#define SHM_LAYOUT_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "shm-layout/value_field.h"

#define PATH_STEPS_MAX 16u
#define PATH_TEXT_MAX 1024u

enum path_step_kind { PATH_KEY, PATH_ELEMENT, PATH_ANY };

struct path_step {
	enum path_step_kind kind;
	uint8_t fingerprint;
	uint16_t name_offset;	/* into path.names */
	uint16_t name_length;
	uint32_t element;
	struct value_memo memo;	/* any thread that follows the path changes it */
};

/* The field in an object's header that has the same text (object.h); PATH_BODY: none. */
enum path_header {
	PATH_BODY = 0,
	PATH_NODE_NAME,
	PATH_PHASE,
	PATH_STRING	/* PATH_STRING + an enum object_string */
};

struct path {
	unsigned count;
	enum path_header header;
	struct path_step steps[PATH_STEPS_MAX];
	char names[PATH_TEXT_MAX];
};

/*
 * Compile text.
 *
 * ret_offset  on failure, the offset of the first byte in error (may be NULL)
 * ret_why     on failure, the reason, a constant text (may be NULL)
 * Returns     0; -EINVAL; -E2BIG too many steps, or too long
 */
int path_compile(struct path *ret_path, const char *text, size_t length, size_t *ret_offset,
		 const char **ret_why);

/* True if both have the same steps, however they were written. */
bool path_same(const struct path *a, const struct path *b);

/*
 * The value at a path; of a path with [*] the first hit. at == NULL: no such value. No allocation, no
 * parsing.
 */
struct value path_get(const struct path *path, struct value root);

/* The same in place, from v on. False: no such value, and v is undefined. */
bool path_follow(const struct path *path, struct value *v);

/* Call `each` for each hit, in order. Its first non-zero result is returned; else 0, or -EBADMSG. */
int path_each(const struct path *path, struct value root, int (*each)(struct value hit, void *context),
	      void *context);

#endif
