/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client configuration: where the API server is, and as which user we connect. kubeconfig.h makes it;
 * transport.h needs nothing else.
 *
 * It holds secrets (key, token, password, a plugin's environment). They are never put into a message or the
 * log, and are wiped when freed.
 */
#ifndef WRITER_KUBE_CLIENT_CONFIG_H
#define WRITER_KUBE_CLIENT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUBE_PEM_MAX_BYTES (4u << 20)
/* Follows "no API server is known" and the like in messages. */
#define KUBECONFIG_HOW_TO_FIND                                                                               \
	"name one with --kubeconfig or KUBECONFIG, or the server with --server "                             \
	"(in a pod the service account is found by itself)"

/* PEM text from the kubeconfig itself, or the file that holds it; both NULL: none. */
struct kube_pem {
	char *data; /* decoded, NUL-terminated; wins over file */
	size_t len;
	char *file; /* absolute, or relative to the working directory when the kubeconfig was */
};

/* A name and its value. A name may occur several times. */
struct kube_pair {
	char *name, *value;
};

struct kube_pairs {
	struct kube_pair *items;
	size_t n;
};

/* The user to impersonate, if our own user may do that. */
struct kube_impersonation {
	char *user;               /* NULL: no impersonation, and the rest is empty */
	char *uid;		  /* or NULL */
	struct kube_pairs groups; /* value: the group */
	struct kube_pairs extra;
};

/* A credential plugin; see exec_plugin.h. */
struct kube_exec {
	char *command;          /* NULL: none. With a '/' it is a path, otherwise it is searched in $PATH */
	char *api_version;	/* "client.authentication.k8s.io/v1" or ".../v1beta1" */
	struct kube_pairs args; /* value: the argument */
	struct kube_pairs env;	/* besides our own environment */
	bool provide_cluster_info;
	char *cluster_config;	/* JSON: the cluster's extension for plugins, or NULL */
	char *install_hint;	/* or NULL */
};

/*
 * Which answers are requested in gzip. For protobuf on a fast network, packing and unpacking cost more than
 * they save.
 */
enum kube_compression {
	KUBE_COMPRESSION_AUTO, /* finite answers in JSON, from a server on another machine */
	KUBE_COMPRESSION_GZIP, /* all finite answers: for slow links */
	KUBE_COMPRESSION_NONE,
};

struct kube_client_config {
	/* "https://host:6443" or "http://127.0.0.1:8080/prefix"; no slash at its end */
	char *server;
	char *origin;		/* for messages: the kubeconfig's path, "--server", or "in-cluster" */
	char *context;		/* the context's name, or NULL */
	char *namespace_;	/* the context's namespace, or NULL */
	char *tls_server_name;	/* name to verify instead of the server's host, or NULL */
	char *proxy_url;        /* or NULL: the environment decides (proxy.h) */
	bool insecure_skip_tls_verify;
	bool http1_only; /* one connection per request under way */
	bool disable_compression;
	enum kube_compression compression;
	uint64_t request_timeout_ms; /* for a finite answer; 0: no limit */
	struct kube_pem ca, client_cert, client_key;
	char *token;		/* or NULL */
	char *token_file;       /* or NULL; wins over token, re-read by credentials.h */
	char *username, *password; /* both or neither */
	struct kube_exec exec;     /* used only if nothing above identifies us */
	struct kube_impersonation as;
};

/* Append copies; `name` may be NULL. Returns 0 or -ENOMEM. */
int kube_pairs_add(struct kube_pairs *pairs, const char *name, const char *value);

/* Free and wipe. A zeroed one is fine. */
void kube_pairs_done(struct kube_pairs *pairs);
void kube_pem_done(struct kube_pem *pem);
void kube_exec_done(struct kube_exec *exec);

/* Whether data or file is set. */
bool kube_pem_given(const struct kube_pem *pem);

/* Free and wipe what `config` owns, not the struct itself. A zeroed one is fine. */
void kube_client_config_done(struct kube_client_config *config);

/* Make a deep copy in *ret; free with kube_client_config_done(). Returns 0 or -ENOMEM. */
int kube_client_config_copy(const struct kube_client_config *config, struct kube_client_config *ret);

/*
 * Copy the route without the identity into *ret: the server's URL (without a user in it), its CA and name,
 * the proxy. Fields that are added later are not copied unless listed here.
 *
 * Returns 0, -EINVAL (no URL), -ENOMEM
 */
int kube_client_config_copy_route(const struct kube_client_config *config, struct kube_client_config *ret);

/* Whether text is ASCII without blanks and control characters, as tokens and paths are. */
bool kube_is_printable(const char *text);

/*
 * Put the PEM text into *ret, from its file if it has one; both NULL: none.
 *
 * ret      free with kube_pem_done(); empty on failure
 * Returns  0, or a negative errno with message
 */
int kube_pem_read(const struct kube_pem *pem, struct kube_pem *ret, char **ret_error);

#endif
