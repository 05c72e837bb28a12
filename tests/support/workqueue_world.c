/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a workqueue with a virtual clock and counted memory, and checks that nothing is left behind. */
#include <ctype.h>

#include "tests/support/workqueue_world.h"

#include "tests/room.h"

static uint64_t
world_now(void *context)
{
	struct workqueue_world *w = context;

	return atomic_load(&w->now);
}

static void *
world_allocate(void *context, size_t size)
{
	struct workqueue_world *w = context;

	if (w->fail_after == 0)
		return NULL;
	if (w->fail_after != SIZE_MAX)
		w->fail_after--;
	w->allocated++;
	return malloc(size);
}

static void
world_release(void *context, void *memory)
{
	struct workqueue_world *w = context;

	w->allocated--;
	free(memory);
}

struct informer_workqueue_options
workqueue_world_options(struct workqueue_world *w)
{
	return (struct informer_workqueue_options){
		.size = sizeof(struct informer_workqueue_options),
		.clock = world_now,
		.clock_context = w,
		.allocate = world_allocate,
		.release = world_release,
		.allocator_context = w,
	};
}

void
workqueue_world_queue(struct workqueue_world *w, const struct informer_workqueue_options *options)
{
	informer_workqueue_free(w->q);
	w->q = NULL;
	assert_int_equal(informer_workqueue_new(options, &w->q), 0);
}

int
workqueue_world_set_up(void **state)
{
	struct workqueue_world *w = calloc(1, sizeof(*w));
	struct informer_workqueue_options o = workqueue_world_options(w);

	w->fail_after = SIZE_MAX;
	atomic_init(&w->now, 1000 * SECOND);
	workqueue_world_queue(w, &o);
	*state = w;
	return 0;
}

/* Fails if the queue left memory behind. */
int
workqueue_world_tear_down(void **state)
{
	struct workqueue_world *w = *state;
	size_t left;

	informer_workqueue_free(w->q);
	left = w->allocated;
	free(w);
	return left == 0 ? 0 : -1;
}

void
pass_time(struct workqueue_world *w, uint64_t ns)
{
	atomic_fetch_add(&w->now, ns);
	informer_workqueue_kick(w->q);
}

struct informer_workqueue_metrics
queue_metrics(struct workqueue_world *w)
{
	struct informer_workqueue_metrics m = {.size = sizeof(m)};

	assert_int_equal(informer_workqueue_metrics(w->q, &m), 0);
	return m;
}

/* "5ms" in nanoseconds; without a unit, the number. */
static uint64_t
amount(const char *text)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", MS}, {"s", SECOND}};
	char *unit;
	uint64_t n = strtoull(text, &unit, 10);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].unit) == 0)
			return n * units[i].ns;
	fail_msg("no amount: %s", text);
	return 0;
}

static void
assert_metric(struct workqueue_world *w, const char *name, uint64_t expected)
{
#define METRIC(field)                                                                                        \
	{                                                                                                    \
#field, offsetof(struct informer_workqueue_metrics, field)                                   \
	}
	static const struct {
		const char *name;
		size_t at;
	} metrics[] = {METRIC(depth),       METRIC(adds),          METRIC(retries),
		       METRIC(queue_count), METRIC(queue_sum_ns),  METRIC(work_count),
		       METRIC(work_sum_ns), METRIC(unfinished_ns), METRIC(longest_running_ns)};
	struct informer_workqueue_metrics m = queue_metrics(w);

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (strcmp(name, metrics[i].name) == 0) {
			assert_int_equal(*(uint64_t *)((char *)&m + metrics[i].at), expected);
			return;
		}
	fail_msg("no metric: %s", name);
}

/* KEY[^PRIORITY][~][@DELAY]; fills *how, whose size stays 0 for a key alone. */
static size_t
parse_add(char *word, struct informer_work_add *how)
{
	size_t length = strcspn(word, "^~@");
	char *p = word + length;

	*how = (struct informer_work_add){.size = *p ? sizeof(*how) : 0};
	if (*p == '^')
		how->priority = (int)strtol(p + 1, &p, 10);
	if (*p == '~') {
		how->rate_limited = true;
		p++;
	}
	if (*p == '@')
		how->delay_ns = amount(p + 1);
	return length;
}

static void
play_add(struct workqueue_world *w, char *word)
{
	char *end = word + strlen(word) - 1;
	int expected = *end == '!' ? -ESHUTDOWN : 0;
	struct informer_work_add how;
	size_t length;
	int r;

	*end = *end == '!' ? '\0' : *end;
	length = parse_add(word, &how);
	if (word[length] == '\0')
		r = informer_workqueue_add(w->q, word, length);
	else if (word[length] == '@')
		r = informer_workqueue_add_after(w->q, word, length, how.delay_ns);
	else if (strcmp(word + length, "~") == 0)
		r = informer_workqueue_add_rate_limited(w->q, word, length);
	else
		r = informer_workqueue_add_with(w->q, word, length, &how);
	assert_int_equal(r, expected);
}

