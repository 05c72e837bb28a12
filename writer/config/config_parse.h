/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsers of single configuration values, used by the command line and the file.
 *
 * Each returns 0; -EINVAL with a message that begins with the bad value (the caller puts the place before
 * it); -ENOMEM.
 */
#ifndef WRITER_CONFIG_CONFIG_PARSE_H
#define WRITER_CONFIG_CONFIG_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "writer/config/config.h"

/*
 * NAME[?PARAMETER=VALUE[&PARAMETER=VALUE …]], percent-decoded: namespace=NS[,NS …], labelSelector,
 * fieldSelector, metadataOnly, watchList, onDemand and optional (true or false), pageSize, resourceVersion
 * (any or latest). *ret is zeroed first.
 */
int config_parse_resource(const char *text, struct config_resource *ret, char **ret_error);

/* NAME=RESOURCE:PATH[:split=SEP][:prefix=N], the last two in any order. *ret is zeroed first. */
int config_parse_index(const char *text, struct config_index *ret, char **ret_error);

/*
 * Take the wait after a failure, the time after which waits begin anew, and the least time of a watch. The
 * bounds are in config.h.
 */
flag_take config_take_backoff, config_take_backoff_reset, config_take_watch_timeout;
/* Take the interval at which the cache is compared with the server. */
flag_take config_take_check_every;

/*
 * Check a path with the compiler of shm-layout/path.h: metadata.annotations["a.b/c"],
 * spec.containers[*].image. The message has the path, and the character at which the compiler stopped.
 */
int config_check_path(const char *path, char **ret_error);

/* Check a namespace. It is a DNS label: at most 63 lower-case letters, digits and '-'. */
int config_check_namespace(const char *text, char **ret_error);

/* Check several namespaces, separated by commas. They may contain ${VARIABLES} that are not known yet. */
int config_check_namespaces(const char *text, char **ret_error);

/* Take "any" or "latest"; "auto", "json" or "protobuf"; "auto", "gzip" or "none". */
flag_take config_take_version, config_take_wire, config_take_compression;

/* Take an address to listen at, as a char *. */
flag_take config_take_address;

/* Check an index's name: a letter, then letters, digits, '-' and '_'; at most 63 characters. */
int config_check_index_name(const char *text, char **ret_error);

#endif
