/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client names: which of a listener's names a client's certificate has. That a CA of the listener's signed it
 * was proved by the handshake; that CA may have signed others', too.
 *
 * A name of the list is compared whole, letter by letter, without wildcards:
 *
 *	relay-1                   the subject's common name, or a DNS name
 *	dns:…  uri:…  ip:…  email:…  a subject alternative name of this kind
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_CLIENT_NAMES_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_CLIENT_NAMES_H

#include "tools/informer-gateway/config/text_list.h"
#include "tools/informer-gateway/http/peer.h"

/*
 * The first name of the list that the certificate has, borrowed from the list; NULL: it has none of them. One
 * that has run out meanwhile, on a connection that goes on, has none at all.
 *
 * now_s  seconds since 1970
 */
const char *gw_client_name(const struct gw_certificate *certificate, const struct gw_texts *list,
			   int64_t now_s);

#endif
