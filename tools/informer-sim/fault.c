/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the active rules under one lock, and matches them; see fault.h. */
#include "tools/informer-sim/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/fault_rule.h"

#define RULES_MAX 64 /* number of bits in struct sim_fault_seen */
#define PAGES_MAX 64

struct page_token {
	char *token;
	unsigned number;
};

struct sim_faults {
	pthread_mutex_t lock;
	_Atomic unsigned count; /* written under the lock, read without */
	_Atomic unsigned version;
	unsigned generation;
	struct sim_fault_rule rules[RULES_MAX];
	char **texts; /* of dropped rules and of actions: a stream may still send them */
	size_t text_count;
	struct page_token pages[PAGES_MAX]; /* ring of the last tokens given out */
	unsigned page_next;
};

struct sim_faults *
sim_faults_new(void)
{
	struct sim_faults *faults = api_alloc(sizeof(*faults));

	memset(faults, 0, sizeof(*faults));
	pthread_mutex_init(&faults->lock, NULL);
	return faults;
}

/* Lock held. */
static void
keep_text(struct sim_faults *faults, char *text)
{
	if (!text)
		return;
	faults->texts = api_realloc(faults->texts, (faults->text_count + 1) * sizeof(*faults->texts));
	faults->texts[faults->text_count++] = text;
}

void
sim_faults_free(struct sim_faults *faults)
{
	if (!faults)
		return;
	sim_faults_clear(faults);
	for (size_t i = 0; i < faults->text_count; i++)
		free(faults->texts[i]);
	free(faults->texts);
	for (unsigned i = 0; i < PAGES_MAX; i++)
		free(faults->pages[i].token);
	pthread_mutex_destroy(&faults->lock);
	free(faults);
}

void
sim_faults_clear(struct sim_faults *faults)
{
	pthread_mutex_lock(&faults->lock);
	for (unsigned i = 0; i < faults->count; i++) {
		for (unsigned j = 0; j < faults->rules[i].action_count; j++) {
			keep_text(faults, faults->rules[i].actions[j].text);
			faults->rules[i].actions[j].text = NULL;
		}
		sim_fault_rule_done(&faults->rules[i]);
	}
	faults->count = 0;
	faults->generation++;
	faults->version++;
	pthread_mutex_unlock(&faults->lock);
}

/* Parse one line of a script into rules[*count]. Comments and empty lines add nothing. */
static int
add_line(struct sim_fault_rule *rules, unsigned *count, char *line, unsigned number, char **ret_error)
{
	_cleanup_(api_freep) char *why = NULL;
	struct api_buf text = {0};

	line[strcspn(line, "#")] = '\0';
	for (size_t len = strlen(line); len && strchr(" \t\r", line[len - 1]);)
		line[--len] = '\0';
	line += strspn(line, " \t\r");
	if (!line[0])
		return 0;
	if (*count == RULES_MAX)
		api_buf_printf(&text, "line %u: more than %d rules", number, RULES_MAX);
	else if (sim_fault_rule_parse(line, &rules[*count], &why) == 0)
		++*count;
	else
		api_buf_printf(&text, "line %u: %s", number, why);
	if (!text.len)
		return 0;
	*ret_error = api_buf_take(&text);
	return -EINVAL;
}

int
sim_faults_add(struct sim_faults *faults, const char *script, char **ret_error)
{
	_cleanup_(api_freep) char *copy = api_strndup(script, strlen(script));
	struct sim_fault_rule *rules = api_alloc(RULES_MAX * sizeof(*rules));
	unsigned count = 0, number = 0;
	char *rest = copy, *line;
	int r = 0;

	*ret_error = NULL;
	while (r == 0 && (line = strsep(&rest, "\n")))
		r = add_line(rules, &count, line, ++number, ret_error);
	pthread_mutex_lock(&faults->lock);
	if (r == 0 && faults->count + count > RULES_MAX) {
		*ret_error = api_strndup("there would be more than 64 rules", 33);
		r = -EINVAL;
	}
	if (r == 0 && count) {
		memcpy(&faults->rules[faults->count], rules, count * sizeof(*rules));
		faults->count += count;
		faults->version++;
		count = 0;
	}
	pthread_mutex_unlock(&faults->lock);
	for (unsigned i = 0; i < count; i++)
		sim_fault_rule_done(&rules[i]);
	free(rules);
	return r;
}

void
sim_faults_print(struct sim_faults *faults, struct api_buf *buf)
{
	pthread_mutex_lock(&faults->lock);
	for (unsigned i = 0; i < faults->count; i++)
		api_buf_printf(buf, "%s  # %" PRIu64 "\n", faults->rules[i].text, faults->rules[i].acted);
	pthread_mutex_unlock(&faults->lock);
}

bool
sim_faults_any(struct sim_faults *faults)
{
	return atomic_load_explicit(&faults->count, memory_order_relaxed) != 0;
}

unsigned
sim_faults_version(struct sim_faults *faults)
{
	return atomic_load(&faults->version);
}

int
sim_faults_action(struct sim_faults *faults, const char *text, struct sim_fault *ret_fault, char **ret_error)
{
	int r = sim_fault_action_parse(text, ret_fault, ret_error);

	if (r < 0)
		return r;
	pthread_mutex_lock(&faults->lock);
	keep_text(faults, ret_fault->text);
	pthread_mutex_unlock(&faults->lock);
	return 0;
}

/* ---- matching rules -------------------------------------------------------- */

