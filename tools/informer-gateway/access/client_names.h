/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client names: finds which of a listener's names a client certificate carries. The handshake has proved that
 * a CA of the listener signed the certificate; that CA may sign other clients' certificates too.
 *
 * Names are compared whole and case-sensitively, without wildcards:
 *
 *	relay-1                   the subject's common name, or a DNS name
 *	dns:…  uri:…  ip:…  email:…  a subject alternative name of this kind
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_CLIENT_NAMES_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_CLIENT_NAMES_H

#include "tools/informer-gateway/config/text_list.h"
#include "tools/informer-gateway/http/peer.h"

/*
 * Returns the first name of the list that the certificate carries, borrowed from the list. NULL: it carries
 * none, or the certificate has expired since the handshake.
 *
 * now_s  seconds since 1970
 */
const char *gw_client_name(const struct gw_certificate *certificate, const struct gw_texts *list,
			   int64_t now_s);

#endif
