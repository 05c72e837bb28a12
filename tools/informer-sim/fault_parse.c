/*
 * Reads fault scripts, a line at a time:
 *
 *   when VERB [RESOURCE] [in NAMESPACE] [page N] [rv none|RV] [nth N] [after N events|N bytes|TIME]
 *        then ACTION [once|times N]
 *   random [seed=N] rate=P% [VERB [RESOURCE]] ACTION...
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/informer-sim/fault_rule.h"

#define WORDS_MAX 64

struct words {
	char *at[WORDS_MAX + 1]; /* NULL ended */
	unsigned next;
	char **ret_error;
};

static int __attribute__((format(printf, 2, 3)))
refuse(struct words *w, const char *format, ...)
{
	struct sim_buf text = {0};
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	sim_buf_puts(&text, message ? message : "it cannot be read");
	free(message);
	if (!*w->ret_error)
		*w->ret_error = sim_buf_take(&text);
	else
		sim_buf_done(&text);
	return -EINVAL;
}

static const char *
peek(const struct words *w)
{
	return w->at[w->next] ? w->at[w->next] : "";
}

/* Step over the word if it is this one. */
static bool
take(struct words *w, const char *word)
{
	if (strcasecmp(peek(w), word) != 0)
		return false;
	w->next++;
	return true;
}

static int
number(struct words *w, const char *what, uint64_t low, uint64_t *ret)
{
	const char *text = peek(w);
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || *ret < low)
		return refuse(w, "%s wants a number from %" PRIu64 " here: \"%s\"", what, low, text);
	w->next++;
	return 0;
}

/* 200ms, 2s */
static bool
is_time(const char *text, unsigned *ret_ms)
{
	char *end = NULL;
	unsigned long n = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : ULONG_MAX;

	if (n > 3600000 || (strcmp(end, "ms") != 0 && (strcmp(end, "s") != 0 || n > 3600)))
		return false;
	*ret_ms = (unsigned)(strcmp(end, "s") == 0 ? n * 1000 : n);
	return true;
}

static const char *
verb_of(const char *word)
{
	static const char *const verbs[] = {"LIST",   "WATCH", "WATCHLIST", "GET",	       "CREATE",    "UPDATE",
					    "PATCH", "DELETE", "DELETECOLLECTION", "DISCOVERY", "ANY"};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(word, verbs[i]))
			return verbs[i];
	return NULL;
}

/* Do the words go on with an action? */
static bool
is_action(const char *word)
{
	static const char *const names[] = {"refuse", "close", "end",	  "gone",  "too-large", "slow",
					    "truncate", "invalid", "stale", "restore", "freeze"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(word, names[i]))
			return true;
	return isdigit((unsigned char)word[0]);
}

static int
status(struct words *w, struct sim_fault *action)
{
	uint64_t n;

	if (number(w, "a status", 400, &n) < 0)
		return -EINVAL;
	if (n > 599)
		return refuse(w, "%" PRIu64 " is no status of a failure: 400 to 599", n);
	*action = (struct sim_fault){.kind = SIM_FAULT_STATUS, .code = (int)n};
	if (!take(w, "retry-after"))
		return 0;
	if (number(w, "retry-after", 0, &n) < 0)
		return -EINVAL;
	action->retry_after = (unsigned)(n > 86400 ? 86400 : n);
	return 0;
}

/* slow TIME | slow N bytes every TIME */
static int
slow(struct words *w, struct sim_fault *action)
{
	*action = (struct sim_fault){.kind = SIM_FAULT_SLOW};
	if (!is_time(peek(w), &action->ms)) {
		if (number(w, "slow", 1, &action->amount) < 0)
			return -EINVAL;
		if (!take(w, "bytes") || !take(w, "every") || !is_time(peek(w), &action->ms))
			return refuse(w, "say slow 100ms, or slow 10 bytes every 50ms");
	}
	w->next++;
	return 0;
}

