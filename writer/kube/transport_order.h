/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transport order: method, headers and body of a request, as libcurl's options. Used by
 * transport_request.c alone.
 *
 * libcurl adds headers of its own where a request has a body (Content-Type, Expect) or says nothing of what
 * it takes (Accept). None of them stays but what the order says.
 */
#ifndef WRITER_KUBE_TRANSPORT_ORDER_H
#define WRITER_KUBE_TRANSPORT_ORDER_H

#include <curl/curl.h>

#include "writer/kube/transport.h"

/* Method and body. Returns 0; -EINVAL: no method's name; -ENOMEM */
int transport_order_set(CURL *easy, const struct transport_order *order);

/*
 * The headers, for transport_setup_identity(); give them to transport_setup_headers_free().
 *
 * Returns 0; -EINVAL: one is no header, or says what only the transport may say (Host, and how long the body
 * is); -ENOMEM
 */
int transport_order_headers(const struct transport_order *order, struct curl_slist **ret_headers);

#endif
