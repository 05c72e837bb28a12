/*
 * A kubeconfig that points to this server: for --write-kubeconfig.
 */
#ifndef SIM_KUBECONFIG_H
#define SIM_KUBECONFIG_H

/*
 * Write it (mode 0600, replacing what is there in one step).
 *
 * token  or NULL
 * ca     PEM text of the server's certificate, put inline; or NULL
 * Returns 0 or negative errno
 */
int
sim_kubeconfig_write(const char *path, const char *url, const char *token, const char *ca);

#endif
