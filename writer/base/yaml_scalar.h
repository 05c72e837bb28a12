/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the type of a YAML scalar without quotes, by YAML 1.2's core schema. `no` is a string, 0o17 a
 * number.
 */
#ifndef WRITER_BASE_YAML_SCALAR_H
#define WRITER_BASE_YAML_SCALAR_H

/*
 * Returns cJSON's type: cJSON_NULL, cJSON_True, cJSON_False, cJSON_Number with *ret_number (which may be
 * infinite), or cJSON_String.
 */
int yaml_scalar_type(const char *text, double *ret_number);

#endif
