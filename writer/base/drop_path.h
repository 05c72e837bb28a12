/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drop path: which paths of an object may be left out of what is stored. The configuration asks it to name
 * the place of a bad one, the decoder to follow them.
 */
#ifndef WRITER_BASE_DROP_PATH_H
#define WRITER_BASE_DROP_PATH_H

#include "shm-layout/path.h"

#define DROP_PATHS_MAX 256u	/* of one resource */

/*
 * Compile one (path.h has the syntax; [*] is allowed). Impossible: what does not compile, the whole object,
 * single elements ([0]: the others would change their places), and what would take away what an object is
 * found by: metadata, its name, namespace, uid or resourceVersion.
 *
 * Returns 0, -EINVAL or -E2BIG
 */
int drop_path_compile(const char *text, struct path *ret_path);

#endif