static struct informer_work_item
play_get(struct workqueue_world *w, char *word)
{
	char *priority = strchr(word, '^');
	struct informer_work_item item;

	if (priority)
		*priority++ = '\0';
	assert_int_equal(informer_workqueue_get(w->q, 0, &item), 0);
	assert_string_equal(item.key, word);
	assert_int_equal(item.length, strlen(word));
	if (priority)
		assert_int_equal(item.priority, atoi(priority));
	return item;
}

static void
play_done(struct workqueue_world *w, const char *key)
{
	for (size_t i = 0; i < WORKQUEUE_HELD; i++)
		if (w->held[i].key && strcmp(w->held[i].key, key) == 0) {
			informer_workqueue_done(w->q, &w->held[i]);
			w->held[i].key = NULL;
			return;
		}
	fail_msg("nobody has %s", key);
}

static void
play_hold(struct workqueue_world *w, char *word)
{
	size_t i = 0;

	while (w->held[i].key)
		assert_true(++i < WORKQUEUE_HELD);
	w->held[i] = play_get(w, word);
}

static void
play_nothing(struct workqueue_world *w)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_get(w->q, 0, &item), -ETIMEDOUT);
	assert_int_equal(informer_workqueue_length(w->q), 0);
}

/* A failed key comes exactly after this wait. */
static void
play_wait(struct workqueue_world *w, char *key, uint64_t wait_ns)
{
	struct informer_work_item item;

	assert_int_equal(informer_workqueue_add_rate_limited(w->q, key, strlen(key)), 0);
	if (wait_ns > 0) {
		play_nothing(w);
		pass_time(w, wait_ns - 1);
		play_nothing(w);
		pass_time(w, 1);
	}
	item = play_get(w, key);
	informer_workqueue_done(w->q, &item);
}

static void
play_call(struct workqueue_world *w, const char *word)
{
	struct informer_work_item item;

	if (strcmp(word, "SHUT") == 0)
		informer_workqueue_shut_down(w->q);
	else if (strcmp(word, "OVER") == 0)
		assert_int_equal(informer_workqueue_get(w->q, -1, &item), -ESHUTDOWN);
	else if (strcmp(word, "DRAIN") == 0)
		assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, -1), 0);
	else if (strcmp(word, "DRAIN!") == 0)
		assert_int_equal(informer_workqueue_shut_down_with_drain(w->q, 1), -ETIMEDOUT);
	else
		fail_msg("no call: %s", word);
}

static void
play_word(struct workqueue_world *w, char *word)
{
	char *sign = strpbrk(word, "=?:");
	struct informer_work_item item;
	char kind = *word;

	if (kind == '+') {
		play_add(w, word + 1);
	} else if (kind == '/') {
		atomic_fetch_add(&w->now, amount(word + 1));
	} else if (isdigit((unsigned char)kind) && word[strlen(word) - 1] == 's') {
		pass_time(w, amount(word));
	} else if (kind == '#') {
		assert_int_equal(informer_workqueue_length(w->q), amount(word + 1));
	} else if (kind == '<') {
		play_hold(w, word + 1);
	} else if (kind == '>') {
		play_done(w, word + 1);
	} else if (kind == '-') {
		informer_workqueue_forget(w->q, word + 1, strlen(word + 1));
	} else if (strcmp(word, ".") == 0) {
		play_nothing(w);
	} else if (isupper((unsigned char)kind)) {
		play_call(w, word);
	} else if (!sign) {
		item = play_get(w, word);
		informer_workqueue_done(w->q, &item);
	} else if (*sign == '=') {
		*sign = '\0';
		assert_metric(w, word, amount(sign + 1));
	} else if (*sign == '?') {
		assert_int_equal(informer_workqueue_num_requeues(w->q, word, (size_t)(sign - word)),
				 amount(sign + 1));
	} else {
		*sign = '\0';
		play_wait(w, word, amount(sign + 1));
	}
}

void
play(struct workqueue_world *w, const char *format, ...)
{
	char script[512], *rest = script, *word;
	va_list args;

	va_start(args, format);
	assert_in_range(vsnprintf(script, sizeof(script), format, args), 1, sizeof(script) - 1);
	va_end(args);
	while ((word = strtok_r(rest, " ", &rest))) {
		if (!strchr(format, '%')) /* a loop would print too many words */
			print_message("%s\n", word);
		play_word(w, word);
	}
}
