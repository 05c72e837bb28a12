/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig: where the API server is and who we are there, from the command line, kubeconfig
 * files, or the service account of a pod.
 *
 * Source    client-go tools/clientcmd: which files, how they are merged, which flag replaces what
 */
#ifndef WRITER_KUBE_KUBECONFIG_H
#define WRITER_KUBE_KUBECONFIG_H

#include "writer/kube/client_config.h"

/* What the command line and a configuration file say; every field may be zero. Borrowed for the call. */
struct kubeconfig_choice {
	const char *kubeconfig;	/* --kubeconfig: this file alone */
	const char *context, *cluster, *user; /* instead of current-context, and of what the context says */
	const char *server;	/* instead of the cluster's; alone it is enough */
	const char *certificate_authority;
	bool insecure_skip_tls_verify; /* this or the one above replaces both of the cluster's */
	const char *tls_server_name;
	const char *client_certificate, *client_key;
	const char *token;	/* instead of the user's token, password or plugin */
	const char *username, *password; /* instead of the user's password or plugin */
	bool disable_compression;
	enum kube_compression compression;
	const char *as, *as_uid;
	char **as_groups;
	size_t n_as_groups;
	uint64_t request_timeout_ms; /* 0: none */
	const char *root;            /* NULL; a folder that stands for / of the in-cluster files in tests */
	const char *(*getenv)(const char *name); /* NULL: the process's own environment */
};

/*
 * Find and read the configuration: the named file; else the files of $KUBECONFIG, merged
 * (kubeconfig_set.h), those that do not exist left out; else ~/.kube/config. When these say nothing:
 * the service account of a pod (KUBERNETES_SERVICE_HOST), or --server alone.
 *
 * ret_config  set on success only; give it to kube_client_config_done()
 * Returns     0, or
 *             -ENOENT   nothing found, or the named file is missing (the message says what to do)
 *             -EINVAL   not valid, with file:line:column where one can be named
 *             -ENOTSUP  auth-provider, or a plugin that needs a person at a terminal
 *             other negative errno from reading files; -ENOMEM
 */
int kubeconfig_load(const struct kubeconfig_choice *choice, struct kube_client_config *ret_config,
		    char **ret_error);

#endif
