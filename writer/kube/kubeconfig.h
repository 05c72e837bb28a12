/*
 * kubeconfig: where the API server is and who we are there, from a kubeconfig file or
 * from the service account of a pod.
 *
 * The result is a struct kube_client_config, the only thing transport.h needs. It holds
 * secrets (key, token, password): they are never put into a message or the log, and are
 * wiped when freed.
 *
 * Source    client-go tools/clientcmd: field names, relative paths resolved against the
 *           file's folder, data before file, in-cluster paths
 */
#ifndef INFORMER_WRITER_KUBE_KUBECONFIG_H
#define INFORMER_WRITER_KUBE_KUBECONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* PEM text that stands in the kubeconfig itself, or the file that holds it; both NULL: none. */
struct kube_pem {
	char *data; /* decoded, NUL-terminated; wins over file */
	size_t len;
	char *file; /* absolute, or relative to the working directory when the kubeconfig was */
};

struct kube_client_config {
	char *server;		/* "https://host:6443" or "http://127.0.0.1:8080/prefix"; no slash at its end */
	char *origin;		/* for messages: the kubeconfig's path, "--server", or "in-cluster" */
	char *context;		/* the context's name, or NULL */
	char *namespace_;	/* the context's namespace, or NULL */
	char *tls_server_name;	/* name to verify instead of the server's host, or NULL */
	char *proxy_url;	/* or NULL: environment decides */
	bool insecure_skip_tls_verify;
	struct kube_pem ca, client_cert, client_key;
	char *token;		/* or NULL */
	char *token_file;	/* or NULL; wins over token, re-read by token.h */
	char *username, *password; /* both or neither */
};

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

/* Free and wipe what `config` owns, not itself; a zeroed one is fine. */
void kube_client_config_done(struct kube_client_config *config);

/* A deep copy into *ret, for kube_client_config_done(). Returns 0 or -ENOMEM. */
int kube_client_config_copy(const struct kube_client_config *config, struct kube_client_config *ret);

/*
 * The bytes of the CA bundle, for the fingerprint of where a cache came from. *ret_pem is
 * NULL and 0 long when the system's bundle is used.
 *
 * Returns   0, or a negative errno with message
 */
int kube_client_config_read_ca(const struct kube_client_config *config, char **ret_pem, size_t *ret_len,
			       char **ret_error);

#endif
