/* SPDX-License-Identifier: Apache-2.0 */
/* How to reach the API server; see server_choice.h. */
#include "writer/kube/server_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"

static size_t const strings[] = {
	offsetof(struct kubeconfig_choice, kubeconfig),
	offsetof(struct kubeconfig_choice, context),
	offsetof(struct kubeconfig_choice, cluster),
	offsetof(struct kubeconfig_choice, user),
	offsetof(struct kubeconfig_choice, server),
	offsetof(struct kubeconfig_choice, certificate_authority),
	offsetof(struct kubeconfig_choice, tls_server_name),
	offsetof(struct kubeconfig_choice, client_certificate),
	offsetof(struct kubeconfig_choice, client_key),
	offsetof(struct kubeconfig_choice, token),
	offsetof(struct kubeconfig_choice, username),
	offsetof(struct kubeconfig_choice, password),
	offsetof(struct kubeconfig_choice, as),
	offsetof(struct kubeconfig_choice, as_uid),
};
#define N_STRINGS (sizeof(strings) / sizeof(*strings))

static char **
string_at(struct kubeconfig_choice *choice, size_t i)
{
	return (char **)(void *)((char *)choice + strings[i]);
}

void
server_choice_drop_groups(struct kubeconfig_choice *choice)
{
	for (size_t i = 0; i < choice->n_as_groups; i++)
		free(choice->as_groups[i]);
	free(choice->as_groups);
	choice->as_groups = NULL;
	choice->n_as_groups = 0;
}

void
server_choice_done(struct kubeconfig_choice *choice)
{
	for (size_t i = 0; i < N_STRINGS; i++)
		file_wipe_text(*string_at(choice, i));
	server_choice_drop_groups(choice);
	memset(choice, 0, sizeof(*choice));
}

int
server_choice_take_group(void *at, const char *group, char **ret_error)
{
	struct kubeconfig_choice *choice = at;
	char **larger = reallocarray(choice->as_groups, choice->n_as_groups + 1, sizeof(*larger));

	(void)ret_error;
	if (!larger)
		return -ENOMEM;
	choice->as_groups = larger;
	larger[choice->n_as_groups] = strdup(group);
	if (!larger[choice->n_as_groups])
		return -ENOMEM;
	choice->n_as_groups++;
	return 0;
}

const struct yaml_field server_choice_group = {YAML_TEXT(server_choice_take_group, "a group")};

int
server_choice_take_timeout(void *ms_at, const char *text, char **ret_error)
{
	bool is_seconds = *text && text[strspn(text, "0123456789")] == '\0';
	double ms = is_seconds ? strtod(text, NULL) * 1000 : 0;

	if (!is_seconds && !quantity_duration(text + (*text == '+'), &ms))
		return message_set(ret_error, -EINVAL,
				   "'%s' is not a time, such as 30s, 2m or 1m30s (0: no limit)", text);
	if (ms > SERVER_CHOICE_TIMEOUT_MAX_MS)
		ms = SERVER_CHOICE_TIMEOUT_MAX_MS;
	*(uint64_t *)ms_at = ms > 0 && ms < 1 ? 1 : (uint64_t)ms;
	return 0;
}
