/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults: what goes wrong on the wire, told in a script that reads as the conversation does.
 *
 *   when LIST pods page 2 then 410 once
 *   when WATCH pods after 3 events then close mid-frame
 *   when LIST rv none nth 2 then 429 retry-after 2 times 3
 *   when WATCH pods idle then say {"type":"RENAMED","object":{}}
 *   random seed=7 rate=1% WATCH pods close 410 500
 *
 * Rules are asked in order, the first that applies acts. A rule without `after` is asked when a request
 * arrives; one with `after` or `idle` while its answer is under way (a watch: before each line, and while it
 * waits). informer-sim(1) has the words of the script, fault_parse.c reads them, fault.c answers here,
 * fault_act.c and watch_fault.c do what is told.
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
	SIM_FAULT_REFUSE,    /* no connection for `ms`, this one is closed */
	SIM_FAULT_CLOSE,     /* the connection, before an answer or behind a whole line */
	SIM_FAULT_MID_FRAME, /* the same in the middle of a line or document */
	SIM_FAULT_END,       /* a watch ends, as by its timeout */
	SIM_FAULT_STATUS,    /* `code`, as the answer or as an ERROR line */
	SIM_FAULT_GONE,      /* 410, but its reason is Gone and not Expired */
	SIM_FAULT_TOO_LARGE, /* 504 Too large resource version */
	SIM_FAULT_SLOW,      /* amount 0: late by `ms`; else `amount` bytes, then `ms`, and so on */
	SIM_FAULT_TRUNCATE,  /* the document or line breaks off, the answer is ended as if complete */
	SIM_FAULT_INVALID,   /* a byte in its middle that no JSON has; protobuf goes on as nonsense */
	SIM_FAULT_STALE,     /* a state `amount` RVs back; a watch repeats its last `amount` events */
	SIM_FAULT_RESTORE,   /* the whole server goes back by `amount` RVs */
	SIM_FAULT_FREEZE,    /* nothing more comes, the connection stays; ms 0: until the client goes */
	SIM_FAULT_HOLD,      /* it waits until somebody says how it is answered (hold.h) */
	SIM_FAULT_SAY,       /* `text` is a line of the watch; or, with 200, the answer's body */
	SIM_FAULT_BOOKMARK,  /* a watch sends one now */
	/* a list comes in pages of `amount`, whatever limit and RV it was asked for with */
	SIM_FAULT_PAGINATE,
	/* a watch that should begin with the state is served as if that had not been asked for */
	SIM_FAULT_PLAIN,
	SIM_FAULT_NO_PROTOBUF, /* the request is served as by a server that has JSON alone */
	SIM_FAULT_AS_JSON,     /* it is answered in JSON, whatever it asks for */
	SIM_FAULT_UNENCODABLE, /* protobuf is chosen, and then cannot be written */
	/* objects in protobuf have a field that no client knows; in a watch from now on */
	SIM_FAULT_NEWER,
};

/* Which of the two signs of a TOO_LARGE its status has: `code` of such a fault. */
enum sim_too_large { SIM_TOO_LARGE_BOTH, SIM_TOO_LARGE_CAUSE, SIM_TOO_LARGE_MESSAGE };

struct sim_fault {
	enum sim_fault_kind kind;
	int code;
	unsigned retry_after; /* seconds, 0: no such header */
	unsigned ms;
	uint64_t amount;
	/* of the body, where it is one of these: the fault comes there; 0: in its middle */
	uint64_t after_bytes;
	/*
	 * of SAY, ended by a newline. Of a fault that was asked for: lent, valid as long as the set of
	 * rules
	 */
	char *text;
};

/* Which rules a stream has met already, so that none counts twice in one. Zeroed at first. */
struct sim_fault_seen {
	unsigned generation; /* of the set of rules */
	uint64_t rules;      /* bit i for rule i */
};

/* What a rule is asked about. */
struct sim_fault_moment {
	const char *verb;                    /* LIST, WATCH, WATCHLIST, GET, ..., DISCOVERY */
	const struct api_resource *resource; /* NULL: DISCOVERY */
	const char *namespace_;              /* or NULL */
	const char *rv;                      /* resourceVersion as it was given, or NULL */
	unsigned page;                       /* of a LIST, from 1 */
	bool streaming;                      /* false: the request has just come */
	uint64_t events;                     /* lines of a watch sent so far */
	uint64_t elapsed_ms;                 /* since it was opened */
	bool line;                           /* is one about to be sent? else it is idle */
	struct sim_fault_seen *seen;         /* of a stream */
};

struct sim_faults;

/* No rules yet. */
struct sim_faults *
sim_faults_new(void);
void
sim_faults_free(struct sim_faults *faults);

/*
 * Add a script's rules behind those there are; all of them, or none.
 *
 * Returns  0, or -EINVAL with "line 3: ..." in *ret_error (free it)
 */
int
sim_faults_add(struct sim_faults *faults, const char *script, char **ret_error);
void
sim_faults_clear(struct sim_faults *faults);
/* Append the rules, a line each, with how often each has acted: "when LIST pods then 410 once  # 1". */
void
sim_faults_print(struct sim_faults *faults, struct api_buf *buf);
/* Are there any rules? Cheap. */
bool
sim_faults_any(struct sim_faults *faults);
/* Another number whenever rules were added or dropped. Cheap. */
unsigned
sim_faults_version(struct sim_faults *faults);

/*
 * Read an action alone: "429 retry-after 5"; "" is none. Its text is the set's. Returns as
 * sim_faults_add().
 */
int
sim_faults_action(struct sim_faults *faults, const char *text, struct sim_fault *ret_fault, char **ret_error);

/* Does something go wrong now? false: *ret_fault is none. */
bool
sim_faults_ask(struct sim_faults *faults, const struct sim_fault_moment *moment, struct sim_fault *ret_fault);

/* Remember which page a continue token opens, and ask for it: 2 for one that is not known. */
void
sim_faults_note_page(struct sim_faults *faults, const char *token, unsigned page);
unsigned
sim_faults_page(struct sim_faults *faults, const char *token);

#endif
