/* SPDX-License-Identifier: Apache-2.0 */
/* How to reach the API server; see server_choice.h. */
#include "writer/kube/server_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

static size_t const strings[] = {
	offsetof(struct server_choice, kubeconfig),
	offsetof(struct server_choice, context),
	offsetof(struct server_choice, cluster),
	offsetof(struct server_choice, user),
	offsetof(struct server_choice, server),
	offsetof(struct server_choice, certificate_authority),
	offsetof(struct server_choice, tls_server_name),
	offsetof(struct server_choice, client_certificate),
	offsetof(struct server_choice, client_key),
	offsetof(struct server_choice, token),
	offsetof(struct server_choice, username),
	offsetof(struct server_choice, password),
	offsetof(struct server_choice, as),
	offsetof(struct server_choice, as_uid),
};
#define N_STRINGS (sizeof(strings) / sizeof(*strings))

static char **
string_at(struct server_choice *choice, size_t i)
{
	return (char **)(void *)((char *)choice + strings[i]);
}

void
server_choice_drop_groups(struct server_choice *choice)
{
	for (size_t i = 0; i < choice->n_as_groups; i++)
		free(choice->as_groups[i]);
	free(choice->as_groups);
	choice->as_groups = NULL;
	choice->n_as_groups = 0;
}

void
server_choice_done(struct server_choice *choice)
{
	for (size_t i = 0; i < N_STRINGS; i++) {
		char *text = *string_at(choice, i);

		file_wipe(text, text ? strlen(text) : 0);
	}
	server_choice_drop_groups(choice);
	memset(choice, 0, sizeof(*choice));
}

int
server_choice_take_group(void *at, const char *group, char **ret_error)
{
	struct server_choice *choice = at;
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

struct kubeconfig_choice
server_choice_kubeconfig(const struct server_choice *choice)
{
	return (struct kubeconfig_choice){
		.kubeconfig = choice->kubeconfig,
		.context = choice->context,
		.cluster = choice->cluster,
		.user = choice->user,
		.server = choice->server,
		.certificate_authority = choice->certificate_authority,
		.insecure_skip_tls_verify = choice->insecure_skip_tls_verify,
		.tls_server_name = choice->tls_server_name,
		.client_certificate = choice->client_certificate,
		.client_key = choice->client_key,
		.token = choice->token,
		.username = choice->username,
		.password = choice->password,
		.disable_compression = choice->disable_compression,
		.compression = choice->compression,
		.as = choice->as,
		.as_uid = choice->as_uid,
		.as_groups = (const char *const *)choice->as_groups,
		.n_as_groups = choice->n_as_groups,
		.request_timeout_ms = choice->request_timeout_ms,
	};
}

/* Its length in milliseconds, and where it ends; 0: not one of them. */
static double
unit_of(const char **text)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"ms", 1},   {"us", 1e-3}, {"µs", 1e-3}, {"ns", 1e-6},
		     {"s", 1000}, {"m", 60e3},  {"h", 3600e3}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].name);

		if (strncmp(*text, units[i].name, len) == 0) {
			*text += len;
			return units[i].ms;
		}
	}
	return 0;
}

int
server_choice_take_timeout(void *ms_at, const char *text, char **ret_error)
{
	bool is_seconds = *text && text[strspn(text, "0123456789")] == '\0';
	const char *at = text + (!is_seconds && *text == '+');
	double ms = 0;

	while (*at) {
		size_t len = strspn(at, "0123456789.");
		char *end;
		double number = strtod(at, &end), unit;

		if (len == 0 || end != at + len)
			break;
		at += len;
		unit = is_seconds ? 1000 : unit_of(&at);
		if (unit == 0)
			break;
		ms += number * unit;
	}
	if (!*text || *at || (!is_seconds && text[strlen(text) - 1] <= '9'))
		return message_set(ret_error, -EINVAL,
				   "'%s' is not a time, such as 30s, 2m or 1m30s (0: no limit)", text);
	if (ms > SERVER_CHOICE_TIMEOUT_MAX_MS)
		ms = SERVER_CHOICE_TIMEOUT_MAX_MS;
	*(uint64_t *)ms_at = ms > 0 && ms < 1 ? 1 : (uint64_t)ms;
	return 0;
}
