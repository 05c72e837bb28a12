/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses fault scripts, line by line:
 *
 *   when VERB [RESOURCE] [in NAMESPACE] [page N] [rv none|RV] [nth N] [after N events|N bytes|TIME] [idle]
 *        then ACTION [once|times N]
 *   random [seed=N] rate=P% [VERB [RESOURCE]] ACTION...
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-sim/fault_rule.h"
#include "tools/informer-sim/fault_words.h"

static const char *
verb_of(const char *word)
{
	static const char *const verbs[] = {
		"LIST",  "WATCH",  "WATCHLIST",        "GET",       "CREATE", "UPDATE",
		"PATCH", "DELETE", "DELETECOLLECTION", "DISCOVERY", "ANY"};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(word, verbs[i]))
			return verbs[i];
	return NULL;
}

/* Whether a word begins an action. */
static bool
is_action(const char *word)
{
	static const char *const names[] = {"refuse", "close",       "end",     "gone",        "too-large",
					    "slow",   "truncate",    "invalid", "stale",       "restore",
					    "freeze", "hold",        "say",     "bookmark",    "paginate",
					    "plain",  "no-protobuf", "as-json", "unencodable", "newer"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(word, names[i]))
			return true;
	return isdigit((unsigned char)word[0]);
}

static int
status(struct sim_words *w, struct sim_fault *action)
{
	uint64_t n;

	if (sim_words_number(w, "a status", 400, &n) < 0)
		return -EINVAL;
	if (n > 599)
		return sim_words_refuse(w, "%" PRIu64 " is no status of a failure: 400 to 599", n);
	*action = (struct sim_fault){.kind = SIM_FAULT_STATUS, .code = (int)n};
	if (!sim_words_take(w, "retry-after"))
		return 0;
	if (sim_words_number(w, "retry-after", 0, &n) < 0)
		return -EINVAL;
	action->retry_after = (unsigned)(n > 86400 ? 86400 : n);
	return 0;
}

/* slow TIME | slow N bytes every TIME */
static int
slow(struct sim_words *w, struct sim_fault *action)
{
	*action = (struct sim_fault){.kind = SIM_FAULT_SLOW};
	if (!sim_is_time(sim_words_peek(w), &action->ms)) {
		if (sim_words_number(w, "slow", 1, &action->amount) < 0)
			return -EINVAL;
		if (!sim_words_take(w, "bytes") || !sim_words_take(w, "every") ||
		    !sim_is_time(sim_words_peek(w), &action->ms))
			return sim_words_refuse(w, "say slow 100ms, or slow 10 bytes every 50ms");
	}
	w->next++;
	return 0;
}

