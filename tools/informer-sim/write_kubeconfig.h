/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a kubeconfig for this server (--write-kubeconfig). */
#ifndef TOOLS_INFORMER_SIM_WRITE_KUBECONFIG_H
#define TOOLS_INFORMER_SIM_WRITE_KUBECONFIG_H

/* Contents of the kubeconfig; PEM texts are inlined. All except url may be NULL. */
struct sim_kubeconfig {
	const char *url;
	const char *token;
	const char *ca;                  /* the CA of the server's certificate */
	const char *client, *client_key; /* the user's certificate and key */
};

/*
 * Write the file (mode 0600), replacing an existing one atomically.
 *
 * Returns 0 or negative errno
 */
int
sim_kubeconfig_write(const char *path, const struct sim_kubeconfig *config);

#endif
