/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server release: which release of Kubernetes the objects in the arena are printed as: informerd knows, and
 * /version says it on, so that an informerd behind this gateway knows what protobuf means here.
 *
 * Asked when somebody asks for /version and the last answer is not of this minute, in a thread of libuv's,
 * for informerd may be slow; all who wait share one question. While nobody can say, the last word counts.
 *
 * Threads  the loop's; `report` is called in another one
 */
#ifndef TOOLS_INFORMER_GATEWAY_SERVER_RELEASE_H
#define TOOLS_INFORMER_GATEWAY_SERVER_RELEASE_H

#include "tools/informer-gateway/exchange.h"

#define GW_RELEASE_KEEP_MS 60000u
#define GW_RELEASE_ASK_MS 1000

struct gw_server_release;

/*
 * report  informerd's report, a JSON document to be freed; NULL: it does not say. Called in another thread
 * ctx     for it, borrowed until the loop has come to rest
 */
struct gw_server_release *gw_server_release_new(uv_loop_t *loop, char *(*report)(void *ctx), void *ctx);
/* When no exchange is left; what is asked is waited for by the loop. NULL is fine. */
void gw_server_release_free(struct gw_server_release *release);

/* Answer /version, now or later. False: it is another page, and nothing was done. */
bool gw_server_release_page(struct gw_server_release *release, struct gw_exchange *x);

/* As `report`: by libinformer, of the informerd at the socket `path` (NULL: the usual one). */
char *gw_informerd_report(void *path);

#endif