static int
action_of(struct sim_words *w, struct sim_fault *action)
{
	static const struct {
		const char *name;
		enum sim_fault_kind kind;
	} plain[] = {
		{"end", SIM_FAULT_END},         {"gone", SIM_FAULT_GONE},
		{"hold", SIM_FAULT_HOLD},       {"truncate", SIM_FAULT_TRUNCATE},
		{"invalid", SIM_FAULT_INVALID}, {"bookmark", SIM_FAULT_BOOKMARK},
		{"plain", SIM_FAULT_PLAIN},     {"no-protobuf", SIM_FAULT_NO_PROTOBUF},
		{"as-json", SIM_FAULT_AS_JSON}, {"unencodable", SIM_FAULT_UNENCODABLE},
		{"newer", SIM_FAULT_NEWER},
	};

	*action = (struct sim_fault){0};
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		if (sim_words_take(w, plain[i].name)) {
			action->kind = plain[i].kind;
			return 0;
		}
	}
	if (sim_words_take(w, "close")) {
		action->kind = sim_words_take(w, "mid-frame") ? SIM_FAULT_MID_FRAME : SIM_FAULT_CLOSE;
		return 0;
	}
	if (sim_words_take(w, "refuse")) {
		*action = (struct sim_fault){.kind = SIM_FAULT_REFUSE, .ms = 1000};
		w->next += sim_is_time(sim_words_peek(w), &action->ms);
		return 0;
	}
	if (sim_words_take(w, "freeze")) {
		action->kind = SIM_FAULT_FREEZE;
		w->next += sim_is_time(sim_words_peek(w), &action->ms);
		return 0;
	}
	if (sim_words_take(w, "slow"))
		return slow(w, action);
	if (sim_words_take(w, "stale")) {
		action->kind = SIM_FAULT_STALE;
		return sim_words_number(w, "stale", 1, &action->amount);
	}
	if (sim_words_take(w, "restore")) {
		action->kind = SIM_FAULT_RESTORE;
		return sim_words_number(w, "restore", 1, &action->amount);
	}
	if (sim_words_take(w, "paginate")) {
		action->kind = SIM_FAULT_PAGINATE;
		return sim_words_number(w, "paginate", 1, &action->amount);
	}
	if (sim_words_take(w, "too-large")) {
		action->kind = SIM_FAULT_TOO_LARGE;
		action->code = sim_words_take(w, "cause")     ? SIM_TOO_LARGE_CAUSE
			       : sim_words_take(w, "message") ? SIM_TOO_LARGE_MESSAGE
							      : SIM_TOO_LARGE_BOTH;
		return 0;
	}
	if (sim_words_take(w, "say")) {
		*action = (struct sim_fault){.kind = SIM_FAULT_SAY, .text = w->said};
		w->said = NULL;
		return action->text ? 0 : sim_words_refuse(w, "say wants a text behind it");
	}
	if (isdigit((unsigned char)sim_words_peek(w)[0]))
		return status(w, action);
	return sim_words_refuse(
		w,
		"\"%s\" is no action: refuse, close, close mid-frame, end, 410 and other statuses, gone, "
		"too-large, "
		"slow, truncate, invalid, stale, restore, freeze, hold, say, bookmark, paginate, plain, "
		"no-protobuf, as-json, unencodable or newer",
		sim_words_peek(w));
}

static bool
is_keyword(const char *word)
{
	static const char *const words[] = {"in", "page", "rv", "nth", "after", "idle", "then"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(word, words[i]))
			return true;
	return !word[0];
}

static char *
copy_word(struct sim_words *w)
{
	const char *word = sim_words_peek(w);

	w->next += word[0] != '\0';
	return api_strndup(word, strlen(word));
}

static int
after(struct sim_words *w, struct sim_fault_rule *rule)
{
	unsigned ms;

	if (sim_is_time(sim_words_peek(w), &ms)) {
		rule->after = SIM_AFTER_TIME;
		rule->after_amount = ms;
		w->next++;
		return 0;
	}
	if (sim_words_number(w, "after", 0, &rule->after_amount) < 0)
		return -EINVAL;
	if (sim_words_take(w, "events") || sim_words_take(w, "event"))
		rule->after = SIM_AFTER_EVENTS;
	else if (sim_words_take(w, "bytes"))
		rule->after = SIM_AFTER_BYTES;
	else
		return sim_words_refuse(w, "say after 3 events, after 100 bytes or after 200ms");
	return 0;
}

static int
condition(struct sim_words *w, struct sim_fault_rule *rule)
{
	uint64_t n;

	if (sim_words_take(w, "in")) {
		free(rule->namespace_);
		rule->namespace_ = copy_word(w);
		return rule->namespace_[0] ? 0 : sim_words_refuse(w, "in wants a namespace behind it");
	}
	if (sim_words_take(w, "rv")) {
		free(rule->rv);
		if (is_keyword(sim_words_peek(w)))
			return sim_words_refuse(w, "rv wants \"none\" or a resource version behind it");
		rule->rv = sim_words_take(w, "none") ? api_strndup("", 0) : copy_word(w);
		return 0;
	}
	if (sim_words_take(w, "page")) {
		if (sim_words_number(w, "page", 1, &n) < 0)
			return -EINVAL;
		rule->page = (unsigned)n;
		return 0;
	}
	if (sim_words_take(w, "nth"))
		return sim_words_number(w, "nth", 1, &rule->nth);
	if (sim_words_take(w, "after"))
		return after(w, rule);
	if (sim_words_take(w, "idle")) {
		rule->after = SIM_AFTER_ALL;
		return 0;
	}
	return sim_words_refuse(
		w, "\"%s\" is no condition: in, page, rv, nth, after or idle, then \"then\" and an action",
		sim_words_peek(w));
}