static bool
names_resource(const char *name, const struct api_resource *resource)
{
	if (!resource)
		return false;
	for (size_t i = 0; i < 3 && resource->shorts[i]; i++)
		if (!strcmp(name, resource->shorts[i]))
			return true;
	return !strcmp(name, resource->plural) || !strcmp(name, resource->group_resource);
}

/* Check the conditions that concern the whole request. */
static bool
concerns(const struct sim_fault_rule *rule, const struct sim_fault_moment *m)
{
	const char *rv = m->rv ? m->rv : "";

	/* WATCH also matches WATCHLIST */
	if (rule->verb && strcmp(rule->verb, m->verb) != 0 &&
	    !(!strcmp(rule->verb, "WATCH") && !strcmp(m->verb, "WATCHLIST")))
		return false;
	return (!rule->resource || names_resource(rule->resource, m->resource)) &&
	       (!rule->namespace_ || (m->namespace_ && !strcmp(rule->namespace_, m->namespace_))) &&
	       (!rule->page || rule->page == m->page) && (!rule->rv || !strcmp(rule->rv, rv));
}

/* Whether the rule's moment has come. fault_body.c counts a document's bytes. */
static bool
is_now(const struct sim_fault_rule *rule, const struct sim_fault_moment *m)
{
	if (rule->random)
		return !m->streaming || m->line;
	switch (rule->after) {
	case SIM_AFTER_REQUEST:
	case SIM_AFTER_BYTES:
		return !m->streaming;
	case SIM_AFTER_EVENTS:
		return m->streaming && m->events == rule->after_amount;
	case SIM_AFTER_TIME:
		return m->streaming && m->elapsed_ms >= rule->after_amount;
	case SIM_AFTER_ALL:
		return m->streaming && !m->line;
	}
	return false;
}

/* Whether an action is possible at this moment. If not, the rule waits for the next one. */
static bool
fits(const struct sim_fault *action, const struct sim_fault_moment *m)
{
	if (!m->streaming)
		return action->kind != SIM_FAULT_BOOKMARK &&
		       (action->kind != SIM_FAULT_END || !strncmp(m->verb, "WATCH", 5));
	switch (action->kind) {
	case SIM_FAULT_MID_FRAME:
	case SIM_FAULT_TRUNCATE:
	case SIM_FAULT_INVALID:
		return m->line;
	case SIM_FAULT_BOOKMARK:
		return !m->line; /* a bookmark has the RV of the last sent event */
	case SIM_FAULT_HOLD:
	case SIM_FAULT_PAGINATE:
	case SIM_FAULT_PLAIN:
	case SIM_FAULT_NO_PROTOBUF:
	case SIM_FAULT_AS_JSON:
	case SIM_FAULT_UNENCODABLE:
		return false;
	default:
		return true;
	}
}

/* Draw or count whether the rule acts this time. */
static bool
acts(struct sim_fault_rule *rule, unsigned i, const struct sim_fault_moment *m, struct sim_fault *ret_fault)
{
	unsigned drawn = 0;

	if (rule->random) {
		double dice = (double)(sim_rng_next(&rule->rng) >> 11) * 0x1p-53;

		drawn = sim_rng_below(&rule->rng, rule->action_count);
		if (dice >= rule->rate || !fits(&rule->actions[drawn], m))
			return false;
	} else {
		if (!fits(&rule->actions[0], m))
			return false;
		/* a stream may check one moment twice */
		if (m->seen) {
			if (m->seen->rules >> i & 1)
				return false;
			m->seen->rules |= UINT64_C(1) << i;
		}
		rule->met++;
		if ((rule->nth && rule->met != rule->nth) || (rule->times && rule->acted >= rule->times))
			return false;
	}
	rule->acted++;
	*ret_fault = rule->actions[drawn];
	return true;
}

bool
sim_faults_ask(struct sim_faults *faults, const struct sim_fault_moment *moment, struct sim_fault *ret_fault)
{
	bool found = false;

	*ret_fault = (struct sim_fault){0};
	if (!sim_faults_any(faults))
		return false;
	pthread_mutex_lock(&faults->lock);
	if (moment->seen && moment->seen->generation != faults->generation)
		*moment->seen = (struct sim_fault_seen){.generation = faults->generation};
	for (unsigned i = 0; i < faults->count && !found; i++) {
		struct sim_fault_rule *rule = &faults->rules[i];

		found = concerns(rule, moment) && is_now(rule, moment) && acts(rule, i, moment, ret_fault);
	}
	pthread_mutex_unlock(&faults->lock);
	return found;
}

/* ---- pages ------------------------------------------------------------------ */

void
sim_faults_note_page(struct sim_faults *faults, const char *token, unsigned page)
{
	struct page_token *slot;

	pthread_mutex_lock(&faults->lock);
	slot = &faults->pages[faults->page_next++ % PAGES_MAX];
	free(slot->token);
	*slot = (struct page_token){api_strndup(token, strlen(token)), page};
	pthread_mutex_unlock(&faults->lock);
}

unsigned
sim_faults_page(struct sim_faults *faults, const char *token)
{
	unsigned page = 2;

	pthread_mutex_lock(&faults->lock);
	for (unsigned i = 0; i < PAGES_MAX; i++)
		if (faults->pages[i].token && !strcmp(faults->pages[i].token, token))
			page = faults->pages[i].number;
	pthread_mutex_unlock(&faults->lock);
	return page;
}
