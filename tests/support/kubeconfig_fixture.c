/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kubeconfigs in an environment that the test sets. */
#include "tests/support/kubeconfig_fixture.h"

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

static char environment[8][2][4096];
static size_t n_environment;

static const char *
fake_getenv(const char *name)
{
	for (size_t i = 0; i < n_environment; i++)
		if (strcmp(environment[i][0], name) == 0)
			return environment[i][1];
	return NULL;
}

void
set_env(const char *name, const char *value)
{
	snprintf(environment[n_environment][0], sizeof(environment[0][0]), "%s", name);
	snprintf(environment[n_environment++][1], sizeof(environment[0][0]), "%s", value);
}

int
kubeconfig_setup(void **state)
{
	n_environment = 0;
	return temp_dir_setup(state);
}

struct kube_client_config
loaded(struct kubeconfig_choice choice)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config = {0};
	int r;

	choice.getenv = fake_getenv;
	r = kubeconfig_load(&choice, &config, &error);
	if (r < 0)
		fail_msg("%s", error ? error : "no message");
	return config;
}

#define TEXT(field)                                                                                          \
	{                                                                                                    \
#field, offsetof(struct kube_client_config, field), false                                    \
	}
#define SWITCH(field)                                                                                        \
	{                                                                                                    \
#field, offsetof(struct kube_client_config, field), true                                     \
	}
static const struct {
	const char *name;
	size_t offset;
	bool is_switch;
} fields[] = {
	TEXT(server),
	TEXT(origin),
	TEXT(context),
	TEXT(namespace_),
	TEXT(tls_server_name),
	TEXT(proxy_url),
	SWITCH(insecure_skip_tls_verify),
	SWITCH(disable_compression),
	TEXT(ca.data),
	TEXT(ca.file),
	TEXT(client_cert.data),
	TEXT(client_cert.file),
	TEXT(client_key.file),
	TEXT(token),
	TEXT(token_file),
	TEXT(username),
	TEXT(password),
	TEXT(exec.command),
	TEXT(as.user),
	TEXT(as.uid),
};

static const char *
value_of(const struct kube_client_config *config, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const void *at = (const char *)config + fields[i].offset;

		if (strncmp(fields[i].name, name, length) != 0 || fields[i].name[length])
			continue;
		if (fields[i].is_switch)
			return *(const bool *)at ? "true" : "false";
		return *(char *const *)at ? *(char *const *)at : "";
	}
	fail_msg("no field %.*s", (int)length, name);
	return NULL;
}

void
assert_loads(struct kubeconfig_choice choice, const char *expected)
{
	struct kube_client_config config = loaded(choice), copy;

	assert_int_equal(kube_client_config_copy(&config, &copy), 0);
	kube_client_config_done(&config);
	for (size_t length; *expected; expected += length + strspn(expected + length, " ")) {
		size_t name = strcspn(expected, "=");
		const char *value = value_of(&copy, expected, name), *want = expected + name + 1;

		length = strcspn(expected, " ");
		if (*want == '*'
			    ? !*value
			    : strlen(value) != length - name - 1 || strncmp(value, want, strlen(value)) != 0)
			fail_msg("%.*s is '%s'", (int)length, expected, value);
	}
	kube_client_config_done(&copy);
}

void
assert_refused(struct kubeconfig_choice choice, int code, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config;

	choice.getenv = fake_getenv;
	assert_int_equal(kubeconfig_load(&choice, &config, &error), code);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
	if (strstr(error, "hunter2"))
		fail_msg("a secret is in '%s'", error);
}

void
assert_user_refused(const char *dir, const char *user, int code, const char *message)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n"
		 "clusters: [{name: c, cluster: {server: 'https://x'}}]\nusers:\n- name: u\n  user: %s\n",
		 user);
	assert_refused(CHOICE(.kubeconfig = temp_file(dir, "k", text)), code, message);
}
