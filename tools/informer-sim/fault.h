/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: wire faults, described by a script.
 *
 *   when LIST pods page 2 then 410 once
 *   when WATCH pods after 3 events then close mid-frame
 *   when LIST rv none nth 2 then 429 retry-after 2 times 3
 *   when WATCH pods idle then say {"type":"RENAMED","object":{}}
 *   random seed=7 rate=1% WATCH pods close 410 500
 *
 * Rules are checked in order; the first match acts. A rule without `after` is checked when a request arrives.
 * A rule with `after` or `idle` is checked during the answer; for a watch before each line and while it
 * waits. informer-sim(1) describes the script. fault_parse.c parses it, fault.c checks rules, fault_act.c and
 * watch_fault.c carry out the faults.
 *
 * Threads   any
 */
#ifndef TOOLS_INFORMER_SIM_FAULT_H
#define TOOLS_INFORMER_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/serving/buf.h"
#include "tools/serving/served_resource.h"

enum sim_fault_kind {
	SIM_FAULT_NONE,
	SIM_FAULT_REFUSE,    /* close this connection, and refuse new ones for `ms` */
	SIM_FAULT_CLOSE,     /* close the connection, before an answer or after a whole line */
	SIM_FAULT_MID_FRAME, /* the same, in the middle of a line or document */
	SIM_FAULT_END,       /* end a watch, as its timeout does */
	SIM_FAULT_STATUS,    /* `code`, as the answer or as an ERROR line */
	SIM_FAULT_GONE,      /* 410 with reason Gone instead of Expired */
	SIM_FAULT_TOO_LARGE, /* 504 Too large resource version */
	SIM_FAULT_SLOW,      /* amount 0: delay by `ms`; else pause `ms` after every `amount` bytes */
	SIM_FAULT_TRUNCATE,  /* cut the document or line, and end the answer as if complete */
	SIM_FAULT_INVALID,   /* an invalid byte in the middle; protobuf becomes nonsense */
	SIM_FAULT_STALE,     /* show a state `amount` RVs old; a watch repeats its last `amount` events */
	SIM_FAULT_RESTORE,   /* the whole server goes back by `amount` RVs */
	SIM_FAULT_FREEZE,    /* send nothing more, keep the connection; ms 0: until the client leaves */
	SIM_FAULT_HOLD,      /* hold the request until its answer is chosen (hold.h) */
	SIM_FAULT_SAY,       /* send `text` as a line of the watch; with 200 as the answer's body */
	SIM_FAULT_BOOKMARK,  /* send a bookmark on a watch now */
	/* answer a list in pages of `amount`, whatever limit and RV the client gave */
	SIM_FAULT_PAGINATE,
	/* serve a watch as if sendInitialEvents was not given */
	SIM_FAULT_PLAIN,
	SIM_FAULT_NO_PROTOBUF, /* serve the request as a server without protobuf */
	SIM_FAULT_AS_JSON,     /* answer in JSON, whatever the client accepts */
	SIM_FAULT_UNENCODABLE, /* choose protobuf, then fail to encode */
	/* add an unknown field to protobuf objects; for a watch from now on */
	SIM_FAULT_NEWER,
};

/* The signs of TOO_LARGE in its status: the fault's `code`. */
enum sim_too_large { SIM_TOO_LARGE_BOTH, SIM_TOO_LARGE_CAUSE, SIM_TOO_LARGE_MESSAGE };

struct sim_fault {
	enum sim_fault_kind kind;
	int code;
	unsigned retry_after; /* seconds, 0: no such header */
	unsigned ms;
	uint64_t amount;
	/* position of a body fault; 0: in the middle */
	uint64_t after_bytes;
	/* SAY: its text with a newline. Lent, as long as the set of rules */
	char *text;
};

/* The rules that a stream has met, so that each counts once in a stream. Zeroed at first. */
struct sim_fault_seen {
	unsigned generation; /* of the set of rules */
	uint64_t rules;      /* bit i for rule i */
};

/* The situation that rules are checked against. */
struct sim_fault_moment {
	const char *verb;                    /* LIST, WATCH, WATCHLIST, GET, ..., DISCOVERY */
	const struct api_resource *resource; /* NULL: DISCOVERY */
	const char *namespace_;              /* or NULL */
	const char *rv;                      /* resourceVersion as given, or NULL */
	unsigned page;                       /* of a LIST, from 1 */
	bool streaming;                      /* false: the request has just arrived */
	uint64_t events;                     /* lines of a watch sent so far */
	uint64_t elapsed_ms;                 /* since it was opened */
	bool line;                           /* a line is about to be sent; false: idle */
	struct sim_fault_seen *seen;         /* of a stream */
};

struct sim_faults;

/* No rules yet. */
struct sim_faults *
sim_faults_new(void);
void
sim_faults_free(struct sim_faults *faults);

/*
 * Append a script's rules, all or none.
 *
 * Returns  0, or -EINVAL with "line 3: ..." in *ret_error (free it)
 */
int
sim_faults_add(struct sim_faults *faults, const char *script, char **ret_error);
void
sim_faults_clear(struct sim_faults *faults);
/* Append the rules to buf, one per line, with how often each acted: "when LIST pods then 410 once  # 1". */
void
sim_faults_print(struct sim_faults *faults, struct api_buf *buf);
/* Whether there are any rules. Cheap. */
bool
sim_faults_any(struct sim_faults *faults);
/* A number that changes when rules are added or dropped. Cheap. */
unsigned
sim_faults_version(struct sim_faults *faults);

/*
 * Parse an action alone: "429 retry-after 5"; "": none. The set owns its text. Returns as sim_faults_add().
 */
int
sim_faults_action(struct sim_faults *faults, const char *text, struct sim_fault *ret_fault, char **ret_error);

/* Check the rules. Returns true with a fault; false: *ret_fault is none. */
bool
sim_faults_ask(struct sim_faults *faults, const struct sim_fault_moment *moment, struct sim_fault *ret_fault);

/* Store which page a continue token opens, and look it up: 2 if the token is unknown. */
void
sim_faults_note_page(struct sim_faults *faults, const char *token, unsigned page);
unsigned
sim_faults_page(struct sim_faults *faults, const char *token);

#endif
