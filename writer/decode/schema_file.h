/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema of protobuf from a file, for servers newer than this program: one that somebody names, or the
 * one that a package put beside it, PREFIX/share/informer/kubernetes.schema, if that is of a newer Kubernetes
 * than what is built in.
 */
#ifndef WRITER_DECODE_SCHEMA_FILE_H
#define WRITER_DECODE_SCHEMA_FILE_H

#include "tools/schema/proto_schema.h"

/*
 * Read a schema.
 *
 * ret      the caller's, to be freed with proto_schema_free()
 * Returns  0, or negative errno with a message, "FILE: what is wrong"
 */
int schema_file_read(const char *path, struct proto_schema **ret, char **ret_error);

/*
 * Which schema to work with; it is logged.
 *
 * path       the file that somebody named; NULL: nobody did
 * installed  where a package puts one; NULL: not known. What is wrong with it is logged, and what is built in
 *            goes on
 * ret        the caller's; NULL: what is built in
 * Returns    0, or negative errno with a message, of `path` alone
 */
int schema_file_choose(const char *path, const char *installed, struct proto_schema **ret, char **ret_error);

/*
 * "/usr/share/informer/kubernetes.schema" of /usr/sbin/informerd: by where this program is. Allocated; NULL:
 * not known.
 */
char *schema_file_installed(void);

#endif
