/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of a fault script, shared by the parser (fault_parse.c) and the matcher (fault.c). */
#ifndef TOOLS_INFORMER_SIM_FAULT_RULE_H
#define TOOLS_INFORMER_SIM_FAULT_RULE_H

#include "tools/informer-sim/fault.h"
#include "tools/informer-sim/rng.h"

#define SIM_FAULT_ACTIONS_MAX 16

enum sim_fault_after { SIM_AFTER_REQUEST, SIM_AFTER_EVENTS, SIM_AFTER_BYTES, SIM_AFTER_TIME, SIM_AFTER_ALL };

struct sim_fault_rule {
	char *text; /* as it was written */

	/* when: NULL and 0 mean any */
	const char *verb; /* a literal */
	char *resource;	  /* plural, short name or plural.group */
	char *namespace_;
	char *rv; /* "" for none */
	unsigned page;
	uint64_t nth;
	enum sim_fault_after after;
	uint64_t after_amount; /* events, bytes or ms */

	/* then */
	/* one action; a random rule draws from several. The rule owns their texts */
	struct sim_fault actions[SIM_FAULT_ACTIONS_MAX];
	unsigned action_count;
	uint64_t times; /* how often it may act; 0: always */

	bool random;
	double rate; /* 0..1 */
	struct sim_rng rng;

	uint64_t met;   /* how often the conditions were met */
	uint64_t acted; /* how often it acted */
};

/*
 * Parse one line, neither empty nor a comment.
 *
 * Returns  0, or -EINVAL with a sentence in *ret_error (free it)
 */
int
sim_fault_rule_parse(const char *line, struct sim_fault_rule *ret_rule, char **ret_error);
void
sim_fault_rule_done(struct sim_fault_rule *rule);
/* The same for the text after `then`; "": no action. The caller frees the action's text. */
int
sim_fault_action_parse(const char *line, struct sim_fault *ret_action, char **ret_error);

#endif
