/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one may choose about the way in which a Reflector makes a resource's state known.
 */
#ifndef WRITER_CONFIG_LIST_CHOICES_H
#define WRITER_CONFIG_LIST_CHOICES_H

#include <stdbool.h>

/* At which RV the first LIST or WatchList is. */
enum reflector_version {
	REFLECTOR_VERSION_DEFAULT,	/* LIST: any; WatchList: the latest; as client-go */
	/*
	 * "0": what the server has at hand, which may be old, even older than what was seen before a
	 * restart
	 */
	REFLECTOR_VERSION_ANY,
	REFLECTOR_VERSION_LATEST,	/* "": the most recent */
};

/* In which syntax it is asked for (reflect/wire.h). */
enum wire_choice {
	WIRE_NOT_SAID,
	WIRE_AUTO,	/* protobuf where it can be had, else JSON */
	WIRE_JSON,
	WIRE_PROTOBUF,	/* the same as auto, and a warning where it cannot be had */
};

struct list_choices {
	bool watch_list;		/* rather than LIST, where it comes in protobuf … */
	bool watch_list_in_json; /* … and where it does not, though it costs the server more than a LIST */
	/* of LISTs; 0: 500 at the RVs "" and "0", at others none, unless "0" came in pages */
	unsigned page_size;
	enum reflector_version version;
	enum wire_choice wire;
};

#endif