/* Check that the action is possible for the rule's verb and moment. */
static int
check(struct sim_words *w, const struct sim_fault_rule *rule)
{
	bool watch = rule->verb && (!strcmp(rule->verb, "WATCH") || !strcmp(rule->verb, "WATCHLIST"));
	enum sim_fault_kind kind = rule->actions[0].kind;

	if ((rule->after == SIM_AFTER_EVENTS || rule->after == SIM_AFTER_TIME ||
	     rule->after == SIM_AFTER_ALL) &&
	    !watch)
		return sim_words_refuse(w, "after events, after a time and idle are for WATCH and WATCHLIST");
	if (rule->after == SIM_AFTER_BYTES && watch)
		return sim_words_refuse(w, "after bytes is for documents; a watch counts events");
	if (rule->after == SIM_AFTER_BYTES && kind != SIM_FAULT_CLOSE && kind != SIM_FAULT_MID_FRAME &&
	    kind != SIM_FAULT_TRUNCATE && kind != SIM_FAULT_INVALID && kind != SIM_FAULT_FREEZE)
		return sim_words_refuse(w, "after bytes goes with close, truncate, invalid and freeze");
	if (kind == SIM_FAULT_END && !watch)
		return sim_words_refuse(
			w, "end is for WATCH and WATCHLIST: a document that is cut is told by truncate");
	if ((kind == SIM_FAULT_BOOKMARK || kind == SIM_FAULT_PLAIN) && !watch)
		return sim_words_refuse(w, "bookmark and plain are for WATCH and WATCHLIST");
	if (kind == SIM_FAULT_BOOKMARK && rule->after == SIM_AFTER_REQUEST)
		return sim_words_refuse(w,
					"bookmark wants to know when: idle, after 2 events or after 200ms");
	if ((kind == SIM_FAULT_HOLD || kind == SIM_FAULT_PAGINATE || kind == SIM_FAULT_PLAIN) &&
	    rule->after != SIM_AFTER_REQUEST)
		return sim_words_refuse(
			w, "hold, paginate and plain come with the request: without after and idle");
	if ((kind == SIM_FAULT_NO_PROTOBUF || kind == SIM_FAULT_AS_JSON || kind == SIM_FAULT_UNENCODABLE) &&
	    rule->after != SIM_AFTER_REQUEST)
		return sim_words_refuse(w, "no-protobuf, as-json and unencodable come with the request: "
					   "without after and idle");
	if (kind == SIM_FAULT_PAGINATE && (!rule->verb || strcmp(rule->verb, "LIST") != 0))
		return sim_words_refuse(w, "paginate is for LIST");
	if (rule->page && (!rule->verb || strcmp(rule->verb, "LIST") != 0))
		return sim_words_refuse(w, "page is for LIST");
	return 0;
}

static int
parse_when(struct sim_words *w, struct sim_fault_rule *rule)
{
	rule->verb = verb_of(sim_words_peek(w));
	if (!rule->verb)
		return sim_words_refuse(
			w,
			"\"%s\" is no verb: LIST, WATCH, WATCHLIST, GET, CREATE, UPDATE, PATCH, DELETE, "
			"DELETECOLLECTION, DISCOVERY or ANY",
			sim_words_peek(w));
	w->next++;
	if (!strcmp(rule->verb, "ANY"))
		rule->verb = NULL;
	if (!is_keyword(sim_words_peek(w)))
		rule->resource = copy_word(w);
	while (!sim_words_take(w, "then"))
		if (condition(w, rule) < 0)
			return -EINVAL;
	if (action_of(w, &rule->actions[0]) < 0)
		return -EINVAL;
	rule->action_count = 1;
	if (rule->after == SIM_AFTER_BYTES)
		rule->actions[0].after_bytes = rule->after_amount ? rule->after_amount : 1;
	if (sim_words_take(w, "once"))
		rule->times = 1;
	else if (sim_words_take(w, "times") && sim_words_number(w, "times", 1, &rule->times) < 0)
		return -EINVAL;
	return check(w, rule);
}

