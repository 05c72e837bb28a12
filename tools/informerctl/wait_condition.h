/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait condition: what `informerctl wait --for=` waits for, with kubectl's meaning:
 *
 *	delete                   the object does not exist
 *	create                   the object exists
 *	condition=Ready          status.conditions has this type (or several, with commas) with status True
 *	condition=Ready=False    ... with this status; case does not matter. A condition observed for an older
 *	                         generation than the object's is not met
 *	jsonpath=PATH            the path matches something (json_path.h)
 *	jsonpath=PATH=VALUE      the path matches this text, number or boolean
 */
#ifndef TOOLS_INFORMERCTL_WAIT_CONDITION_H
#define TOOLS_INFORMERCTL_WAIT_CONDITION_H

#include "tools/printer/field.h"

enum wait_kind { WAIT_DELETE, WAIT_CREATE, WAIT_CONDITION, WAIT_JSON_PATH };

struct json_path;

/*
 * type, status  of CONDITION
 * path, value   of JSON_PATH; value NULL: any
 */
struct wait_condition {
	enum wait_kind kind;
	char *type, *status;
	struct json_path *path;
	char *value;
};

/*
 * ret_why  on -EINVAL a constant sentence, or "" if the text is no object condition
 * Returns  0, -EINVAL, -ENOMEM
 */
int wait_condition_parse(const char *text, struct wait_condition *ret_condition, const char **ret_why);
/* A zeroed condition is fine. */
void wait_condition_done(struct wait_condition *condition);

/*
 * Whether an existing object meets CONDITION or JSON_PATH: 1, 0; or -EINVAL, with a constant sentence in
 * ret_why, if it cannot be evaluated.
 */
int wait_condition_met(const struct wait_condition *condition, struct field object, const char **ret_why);

#endif
