/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates for --tls, generated at each run: a CA, a server and a client certificate. Keys are ECDSA on
 * P-256; validity is one year, from an hour ago.
 */
#ifndef TOOLS_INFORMER_SIM_CERTS_H
#define TOOLS_INFORMER_SIM_CERTS_H

/* PEM texts; free with sim_certs_done(). */
struct sim_certs {
	char *ca, *ca_key;
	char *cert, *key;
	char *client, *client_key;
};

/*
 * Generate the certificates.
 *
 * address  the IP for the server's certificate, besides localhost and its addresses
 * dir      NULL; or a folder, created if missing, for ca.crt, ca.key, server.crt, server.key, client.crt and
 *          client.key. An existing CA is kept, so that clients of an earlier run accept this one.
 *
 * Returns  0, or negative errno with a sentence in *ret_error (free it)
 */
int
sim_certs_make(const char *address, const char *dir, struct sim_certs *ret_certs, char **ret_error);
/* Cleanup function. */
void
sim_certs_done(struct sim_certs *certs);

#endif
