/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts: users and groups of this machine, which a flag or a field names by name or number. Names are
 * looked up at once (NSS), so only before threads start.
 */
#ifndef WRITER_BASE_ACCOUNT_H
#define WRITER_BASE_ACCOUNT_H

#include <stdbool.h>

#include "tools/flags/flags.h"
#include "writer/base/growing.h"
#include "writer/base/yaml_field.h"

/* Append an id to a struct refs. 0, -ENOMEM; -EINVAL with message: there is no such account. */
flag_take account_take_user, account_take_group;

/* An item of a list of users or groups, for YAML_LIST(); into a struct refs. */
extern const struct yaml_field account_user, account_group;
#define ACCOUNT_LIST "a list of names or numbers"

bool account_has(const struct refs *ids, uint32_t id);

#endif
