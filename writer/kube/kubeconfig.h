/*
 * kubeconfig: where the API server is and who we are there, from a kubeconfig file or
 * from the service account of a pod.
 *
 * Source    client-go tools/clientcmd: field names, relative paths resolved against the
 *           file's folder, data before file, in-cluster paths
 */
#ifndef INFORMER_WRITER_KUBE_KUBECONFIG_H
#define INFORMER_WRITER_KUBE_KUBECONFIG_H

#include "writer/kube/client_config.h"

#define KUBECONFIG_HOW_TO_FIND                                                                                         \
	"name one with --kubeconfig or KUBECONFIG, or the server with --server "                                      \
	"(in a pod the service account is found by itself)"

/* What the command line and the environment say; every field may be NULL. */
struct kubeconfig_choice {
	const char *kubeconfig;	/* --kubeconfig */
	const char *context;	/* --context */
	const char *server;	/* --server: replaces the cluster's server; alone it is enough */
	const char *root;	/* "" normally; a folder that stands for / of the in-cluster files in tests */
	const char *(*getenv)(const char *name); /* NULL: the process's own environment */
};

/*
 * Find and read the configuration: the named file; else the first file of $KUBECONFIG that
 * exists; else ~/.kube/config; else the service account of a pod (KUBERNETES_SERVICE_HOST).
 * --server alone, with none of these, means that server without credentials.
 *
 * ret_config  set on success only; give it to kube_client_config_done()
 * Returns     0, or
 *             -ENOENT   nothing found, or the named file is missing (the message says what to do)
 *             -EINVAL   not valid, with file:line:column where one can be named
 *             -ENOTSUP  exec or auth-provider plugins, which informerd does not run
 *             other negative errno from reading files; -ENOMEM
 */
int kubeconfig_load(const struct kubeconfig_choice *choice, struct kube_client_config *ret_config, char **ret_error);

#endif
