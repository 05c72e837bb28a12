/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `informerctl wait --for=` waits for of an object, with kubectl's meaning of each:
 *
 *	delete                   it is gone
 *	create                   it is there
 *	condition=Ready          of status.conditions the one of that type (or of several, with commas) is
 *True condition=Ready=False    ... has that status. Case does not count. One that was observed of an older
 *	                         generation than the object's is not yet met
 *	jsonpath=PATH            the path leads to something (json_path.h)
 *	jsonpath=PATH=VALUE      to that text, number or boolean
 */
#ifndef TOOLS_INFORMERCTL_WAIT_CONDITION_H
#define TOOLS_INFORMERCTL_WAIT_CONDITION_H

#include "tools/printer/field.h"

enum wait_kind { WAIT_DELETE, WAIT_CREATE, WAIT_CONDITION, WAIT_JSON_PATH };

struct json_path;

/*
 * type, status  of CONDITION
 * path, value   of JSON_PATH; value NULL: whatever is there
 */
struct wait_condition {
	enum wait_kind kind;
	char *type, *status;
	struct json_path *path;
	char *value;
};

/*
 * ret_why  on -EINVAL a constant sentence, or "" when it is no condition of an object at all
 * Returns  0, -EINVAL, -ENOMEM
 */
int wait_condition_parse(const char *text, struct wait_condition *ret_condition, const char **ret_why);
/* Of one that is zeroed, nothing. */
void wait_condition_done(struct wait_condition *condition);

/*
 * Whether an object that is there meets CONDITION or JSON_PATH: 1, 0; or -EINVAL when that cannot be said,
 * with a constant sentence in ret_why.
 */
int wait_condition_met(const struct wait_condition *condition, struct field object, const char **ret_why);

#endif
