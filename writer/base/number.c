/* SPDX-License-Identifier: Apache-2.0 */
/* Whole numbers; see number.h. */
#include "writer/base/number.h"

#include <ctype.h>
#include <errno.h>

#include "writer/base/message.h"

int
number_parse(const char *text, uint64_t max, uint64_t *ret_number, char **ret_error)
{
	uint64_t number = 0, digit;

	for (const char *p = text; *p || p == text; p++) {
		if (!isdigit((unsigned char)*p))
			return message_set(ret_error, -EINVAL, "'%s' is not a whole number", text);
		digit = (uint64_t)(*p - '0');
		if (digit > max || number > (max - digit) / 10)
			return message_set(ret_error, -EINVAL, "'%s' is more than %llu", text,
					   (unsigned long long)max);
		number = number * 10 + digit;
	}
	*ret_number = number;
	return 0;
}
