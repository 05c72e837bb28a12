/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: what the LIST and the WATCH of one resource work with. All of it is borrowed.
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
	/* "apps/v1", "Deployment": what events must be, and items by their kind, where they say it; NULL: any
	 */
	const char *api_version, *kind;
	/* a custom resource's list may be of any kind; others are a PodList */
	bool custom;
	struct lister_watcher *lister_watcher;
	struct delta_fifo *fifo;
	struct arena *arena;
	struct intern *intern;
	struct decoder_schema *schema;
	struct wire *wire;		/* NULL: JSON */
	struct clock *clock;
	/* The server was heard; may be NULL. */
	void (*on_contact)(void *context);
	/*
	 * A request failed, which is tried again: code, reason and message as reflector_status has them. And:
	 * one succeeded. May be NULL.
	 */
	void (*on_failure)(void *context, int code, const char *reason, const char *message);
	void (*on_success)(void *context);
	void *context;
};

#endif
