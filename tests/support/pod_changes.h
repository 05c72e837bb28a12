/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random changes of pods through an API server, and its history: each state that was made is a line
 * (tests/support/event_model.h). Nobody else may change these pods.
 *
 * Threads: one at a time; several of these, of different names, may share a history.
 */
#ifndef TESTS_SUPPORT_POD_CHANGES_H
#define TESTS_SUPPORT_POD_CHANGES_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>

#include "tests/support/event_model.h"

#define POD_CHANGES_NAMES 128

struct pod_changes {
	/* the caller's to set */
	const char *url;
	const char *token, *ca_file;	/* NULL: none */
	FILE *history;
	/* "pod-" first .. first + names - 1, at most POD_CHANGES_NAMES, in each namespace */
	unsigned first_name, names;
	struct event_model_random dice;

	CURL *curl;
	bool there[EVENT_MODEL_NAMESPACES][POD_CHANGES_NAMES];
	unsigned steps;
	char *answer;			/* the last one */
	size_t answer_length;
};

/* Once, when the fields above are set. */
void pod_changes_begin(struct pod_changes *c);
void pod_changes_done(struct pod_changes *c);

/* Pods named "anchor" that are always there, so that no selection is ever empty: one in each namespace. */
void pod_changes_anchors(struct pod_changes *c);

/*
 * One change, or two where a pod is deleted and made again at once. Returns how many. Exits when the server
 * says what is not expected.
 */
unsigned pod_changes_step(struct pod_changes *c);

/*
 * Ask the server with GET; exits when that fails. Returns the document, to be deleted.
 */
cJSON *pod_changes_get(struct pod_changes *c, const char *path);

/* Write a state into the history; type as there. */
void pod_changes_note(FILE *history, const char *type, const cJSON *pod);

/* A pod is there after all: another server, or a state of before, was found. False: it is none of ours. */
bool pod_changes_found(struct pod_changes *c, const cJSON *pod);

#endif
