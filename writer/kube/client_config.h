/*
 * Client configuration: where the API server is and who we are there; what kubeconfig.h
 * finds out, and the only thing transport.h needs.
 *
 * It holds secrets (key, token, password): they are never put into a message or the log, and
 * are wiped when freed.
 */
#ifndef INFORMER_WRITER_KUBE_CLIENT_CONFIG_H
#define INFORMER_WRITER_KUBE_CLIENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#define KUBE_PEM_MAX_BYTES (4u << 20)

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