static int
action_of(struct words *w, struct sim_fault *action)
{
	static const struct {
		const char *name;
		enum sim_fault_kind kind;
	} plain[] = {
		{"end", SIM_FAULT_END},		  {"gone", SIM_FAULT_GONE},	   {"too-large", SIM_FAULT_TOO_LARGE},
		{"truncate", SIM_FAULT_TRUNCATE}, {"invalid", SIM_FAULT_INVALID},
	};

	*action = (struct sim_fault){0};
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		if (take(w, plain[i].name)) {
			action->kind = plain[i].kind;
			return 0;
		}
	}
	if (take(w, "close")) {
		action->kind = take(w, "mid-frame") ? SIM_FAULT_MID_FRAME : SIM_FAULT_CLOSE;
		return 0;
	}
	if (take(w, "refuse")) {
		*action = (struct sim_fault){.kind = SIM_FAULT_REFUSE, .ms = 1000};
		w->next += is_time(peek(w), &action->ms);
		return 0;
	}
	if (take(w, "freeze")) {
		action->kind = SIM_FAULT_FREEZE;
		w->next += is_time(peek(w), &action->ms);
		return 0;
	}
	if (take(w, "slow"))
		return slow(w, action);
	if (take(w, "stale")) {
		action->kind = SIM_FAULT_STALE;
		return number(w, "stale", 1, &action->amount);
	}
	if (take(w, "restore")) {
		action->kind = SIM_FAULT_RESTORE;
		return number(w, "restore", 1, &action->amount);
	}
	if (isdigit((unsigned char)peek(w)[0]))
		return status(w, action);
	return refuse(w, "\"%s\" is no action: refuse, close, close mid-frame, end, 410 and other statuses, gone, too-large, "
			 "slow, truncate, invalid, stale, restore or freeze",
		      peek(w));
}

static bool
is_keyword(const char *word)
{
	static const char *const words[] = {"in", "page", "rv", "nth", "after", "then"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(word, words[i]))
			return true;
	return !word[0];
}

static char *
copy_word(struct words *w)
{
	const char *word = peek(w);

	w->next += word[0] != '\0';
	return sim_strndup(word, strlen(word));
}

static int
after(struct words *w, struct sim_fault_rule *rule)
{
	unsigned ms;

	if (is_time(peek(w), &ms)) {
		rule->after = SIM_AFTER_TIME;
		rule->after_amount = ms;
		w->next++;
		return 0;
	}
	if (number(w, "after", 0, &rule->after_amount) < 0)
		return -EINVAL;
	if (take(w, "events") || take(w, "event"))
		rule->after = SIM_AFTER_EVENTS;
	else if (take(w, "bytes"))
		rule->after = SIM_AFTER_BYTES;
	else
		return refuse(w, "say after 3 events, after 100 bytes or after 200ms");
	return 0;
}

static int
condition(struct words *w, struct sim_fault_rule *rule)
{
	uint64_t n;

	if (take(w, "in")) {
		free(rule->namespace_);
		rule->namespace_ = copy_word(w);
		return rule->namespace_[0] ? 0 : refuse(w, "in wants a namespace behind it");
	}
	if (take(w, "rv")) {
		free(rule->rv);
		if (is_keyword(peek(w)))
			return refuse(w, "rv wants \"none\" or a resource version behind it");
		rule->rv = take(w, "none") ? sim_strndup("", 0) : copy_word(w);
		return 0;
	}
	if (take(w, "page")) {
		if (number(w, "page", 1, &n) < 0)
			return -EINVAL;
		rule->page = (unsigned)n;
		return 0;
	}
	if (take(w, "nth"))
		return number(w, "nth", 1, &rule->nth);
	if (take(w, "after"))
		return after(w, rule);
	return refuse(w, "\"%s\" is no condition: in, page, rv, nth or after, then \"then\" and an action", peek(w));
}

/* A watch's lines can end, be an ERROR or come twice; a document cannot once it has begun. */
static int
check(struct words *w, const struct sim_fault_rule *rule)
{
	bool watch = rule->verb && (!strcmp(rule->verb, "WATCH") || !strcmp(rule->verb, "WATCHLIST"));
	enum sim_fault_kind kind = rule->actions[0].kind;

	if ((rule->after == SIM_AFTER_EVENTS || rule->after == SIM_AFTER_TIME) && !watch)
		return refuse(w, "after events and after a time are for WATCH and WATCHLIST");
	if (rule->after == SIM_AFTER_BYTES && watch)
		return refuse(w, "after bytes is for documents; a watch counts events");
	if (rule->after == SIM_AFTER_BYTES && kind != SIM_FAULT_CLOSE && kind != SIM_FAULT_MID_FRAME &&
	    kind != SIM_FAULT_TRUNCATE && kind != SIM_FAULT_INVALID && kind != SIM_FAULT_FREEZE)
		return refuse(w, "after bytes goes with close, truncate, invalid and freeze");
	if (kind == SIM_FAULT_END && !watch)
		return refuse(w, "end is for WATCH and WATCHLIST: a document that is cut is told by truncate");
	if (rule->page && (!rule->verb || strcmp(rule->verb, "LIST") != 0))
		return refuse(w, "page is for LIST");
	return 0;
}

