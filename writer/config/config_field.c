/* SPDX-License-Identifier: Apache-2.0 */
/* Fields that the daemon's configuration alone has; see config_field.h. */
#include "writer/config/config_field.h"

#include <string.h>

#include "writer/base/message.h"
#include "writer/config/config_parse.h"

int
config_field_namespace(const struct yaml_reading *in, const cJSON *value, void *into)
{
	_cleanup_(message_freep) char *error = NULL;
	int r;

	r = yaml_field_string(in, value, into);
	if (r < 0)
		return r;
	/* what it becomes is checked later */
	r = strstr(value->valuestring, "${") ? 0 : config_check_namespace(value->valuestring, &error);
	return r < 0 ? yaml_field_placed(in, value, r, &error) : 0;
}

int
config_field_choice(const struct yaml_reading *in, const cJSON *value, void *into)
{
	bool yes = false;
	int r = yaml_field_bool(in, value, &yes);

	if (r == 0)
		*(enum config_choice *)into = yes ? CONFIG_YES : CONFIG_NO;
	return r;
}
