/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole numbers as people write them: digits alone, no sign, no blank, no other base.
 */
#ifndef WRITER_BASE_NUMBER_H
#define WRITER_BASE_NUMBER_H

#include <stdint.h>

/* Parse a decimal number up to max. Returns 0, or -EINVAL with a message that begins with the wrong text. */
int number_parse(const char *text, uint64_t max, uint64_t *ret_number, char **ret_error);

#endif
