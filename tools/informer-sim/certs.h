/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates for --tls, made anew for each run: an authority, the server's, and one for a client. Keys are
 * ECDSA on P-256; everything is valid from an hour ago for a year.
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
 * Make them.
 *
 * address  the IP that the server's certificate names, beside localhost and its addresses
 * dir      NULL; or a folder, made if need be, that gets ca.crt, ca.key, server.crt, server.key, client.crt
 *          and client.key. An authority that is there is kept, so that clients of an earlier run know this
 *          one.
 *
 * Returns  0, or negative errno with a sentence in *ret_error (free it)
 */
int
sim_certs_make(const char *address, const char *dir, struct sim_certs *ret_certs, char **ret_error);
/* Cleanup function. */
void
sim_certs_done(struct sim_certs *certs);

#endif
