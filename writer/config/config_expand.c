/* SPDX-License-Identifier: Apache-2.0 */
/* ${NAME} in values of the configuration; see config_expand.h. */
#include "writer/config/config_expand.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define NAME_MAX_LENGTH 255u

/* The value of the variable at "${NAME}", and the length of "${NAME}". */
static int
look_up(const char *at, const char **ret_value, size_t *ret_length, char **ret_error)
{
	size_t length = strspn(at + 2, NAME_CHARACTERS);
	char name[NAME_MAX_LENGTH + 1];

	if (length == 0 || length > NAME_MAX_LENGTH || at[2 + length] != '}')
		return message_set(ret_error, -EINVAL, "'%.40s' is no variable; write it as ${NODE_NAME}",
				   at);
	memcpy(name, at + 2, length);
	name[length] = '\0';
	*ret_value = getenv(name);
	if (!*ret_value || !**ret_value)
		return message_set(
			ret_error, -EINVAL,
			"the environment variable %s is %s; in a pod it is set by env: with valueFrom, "
			"fieldRef",
			name, *ret_value ? "empty" : "not set");
	*ret_length = length + 3;
	return 0;
}

int
config_expand(char **text, char **ret_error)
{
	const char *rest = *text, *variable, *value;
	char *expanded = NULL;
	size_t length, size;
	FILE *out;
	int r = 0;

	if (!rest || !strstr(rest, "${"))
		return 0;
	out = open_memstream(&expanded, &size);
	if (!out)
		return -ENOMEM;
	while (r == 0 && (variable = strstr(rest, "${"))) {
		r = look_up(variable, &value, &length, ret_error);
		if (r == 0) {
			fprintf(out, "%.*s%s", (int)(variable - rest), rest, value);
			rest = variable + length;
		}
	}
	fputs(rest, out);
	if (ferror(out) && r == 0)
		r = -ENOMEM;
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(expanded);
		return r;
	}
	free(*text);
	*text = expanded;
	return 0;
}
