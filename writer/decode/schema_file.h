/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the protobuf schema from a file, for servers newer than this program. The file is one that the user
 * names, or the one that a package installed, PREFIX/share/informer/kubernetes.schema, if its Kubernetes is
 * newer than the built-in schema's.
 */
#ifndef WRITER_DECODE_SCHEMA_FILE_H
#define WRITER_DECODE_SCHEMA_FILE_H

#include "tools/schema/proto_schema.h"

/*
 * Read a schema.
 *
 * ret      the caller frees it with proto_schema_free()
 * Returns  0, or negative errno with a message, "FILE: what is wrong"
 */
int schema_file_read(const char *path, struct proto_schema **ret, char **ret_error);

/*
 * Choose the schema, and log which it is.
 *
 * path       the file that the user named, or NULL
 * installed  where a package puts a schema; NULL: unknown. An error in it is logged, and the built-in schema
 *            is used
 * ret        owned by the caller; NULL: the built-in schema
 * Returns    0, or negative errno with a message, for `path` alone
 */
int schema_file_choose(const char *path, const char *installed, struct proto_schema **ret, char **ret_error);

/*
 * The path of the installed schema, found from this program's: "/usr/share/informer/kubernetes.schema" for
 * /usr/bin/informerd. Allocated; NULL: unknown.
 */
char *schema_file_installed(void);

#endif
