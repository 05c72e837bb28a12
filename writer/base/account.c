/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups by name or number; see account.h. */
#include "writer/base/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

#include "writer/base/message.h"
#include "writer/base/number.h"

#define ID_MAX (UINT32_MAX - 1) /* -1 is no id */

int
account_take_user(void *refs, const char *text, char **ret_error)
{
	const struct passwd *user;
	uint64_t id;

	if (number_parse(text, ID_MAX, &id, NULL) == 0)
		return refs_push(refs, (uint32_t)id);
	user = getpwnam(text);
	return user ? refs_push(refs, user->pw_uid)
		    : message_set(ret_error, -EINVAL, "there is no user '%s' here", text);
}

int
account_take_group(void *refs, const char *text, char **ret_error)
{
	const struct group *group;
	uint64_t id;

	if (number_parse(text, ID_MAX, &id, NULL) == 0)
		return refs_push(refs, (uint32_t)id);
	group = getgrnam(text);
	return group ? refs_push(refs, group->gr_gid)
		     : message_set(ret_error, -EINVAL, "there is no group '%s' here", text);
}

static int
take_account(const struct yaml_reading *in, const cJSON *value, const struct yaml_field *field, void *into)
{
	uint64_t id;
	int r;

	if (cJSON_IsString(value))
		return yaml_field_text(in, value, field, into);
	r = yaml_field_number(in, value, 0, ID_MAX, &id);
	return r < 0 ? r : refs_push(into, (uint32_t)id);
}

const struct yaml_field account_user = {.take = take_account, .parse = account_take_user};
const struct yaml_field account_group = {.take = take_account, .parse = account_take_group};

bool
account_has(const struct refs *ids, uint32_t id)
{
	for (uint32_t i = 0; i < ids->count; i++)
		if (ids->at[i] == id)
			return true;
	return false;
}