static int
parse_random(struct sim_words *w, struct sim_fault_rule *rule)
{
	char *end;

	rule->random = true;
	rule->rng.state = 1;
	rule->rate = -1;
	for (;; w->next++) {
		const char *word = sim_words_peek(w);

		if (!strncasecmp(word, "seed=", 5)) {
			rule->rng.state = strtoull(word + 5, &end, 10);
			if (!word[5] || *end)
				return sim_words_refuse(w, "seed= wants a number");
		} else if (!strncasecmp(word, "rate=", 5)) {
			rule->rate = strtod(word + 5, &end) / 100;
			if (end == word + 5 || strcmp(end, "%") != 0 || !(rule->rate >= 0 && rule->rate <= 1))
				return sim_words_refuse(w, "rate= wants a percentage, as rate=1%%");
		} else {
			break;
		}
	}
	if (rule->rate < 0)
		return sim_words_refuse(w, "random wants rate=1%% or so");
	rule->verb = verb_of(sim_words_peek(w));
	if (rule->verb) {
		w->next++;
		if (!strcmp(rule->verb, "ANY"))
			rule->verb = NULL;
		if (!is_action(sim_words_peek(w)) && sim_words_peek(w)[0])
			rule->resource = copy_word(w);
	}
	do {
		if (rule->action_count == SIM_FAULT_ACTIONS_MAX)
			return sim_words_refuse(w, "more than %d actions to draw from",
						SIM_FAULT_ACTIONS_MAX);
		if (action_of(w, &rule->actions[rule->action_count]) < 0)
			return -EINVAL;
		rule->action_count++;
	} while (sim_words_peek(w)[0]);
	return 0;
}

void
sim_fault_rule_done(struct sim_fault_rule *rule)
{
	free(rule->text);
	free(rule->resource);
	free(rule->namespace_);
	free(rule->rv);
	for (unsigned i = 0; i < SIM_FAULT_ACTIONS_MAX; i++)
		free(rule->actions[i].text);
	*rule = (struct sim_fault_rule){0};
}

int
sim_fault_rule_parse(const char *line, struct sim_fault_rule *ret_rule, char **ret_error)
{
	_cleanup_(api_freep) char *copy = api_strndup(line, strlen(line));
	struct sim_fault_rule rule = {.text = api_strndup(line, strlen(line))};
	struct sim_words w = {.ret_error = ret_error};
	int r;

	*ret_error = NULL;
	r = sim_words_split(&w, copy);
	if (r == 0 && sim_words_take(&w, "when"))
		r = parse_when(&w, &rule);
	else if (r == 0 && sim_words_take(&w, "random"))
		r = parse_random(&w, &rule);
	else if (r == 0)
		r = sim_words_refuse(&w, "a rule begins with when or random: \"%s\"", sim_words_peek(&w));
	if (r == 0)
		r = sim_words_end(&w);
	free(w.said);
	if (r < 0)
		sim_fault_rule_done(&rule);
	*ret_rule = rule;
	return r;
}

int
sim_fault_action_parse(const char *line, struct sim_fault *ret_action, char **ret_error)
{
	_cleanup_(api_freep) char *copy = api_strndup(line, strlen(line));
	struct sim_words w = {.ret_error = ret_error};
	int r;

	*ret_error = NULL;
	*ret_action = (struct sim_fault){0};
	r = sim_words_split(&w, copy);
	if (r == 0 && sim_words_peek(&w)[0])
		r = action_of(&w, ret_action);
	if (r == 0)
		r = sim_words_end(&w);
	free(w.said);
	if (r < 0) {
		free(ret_action->text);
		*ret_action = (struct sim_fault){0};
	}
	return r;
}
