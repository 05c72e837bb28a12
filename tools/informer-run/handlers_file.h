/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers file: the YAML file that says which handlers to run.
 *
 *	socket: /run/informer/informer.sock      # all but handlers is optional
 *	drainTimeout: 30s
 *	handlers:
 *	- name: net                              # default: the consumer
 *	  resource: pods
 *	  namespace: shop                        # default: all
 *	  selector: app=web
 *	  fieldSelector: spec.nodeName=n1
 *	  consumer: net-policy
 *	  workers: 2
 *	  window: 16
 *	  queue: 4096
 *	  deadline: 30s
 *	  maxCrashes: 3
 *	  deadLetters: /var/lib/net/dead.jsonl
 *	  execPerEvent: false
 *	  command: [./handler, --verbose]        # or a string: given to sh -c
 */
#ifndef TOOLS_INFORMER_RUN_HANDLERS_FILE_H
#define TOOLS_INFORMER_RUN_HANDLERS_FILE_H

#include <stdio.h>

#include "tools/informer-run/settings.h"

/*
 * Read the file into settings, which have no handlers yet. Values from the command line (the socket) are
 * kept.
 *
 * Returns -1, or EXIT_USAGE after a message that begins FILE:LINE:COLUMN
 */
int
settings_load(const char *path, struct settings *settings);

#endif
