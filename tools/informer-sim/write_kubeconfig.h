/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kubeconfig that points to this server: for --write-kubeconfig.
 */
#ifndef TOOLS_INFORMER_SIM_WRITE_KUBECONFIG_H
#define TOOLS_INFORMER_SIM_WRITE_KUBECONFIG_H

/* What it tells; PEM texts are put inline. All but url may be NULL. */
struct sim_kubeconfig {
	const char *url;
	const char *token;
	const char *ca;			  /* the certificate that the server's is signed by */
	const char *client, *client_key; /* the user's */
};

/*
 * Write it (mode 0600, replacing what is there in one step).
 *
 * Returns 0 or negative errno
 */
int
sim_kubeconfig_write(const char *path, const struct sim_kubeconfig *config);

#endif
