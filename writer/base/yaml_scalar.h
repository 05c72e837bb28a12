/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scalars: what a value is by YAML 1.2's core schema. Without quotes and without a tag `no` is a string, 0o17
 * a number.
 */
#ifndef WRITER_BASE_YAML_SCALAR_H
#define WRITER_BASE_YAML_SCALAR_H

#include <stdbool.h>

/*
 * tag      as libyaml has it, or NULL
 * plain    without quotes, and no block
 * Returns  cJSON's type: cJSON_NULL, cJSON_True, cJSON_False, cJSON_Number with *ret_number (which may be
 *          infinite), or cJSON_String; -EINVAL with *ret_why, which the tag goes behind
 */
int yaml_scalar_type(const char *text, const char *tag, bool plain, double *ret_number, const char **ret_why);

#endif
