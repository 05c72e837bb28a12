/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers by which we act as another user.
 *
 * Source: client-go transport/round_trippers.go
 */
#ifndef WRITER_KUBE_IMPERSONATE_H
#define WRITER_KUBE_IMPERSONATE_H

#include <curl/curl.h>

#include "writer/kube/client_config.h"

/* Append Impersonate-User, -Uid, -Group and -Extra-KEY. Returns 0 or -ENOMEM. */
int impersonate_headers(const struct kube_impersonation *as, struct curl_slist **headers);

#endif
