/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source holds what LIST and WATCH of one resource use. All of it is borrowed.
 */
#ifndef WRITER_REFLECT_SOURCE_H
#define WRITER_REFLECT_SOURCE_H

#include <stdbool.h>

#include "writer/base/clock.h"
#include "writer/decode/decoder.h"
#include "writer/fifo/delta_fifo.h"
#include "writer/reflect/lister_watcher.h"
#include "writer/reflect/wire.h"

struct source {
	const char *name;		/* "pods", "deployments.apps in team-a": for messages */
	/* "apps/v1", "Deployment": events must have them, and so must items that name a kind; NULL: any */
	const char *api_version, *kind;
	/* a custom resource: its list may have any kind; other lists are a PodList and so on */
	bool custom;
	struct lister_watcher *lister_watcher;
	struct delta_fifo *fifo;
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct wire *wire;		/* NULL: JSON */
	struct clock *clock;
	/* The server sent something; may be NULL. */
	void (*on_contact)(void *context);
	/*
	 * A request failed and is tried again: code, reason and message as in reflector_status. And: a
	 * request succeeded. May be NULL.
	 */
	void (*on_failure)(void *context, int code, const char *reason, const char *message);
	void (*on_success)(void *context);
	void *context;
};

#endif
