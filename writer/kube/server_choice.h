/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server choice: what the command line and the configuration file say about how to reach the API server
 * and as which user, in kubectl's words. It is a kubeconfig_choice that owns its strings.
 */
#ifndef WRITER_KUBE_SERVER_CHOICE_H
#define WRITER_KUBE_SERVER_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/base/yaml_field.h"
#include "writer/kube/kubeconfig.h"

#define SERVER_CHOICE_TIMEOUT_MAX_MS INT32_MAX /* libcurl takes no longer one */

/* Free what it owns, not the struct itself. A zeroed one is fine. */
void server_choice_done(struct kubeconfig_choice *choice);

/* Append a group to `as_groups`. at: the choice. */
flag_take server_choice_take_group;

void server_choice_drop_groups(struct kubeconfig_choice *choice);

/*
 * Take a time as kubectl does: "30" (seconds), "1m30s", "1.5h", "500ms"; 0: none. More than
 * SERVER_CHOICE_TIMEOUT_MAX_MS (24 days) becomes that. A negative time is refused. at: a uint64_t of
 * milliseconds.
 */
flag_take server_choice_take_timeout;

/* Rows for a configuration file's table of fields, for a choice in this member of `type`. */
#define SERVER_CHOICE_FIELDS(type, member)                                                                   \
	{"kubeconfig", YAML_PATH, YAML_AT(type, member.kubeconfig)},                                         \
	{"context", YAML_STRING, YAML_AT(type, member.context)},                                             \
	{"cluster", YAML_STRING, YAML_AT(type, member.cluster)},                                             \
	{"user", YAML_STRING, YAML_AT(type, member.user)},                                                   \
	{"server", YAML_STRING, YAML_AT(type, member.server)},                                               \
	{"certificateAuthority", YAML_PATH, YAML_AT(type, member.certificate_authority)},                    \
	{"insecureSkipTlsVerify", YAML_BOOL, YAML_AT(type, member.insecure_skip_tls_verify)},                \
	{"tlsServerName", YAML_STRING, YAML_AT(type, member.tls_server_name)},                               \
	{"clientCertificate", YAML_PATH, YAML_AT(type, member.client_certificate)},                          \
	{"clientKey", YAML_PATH, YAML_AT(type, member.client_key)},                                          \
	{"as", YAML_STRING, YAML_AT(type, member.as)},                                                       \
	{"asUid", YAML_STRING, YAML_AT(type, member.as_uid)},                                                \
	{"asGroups", YAML_LIST(server_choice_group, "a list of groups"), YAML_AT(type, member)},             \
	{"requestTimeout", YAML_TEXT(server_choice_take_timeout, "a time as a string, such as 30s or 2m"),   \
	 YAML_AT(type, member.request_timeout_ms)}
extern const struct yaml_field server_choice_group;

#endif
