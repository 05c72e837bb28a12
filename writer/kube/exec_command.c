/* SPDX-License-Identifier: Apache-2.0 */
/* What a credential plugin is started with; see exec_command.h. */
#include "writer/kube/exec_command.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/file.h"

/* True if a plugin does not inherit this variable. With systemd's it could speak to systemd in our name. */
static bool
is_ours_alone(const char *entry)
{
	static const char *const names[] = {
		"NOTIFY_SOCKET=", "LISTEN_FDS=",   "LISTEN_PID=",          "LISTEN_FDNAMES=",
		"WATCHDOG_USEC=", "WATCHDOG_PID=", "KUBERNETES_EXEC_INFO="};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool
is_replaced(const char *entry, const struct kube_pairs *env)
{
	for (size_t i = 0; i < env->n; i++) {
		size_t len = strlen(env->items[i].name);

		if (strncmp(entry, env->items[i].name, len) == 0 && entry[len] == '=')
			return true;
	}
	return false;
}

void
exec_command_free(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		file_wipe(strings[i], strlen(strings[i]));
	free(strings);
}

char **
exec_command_environment(const struct kube_pairs *env, const char *info)
{
	size_t n = 0, at = 0;
	char **strings;

	while (environ[n])
		n++;
	strings = calloc(n + env->n + 2, sizeof(*strings));
	if (!strings)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!is_ours_alone(environ[i]) && !is_replaced(environ[i], env) &&
		    !(strings[at++] = strdup(environ[i])))
			goto fail;
	for (size_t i = 0; i < env->n; i++)
		if (asprintf(&strings[at++], "%s=%s", env->items[i].name, env->items[i].value) < 0) {
			strings[at - 1] = NULL;
			goto fail;
		}
	if (asprintf(&strings[at], "KUBERNETES_EXEC_INFO=%s", info) >= 0)
		return strings;
	strings[at] = NULL;
fail:
	exec_command_free(strings);
	return NULL;
}

char **
exec_command_arguments(const struct kube_exec *exec)
{
	char **strings = calloc(exec->args.n + 2, sizeof(*strings));
	bool ok = strings && (strings[0] = strdup(exec->command));

	for (size_t i = 0; ok && i < exec->args.n; i++)
		ok = (strings[i + 1] = strdup(exec->args.items[i].value));
	if (ok)
		return strings;
	exec_command_free(strings);
	return NULL;
}

static bool
names_secret(const char *flag)
{
	static const char *const words[] = {"secret", "password", "token", "key", "credential"};

	for (size_t i = 0; *flag == '-' && i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(flag, words[i]))
			return true;
	return false;
}

int
exec_command_secrets(const struct kube_exec *exec, struct kube_pairs *ret)
{
	int r = 0;

	for (size_t i = 0; i < exec->env.n && r == 0; i++)
		r = kube_pairs_add(ret, NULL, exec->env.items[i].value);
	for (size_t i = 0; i < exec->args.n && r == 0; i++) {
		const char *value = exec->args.items[i].value, *equals = strchr(value, '=');

		if (!names_secret(value))
			continue;
		if (equals)
			r = kube_pairs_add(ret, NULL, equals + 1);
		else if (i + 1 < exec->args.n && exec->args.items[i + 1].value[0] != '-')
			r = kube_pairs_add(ret, NULL, exec->args.items[i + 1].value);
	}
	return r;
}