static int
parse_when(struct words *w, struct sim_fault_rule *rule)
{
	rule->verb = verb_of(peek(w));
	if (!rule->verb)
		return refuse(w, "\"%s\" is no verb: LIST, WATCH, WATCHLIST, GET, CREATE, UPDATE, PATCH, DELETE, "
				 "DELETECOLLECTION, DISCOVERY or ANY",
			      peek(w));
	w->next++;
	if (!strcmp(rule->verb, "ANY"))
		rule->verb = NULL;
	if (!is_keyword(peek(w)))
		rule->resource = copy_word(w);
	while (!take(w, "then"))
		if (condition(w, rule) < 0)
			return -EINVAL;
	if (action_of(w, &rule->actions[0]) < 0)
		return -EINVAL;
	rule->action_count = 1;
	if (rule->after == SIM_AFTER_BYTES)
		rule->actions[0].after_bytes = rule->after_amount ? rule->after_amount : 1;
	if (take(w, "once"))
		rule->times = 1;
	else if (take(w, "times") && number(w, "times", 1, &rule->times) < 0)
		return -EINVAL;
	return check(w, rule);
}

static int
parse_random(struct words *w, struct sim_fault_rule *rule)
{
	char *end;

	rule->random = true;
	rule->rng.state = 1;
	rule->rate = -1;
	for (;; w->next++) {
		const char *word = peek(w);

		if (!strncasecmp(word, "seed=", 5)) {
			rule->rng.state = strtoull(word + 5, &end, 10);
			if (!word[5] || *end)
				return refuse(w, "seed= wants a number");
		} else if (!strncasecmp(word, "rate=", 5)) {
			rule->rate = strtod(word + 5, &end) / 100;
			if (end == word + 5 || strcmp(end, "%") != 0 || !(rule->rate >= 0 && rule->rate <= 1))
				return refuse(w, "rate= wants a percentage, as rate=1%%");
		} else {
			break;
		}
	}
	if (rule->rate < 0)
		return refuse(w, "random wants rate=1%% or so");
	rule->verb = verb_of(peek(w));
	if (rule->verb) {
		w->next++;
		if (!strcmp(rule->verb, "ANY"))
			rule->verb = NULL;
		if (!is_action(peek(w)) && peek(w)[0])
			rule->resource = copy_word(w);
	}
	do {
		if (rule->action_count == SIM_FAULT_ACTIONS_MAX)
			return refuse(w, "more than %d actions to draw from", SIM_FAULT_ACTIONS_MAX);
		if (action_of(w, &rule->actions[rule->action_count]) < 0)
			return -EINVAL;
		rule->action_count++;
	} while (peek(w)[0]);
	return 0;
}

void
sim_fault_rule_done(struct sim_fault_rule *rule)
{
	free(rule->text);
	free(rule->resource);
	free(rule->namespace_);
	free(rule->rv);
	*rule = (struct sim_fault_rule){0};
}

int
sim_fault_rule_parse(const char *line, struct sim_fault_rule *ret_rule, char **ret_error)
{
	_cleanup_(sim_freep) char *copy = sim_strndup(line, strlen(line));
	struct sim_fault_rule rule = {.text = sim_strndup(line, strlen(line))};
	struct words w = {.ret_error = ret_error};
	char *rest = copy, *word;
	unsigned count = 0;
	int r;

	*ret_error = NULL;
	while ((word = strsep(&rest, " \t\r"))) {
		if (!word[0])
			continue;
		if (count == WORDS_MAX) {
			sim_fault_rule_done(&rule);
			return refuse(&w, "more than %d words", WORDS_MAX);
		}
		w.at[count++] = word;
	}
	if (take(&w, "when"))
		r = parse_when(&w, &rule);
	else if (take(&w, "random"))
		r = parse_random(&w, &rule);
	else
		r = refuse(&w, "a rule begins with when or random: \"%s\"", peek(&w));
	if (r == 0 && peek(&w)[0])
		r = refuse(&w, "nothing should follow here: \"%s\"", peek(&w));
	if (r < 0)
		sim_fault_rule_done(&rule);
	*ret_rule = rule;
	return r;
}
