/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options for how a Reflector lists a resource.
 */
#ifndef WRITER_CONFIG_LIST_CHOICES_H
#define WRITER_CONFIG_LIST_CHOICES_H

#include <stdbool.h>

/* The RV of the first LIST or WatchList. */
enum reflector_version {
	REFLECTOR_VERSION_DEFAULT, /* as client-go: LIST: any; WatchList: the latest */
	/*
	 * "0": what the server has in memory. It may be old, even older than what was seen before a restart.
	 */
	REFLECTOR_VERSION_ANY,
	REFLECTOR_VERSION_LATEST, /* "": the most recent */
};

/* The syntax of requests (reflect/wire.h). */
enum wire_choice {
	WIRE_NOT_SAID,
	WIRE_AUTO, /* protobuf if available, else JSON */
	WIRE_JSON,
	WIRE_PROTOBUF, /* as auto, with a warning if protobuf is not available */
};

struct list_choices {
	bool watch_list;         /* use WatchList where it comes in protobuf … */
	bool watch_list_in_json; /* … and where it comes in JSON, which costs the server more than a LIST */
	/* of LISTs; 0: 500 at the RVs "" and "0"; at others no pages, unless "0" came in pages */
	unsigned page_size;
	enum reflector_version version;
	enum wire_choice wire;
};

#endif
