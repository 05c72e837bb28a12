/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drop path names a part of an object that is not stored. The configuration checks its paths here, and the
 * decoder follows them.
 */
#ifndef WRITER_BASE_DROP_PATH_H
#define WRITER_BASE_DROP_PATH_H

#include "shm-layout/path.h"

#define DROP_PATHS_MAX 256u	/* of one resource */

/*
 * Compile a drop path (path.h has the syntax; [*] is allowed). These are invalid:
 *
 *	paths that do not compile, and the whole object
 *	single elements, as [0]: the following elements would move
 *	parts by which an object is found: metadata, its name, namespace, uid, resourceVersion
 *
 * Returns 0, -EINVAL or -E2BIG
 */
int drop_path_compile(const char *text, struct path *ret_path);

#endif
