/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getopt_long(3) takes any beginning of a flag's name that is the only one. Our tools take whole names: a
 * script with half of one would break when another flag is added, and informerd and informerctl do not take
 * it either.
 */
#ifndef TOOLS_FLAGS_WHOLE_FLAG_H
#define TOOLS_FLAGS_WHOLE_FLAG_H

#include <getopt.h>
#include <stdbool.h>
#include <string.h>

/*
 * argument: what getopt_long() is about to look at (argv[optind]), or NULL. False: it is a long flag, and
 * none of these.
 */
static inline bool
flag_is_whole(const char *argument, const struct option *options)
{
	size_t length;

	if (!argument || strncmp(argument, "--", 2) != 0 || !argument[2])
		return true;
	length = strcspn(argument + 2, "=");
	for (; options->name; options++)
		if (strlen(options->name) == length && memcmp(options->name, argument + 2, length) == 0)
			return true;
	return false;
}

#endif
