/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out where the API server is and as which user we connect: from the command line, kubeconfig files, or
 * a pod's service account.
 *
 * Source: client-go tools/clientcmd: which files, how they are merged, which flag replaces what
 */
#ifndef WRITER_KUBE_KUBECONFIG_H
#define WRITER_KUBE_KUBECONFIG_H

#include "writer/kube/client_config.h"

/* Values of the command line and a configuration file. Every field may be zero. Borrowed for the call. */
struct kubeconfig_choice {
	const char *kubeconfig;	/* --kubeconfig: this file alone */
	const char *context, *cluster, *user; /* replace current-context, and its cluster and user */
	const char *server;                   /* replaces the cluster's; suffices alone */
	const char *certificate_authority;
	bool insecure_skip_tls_verify; /* this or certificate_authority replaces both of the cluster's */
	const char *tls_server_name;
	const char *client_certificate, *client_key;
	const char *token;               /* replaces the user's token, password or plugin */
	const char *username, *password; /* replace the user's password or plugin */
	bool disable_compression;
	enum kube_compression compression;
	const char *as, *as_uid;
	char **as_groups;
	size_t n_as_groups;
	uint64_t request_timeout_ms; /* 0: none */
	const char *root;            /* NULL; tests name a folder that stands for / of the in-cluster files */
	const char *(*getenv)(const char *name); /* NULL: the process's own environment */
};

/*
 * Find and read the configuration: the named file; else the existing files of $KUBECONFIG, merged
 * (kubeconfig_set.h); else ~/.kube/config. If these say nothing: a pod's service account
 * (KUBERNETES_SERVICE_HOST), or --server alone.
 *
 * ret_config  set on success only; free with kube_client_config_done()
 * Returns     0, or
 *             -ENOENT   nothing found, or the named file is missing (the message says what to do)
 *             -EINVAL   not valid, with file:line:column if possible
 *             -ENOTSUP  auth-provider, or a plugin that needs a person at a terminal
 *             other negative errno from reading files; -ENOMEM
 */
int kubeconfig_load(const struct kubeconfig_choice *choice, struct kube_client_config *ret_config,
		    char **ret_error);

#endif
