/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfigs read in an environment that the test sets. */
#ifndef TESTS_SUPPORT_KUBECONFIG_FIXTURE_H
#define TESTS_SUPPORT_KUBECONFIG_FIXTURE_H

#include "writer/kube/kubeconfig.h"

/* cmocka set-up: *state is a temporary folder (temp_dir.h), the environment is empty. */
int kubeconfig_setup(void **state);

void set_env(const char *name, const char *value);

/* kubeconfig_load() must succeed; the caller owns the result. */
struct kube_client_config loaded(struct kubeconfig_choice choice);

#define CHOICE(...) ((struct kubeconfig_choice){__VA_ARGS__})

/*
 * Loading must succeed, and a copy of the result must have these fields: "server=https://a token= ca.data=*
 * ...". Nothing after "=": NULL; "*": any value but NULL. Switches are "true" or "false".
 */
void assert_loads(struct kubeconfig_choice choice, const char *expected);

/* Loading must fail with this code, and a message with this text and without the secret "hunter2". */
void assert_refused(struct kubeconfig_choice choice, int code, const char *message);
/* The same for a kubeconfig in this folder whose only user, in line 6, is this. */
void assert_user_refused(const char *dir, const char *user, int code, const char *message);

#endif
