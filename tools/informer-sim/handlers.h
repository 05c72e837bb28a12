/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers: each answers the requests that route.c gives it. The API's are in serve_list.c, serve_watch.c,
 * crud.c and update.c; the other pages in serve_discovery.c, openapi.c and control.c.
 */
#ifndef TOOLS_INFORMER_SIM_HANDLERS_H
#define TOOLS_INFORMER_SIM_HANDLERS_H

#include "tools/informer-sim/request.h"

enum MHD_Result
sim_handle_list(struct sim_request *request);
enum MHD_Result
sim_handle_watch(struct sim_request *request);
enum MHD_Result
sim_handle_get(struct sim_request *request);
enum MHD_Result
sim_handle_create(struct sim_request *request);
enum MHD_Result
sim_handle_update(struct sim_request *request);
enum MHD_Result
sim_handle_patch(struct sim_request *request);
enum MHD_Result
sim_handle_delete(struct sim_request *request);
enum MHD_Result
sim_handle_delete_collection(struct sim_request *request);
/* Whether it asks for discovery or version documents. */
bool
sim_is_discovery(const struct sim_request *request);
/* /api, /apis and below, /version; false: no such page */
bool
sim_handle_discovery(struct sim_request *request, enum MHD_Result *ret_result);
/* /openapi/...; false: no such page */
bool
sim_handle_openapi(struct sim_request *request, enum MHD_Result *ret_result);
/* /sim/..., /metrics, /healthz and its like; false: no such page */
bool
sim_handle_control(struct sim_request *request, enum MHD_Result *ret_result);

#endif
