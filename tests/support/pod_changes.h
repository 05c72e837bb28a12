/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random changes of pods through an API server, and its history: one line for each state made
 * (tests/support/event_model.h). Nothing else may change these pods.
 *
 * Threads: one at a time; several, with different names, may share a history.
 */
#ifndef TESTS_SUPPORT_POD_CHANGES_H
#define TESTS_SUPPORT_POD_CHANGES_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/event_model.h"

#define POD_CHANGES_NAMES 128

struct pod_changes {
	/* set by the caller */
	const char *url;
	const char *token, *ca_file;	/* NULL: none */
	FILE *history;
	/* "pod-" first .. first + names - 1, at most POD_CHANGES_NAMES, in each namespace */
	unsigned first_name, names;
	struct event_model_random dice;

	CURL *curl;
	bool there[EVENT_MODEL_NAMESPACES][POD_CHANGES_NAMES];
	unsigned steps;
	char *answer;			/* the last answer */
	size_t answer_length;
};

/* Call once, when the fields above are set. */
void pod_changes_begin(struct pod_changes *c);
void pod_changes_done(struct pod_changes *c);

/* Make the pod "anchor" in each namespace, which always exists, so that no selection is ever empty. */
void pod_changes_anchors(struct pod_changes *c);

/*
 * Make one change, or two: delete a pod and make it again at once. Returns their number. Exits when the
 * server's answer is unexpected.
 */
unsigned pod_changes_step(struct pod_changes *c);

/* Send a GET; exits when it fails. Returns the document, to be deleted. */
cJSON *pod_changes_get(struct pod_changes *c, const char *path);

/* Record a state in the history, with this type. */
void pod_changes_note(FILE *history, const char *type, const cJSON *pod);

/* Note that this pod exists, found on another server or in an earlier state. False: a foreign pod. */
bool pod_changes_found(struct pod_changes *c, const cJSON *pod);

#endif
