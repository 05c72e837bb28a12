/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON path: one path of kubectl's JSONPath in its relaxed form, as `informerctl wait --for=jsonpath=` takes
 * it.
 *
 *	{.status.phase}     .status.phase      status.phase       metadata.labels.a\.b/c
 *	.spec.containers[0].image      .spec.containers[-1].image      .spec.containers[*].image
 *	.metadata.labels['a.b/c']      {.status.conditions[?(@.type=="Ready")].status}
 *
 * A filter compares (==, !=) with a "text", a 'text', a number, true or false, or tests that a field exists.
 * Ranges, unions and ".." are not supported.
 */
#ifndef TOOLS_INFORMERCTL_JSON_PATH_H
#define TOOLS_INFORMERCTL_JSON_PATH_H

#include "tools/printer/field.h"

struct json_path;

/*
 * ret_why  on failure, a constant sentence
 * Returns  0 with a path for json_path_free(), -EINVAL, -ENOMEM
 */
int json_path_parse(const char *text, struct json_path **ret_path, const char **ret_why);
void json_path_free(struct json_path *path);

/*
 * Returns the number of fields that the path matches; a missing step matches none.
 *
 * ret_first  one of them, if any
 */
size_t json_path_find(const struct json_path *path, struct field root, struct field *ret_first);

/* Append a text, number or boolean as Go prints it (null: "<nil>"). False for arrays and objects. */
struct text;
bool json_path_text(struct field field, struct text *out);

#endif
