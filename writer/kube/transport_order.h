/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns an order's method, headers and body into libcurl's options. Only transport_request.c uses it.
 *
 * libcurl adds headers of its own to a request that has a body (Content-Type, Expect) or does not say what it
 * accepts (Accept). They are removed, unless the order has them.
 */
#ifndef WRITER_KUBE_TRANSPORT_ORDER_H
#define WRITER_KUBE_TRANSPORT_ORDER_H

#include <curl/curl.h>

#include "writer/kube/transport.h"

/* Set method and body. Returns 0; -EINVAL: not a method's name; -ENOMEM */
int transport_order_set(CURL *easy, const struct transport_order *order);

/*
 * The headers, for transport_setup_identity(). Free with transport_setup_headers_free().
 *
 * Returns 0; -EINVAL: one is no header, or is a header that only the transport sets (Host, the body's
 * length); -ENOMEM
 */
int transport_order_headers(const struct transport_order *order, struct curl_slist **ret_headers);

#endif
