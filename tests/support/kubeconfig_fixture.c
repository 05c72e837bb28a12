/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfigs read in an environment of the test's own; see kubeconfig_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/kubeconfig_fixture.h"

#include <stdio.h>
#include <string.h>

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
