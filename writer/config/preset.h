/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Presets: named sets of resources, so that one flag configures informerd.
 *
 *	node-agent	pods, namespaces, nodes, services, endpointslices; replicasets and jobs as metadata
 */
#ifndef WRITER_CONFIG_PRESET_H
#define WRITER_CONFIG_PRESET_H

#include "writer/config/config.h"

/* A flag's or field's value, for a char * at `at`. 0, -ENOMEM, -EINVAL with message: no such preset. */
int preset_take(void *at, const char *value, char **ret_error);

/*
 * Add the resources of config->preset (NULL: none), except those that the configuration names itself, which
 * may select a part. As config_add_resource().
 */
int preset_apply(struct config *config, char **ret_error);

#endif
