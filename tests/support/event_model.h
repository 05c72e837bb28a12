/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of tests/long/events_model.sh and chaos.sh. Some programs change the server (events_change,
 * chaos_change), some are told of the changes (events_reader, chaos_reader), and some compare the two
 * (events_check, chaos_check). The files have lines; a line of the server's history is
 *
 *	RV TYPE KEY UID HASH LABELS FIELDS	TYPE: A added, M modified, D deleted; then the selectors that
 *						match, as bits (of chaos.sh also E, L: chaos_change.c)
 *
 * and the lines of a handler are
 *
 *	H PID NS LABEL FIELD TRACK NAMED STEADY	a process begins; selectors by number; STEADY: never delayed
 *	A INITIAL KEY UID RV HASH SEQ		add
 *	U KEY UID RV HASH OLDRV OLDHASH SEQ	update; OLDRV - : not known, = : a resync
 *	D KNOWN KEY UID RV HASH SEQ		delete; RV - : only the key is known; KNOWN 2: of a
 *						chaos_reader, not there
 *	C R B E S X				COALESCED, RESYNC, its begin and end, synced, done
 *	I TYPE KEY				TYPE (A, U, D) was told, and expired in that call; KEY ?: not
 *						even the key was read
 *	T LINEAGE SEQ RV SYNCED			of a chaos_reader: what was told so far is a snapshot
 */
#ifndef TESTS_SUPPORT_EVENT_MODEL_H
#define TESTS_SUPPORT_EVENT_MODEL_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#define EVENT_MODEL_NAMESPACES 4
#define EVENT_MODEL_LABELS 4
#define EVENT_MODEL_FIELDS 4

/* "ns0", "ns1", ... */
extern const char *const event_model_namespaces[EVENT_MODEL_NAMESPACES];
/* Selectors; number 0 is none. Each one matches the pods named anchor, which always exist. */
extern const char *const event_model_labels[EVENT_MODEL_LABELS];
extern const char *const event_model_fields[EVENT_MODEL_FIELDS];

/* The bits of the matching selectors, found without the library. */
unsigned event_model_label_bits(const cJSON *pod);
unsigned event_model_field_bits(const cJSON *pod);

/* A hash of all content but metadata.managedFields, kind and apiVersion, in any order of fields. */
uint64_t event_model_hash(const cJSON *object);

/* A parsed line of the history. */
struct event_model_state {
	uint64_t rv, hash;
	char type;
	char key[128], uid[64];
	unsigned labels, fields;
};
/* False: the line is no history line. */
bool event_model_read(const char *line, struct event_model_state *ret);

/* Returns "" when the field is absent. */
const char *event_model_text(const cJSON *object, const char *outer, const char *field);

struct event_model_random {
	uint64_t state;
};
/* 0 .. below-1 */
unsigned event_model_draw(struct event_model_random *random, unsigned below);

#endif
