/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a script line by line between informer-sim and the Reflector. Both come to rest before each line. */
#include "tests/conversations/talk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conversations/record.h"
#include "tests/conversations/request.h"
#include "tests/conversations/played_server.h"
#include "tests/conversations/settle.h"
#include "tests/conversations/told_stat.h"
#include "writer/base/message.h"

#define TOO_LONG_MS  7200000u	/* virtual time in which the client must send a request */

struct talk {
	const struct script *script;
	const struct script_line *line;	/* being played */
	uv_loop_t loop;
	struct talk_server *server;
	struct talk_client *client;
	struct talk_client_options options;
	uint64_t start_ms;		/* of virtual time */
	struct record record;
	char *report;			/* set once a line has failed */

	struct settling settling;
	uint64_t refused;		/* the part of settling.unheard that the script names */
	size_t server_lines;		/* lines of the server's log that count_gone() has read */
	unsigned gone;			/* requests that the client gave up, not yet named */
	bool another_time;		/* the script is for another wire, or for other dice */
	bool of_one_wire;		/* the script names its wire */
	bool waiting;			/* the request of the last `client` line needs an answer */
};

static uint64_t
now_ms(const struct talk *t)
{
	return t->client ? talk_client_clock(t->client)->now : 0;
}

/* ---- reports ------------------------------------------------------------------ */

static double
seconds(const struct talk *t)
{
	return (double)(now_ms(t) - t->start_ms) / 1000;
}

/* Keeps the first failure. Returns -EINVAL. */
static int __attribute__((format(printf, 2, 3)))
fail(struct talk *t, const char *format, ...)
{
	char *store = t->client ? talk_client_store(t->client) : NULL;
	va_list arguments;

	va_start(arguments, format);
	if (!t->report)
		t->report = record_report(&t->record, t->script->name, t->line, seconds(t), t->server, store,
					  format, arguments);
	va_end(arguments);
	free(store);
	return -EINVAL;
}

/* As fail(), with an error that is freed. */
static int
fail_with(struct talk *t, char *error)
{
	int r = fail(t, "%s", error ? error : "?");

	free(error);
	return r;
}

/* ---- rest ------------------------------------------------------------------------ */

/* Count, by the server's log, the requests and streams that clients gave up. */
static void
count_gone(struct talk *t)
{
	static const char *const ends[] = { ": the client went", "-> the client went", ": freeze" };
	char *log = talk_server_log(t->server, t->server_lines), *rest = log, *line;

	while ((line = strsep(&rest, "\n")) && rest) {
		t->server_lines++;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			t->gone += strlen(line) > strlen(ends[i]) &&
				   strcmp(line + strlen(line) - strlen(ends[i]), ends[i]) == 0;
	}
	free(log);
}

static int
come_to_rest(struct talk *t)
{
	if (!t->client)
		return 0;
	if (settle(&t->settling) < 0)
		return fail(t, "the two do not come to rest");
	count_gone(t);
	return 0;
}

/* Fails if something happened that the script does not name. */
static int
expect_nothing(struct talk *t)
{
	char *held = talk_server_held(t->server);
	bool any = held[0] && !t->waiting;

	held[strcspn(held, "\n")] = '\0';
	if (any)
		fail(t, "the client asks, which no line tells: %s", held);
	free(held);
	if (any)
		return -EINVAL;
	if (t->settling.unheard > t->refused)
		return fail(t, "the client was refused, which no line tells");
	return t->gone > 0 ? fail(t, "the client hung up, which no line tells") : 0;
}

/* ---- client, answers, stream -------------------------------------------------------- */

static int
take_request(struct talk *t)
{
	char *held = talk_server_held(t->server), *expected = strdup(t->line->text), *last = held,
	     *why = NULL;
	int r = 0;

	for (char *end; (end = strchr(last, '\n')) && end[1];)
		last = end + 1;
	last[strcspn(last, "\n")] = '\0';
	if (t->waiting)
		r = fail(t, "the request before was not answered");
	else if (!last[0])
		r = fail(t, "the client asks for nothing");
	else
		r = request_compare(last, expected, &why) < 0 ? fail_with(t, why) : 0;
	t->waiting = r == 0;
	free(held);
	free(expected);
	return r;
}

static int
do_client(struct talk *t)
{
	struct reflector_status status;

	if (strcmp(t->line->text, "hangs up") == 0) {
		if (t->gone == 0)
			return fail(t, "the client did not hang up");
		t->gone--;
		return 0;
	}
	if (t->gone > 0)
		return fail(t, "the client hung up, which no line tells");
	if (strcmp(t->line->text, "is refused") != 0)
		return take_request(t);
	talk_client_status(t->client, &status);
	if (t->settling.unheard == t->refused)
		return fail(t, "the client was not refused: %s", status.last_error);
	t->refused++;
	return 0;
}

/* The server's last answer must end with the text behind 200, in the syntax of this play. */
static int
check_answer(struct talk *t, const char *expected)
{
	static const char protobuf[] = " in protobuf";
	char *log, *last, *arrow;
	bool same;
	int r = 0;

	if (come_to_rest(t) < 0)
		return -EINVAL;
	log = talk_server_log(t->server, 0);
	last = log;
	for (char *at = log, *end; (end = strchr(at, '\n')); at = end + 1) {
		arrow = strstr(at, " -> 200 ");
		if (arrow && arrow < end)
			last = arrow + 8;
	}
	last[strcspn(last, "\n")] = '\0';
	same = strncmp(last, expected, strlen(expected)) == 0 &&
	       strcmp(last + strlen(expected), t->options.wire == TALK_PROTOBUF ? protobuf : "") == 0;
	if (!same)
		r = fail(t, "the server answered otherwise: %s", last);
	free(log);
	return r;
}

/*
 * Add the rule "when WATCH `moment` then `action` once". The action is of the fault language, or `event …`
 * with events to send.
 */
static int
do_to_stream(struct talk *t, const char *moment, const char *action)
{
	char *copy = strdup(action), *said = NULL, *rule = NULL, *error = NULL;
	bool events = strncmp(action, "event ", 6) == 0;
	int r = 0;

	if (events)
		r = talk_server_events(t->server, copy + 6, &said, &error);
	if (r == 0 && asprintf(&rule, "when WATCH %s then %s%s once", moment, events ? "say " : "",
			       events ? said : action) < 0)
		abort();
	if (r == 0)
		r = talk_server_rule(t->server, rule, &error);
	free(copy);
	free(said);
	free(rule);
	return r < 0 ? fail_with(t, error) : 0;
}

/* "after N events ACTION": answer the request, then do ACTION to its stream. */
static int
answer_then(struct talk *t)
{
	const char *action = t->line->text;
	char moment[32], *error = NULL;

	for (unsigned i = 0; i < 3 && action; i++) {
		action = strchr(action, ' ');
		action += action != NULL;
	}
	if (!action || action - t->line->text > (ptrdiff_t)sizeof(moment))
		return fail(t, "say after 2 events and what happens then");
	snprintf(moment, sizeof(moment), "%.*s", (int)(action - t->line->text) - 1, t->line->text);
	if (do_to_stream(t, moment, action) < 0)
		return -EINVAL;
	return talk_server_answer(t->server, "", &error) < 0 ? fail_with(t, error) : 0;
}

static int
do_answers(struct talk *t)
{
	const char *text = t->line->text;
	bool as_it_is = strcmp(text, "200") == 0 || strncmp(text, "200 ", 4) == 0;
	char *error = NULL;

	if (!t->waiting)
		return fail(t, "no request waits for an answer");
	t->waiting = false;
	if (strncmp(text, "after ", 6) == 0)
		return answer_then(t);
	if (talk_server_answer(t->server, as_it_is ? "" : text, &error) < 0)
		return fail_with(t, error);
	return as_it_is && text[3] ? check_answer(t, text + 4) : 0;
}

/* An action that cuts a line in two waits for the next line. */
static int
do_stream(struct talk *t)
{
	static const char *const spoils[] = { "close mid-frame", "truncate", "invalid" };
	const char *moment = "idle";

	for (size_t i = 0; i < 3; i++)
		if (strcmp(t->line->text, spoils[i]) == 0)
			moment = "after 0ms";
	return do_to_stream(t, moment, t->line->text);
}

/* ---- time ------------------------------------------------------------------------------- */

static int
read_time(struct talk *t, const char *text, size_t length, uint64_t *ret_ms)
{
	if (script_read_time(text, length, ret_ms) < 0)
		return fail(t, "a time is 800ms, 1.6s, 2m or 1h, and not \"%.*s\"", (int)length, text);
	return 0;
}

static uint64_t
begun(struct talk *t)
{
	struct talk_client_wire wire;

	talk_client_wire(t->client, &wire);
	return wire.begun;
}

/* Let time pass until `end`, or until the client begins a request. */
static int
advance(struct talk *t, uint64_t end)
{
	struct virtual_clock *clock = talk_client_clock(t->client);
	uint64_t before = begun(t);

	while (clock->now < end && begun(t) == before) {
		uint64_t step = virtual_clock_next(clock);

		virtual_clock_advance(clock, step < end - clock->now ? step : end - clock->now);
		if (come_to_rest(t) < 0)
			return -EINVAL;
	}
	return 0;
}

static int
do_after(struct talk *t)
{
	const char *text = t->line->text, *to = strstr(text, "..");
	uint64_t least = 0, most = 0, start = now_ms(t), before = begun(t), waited;

	if (read_time(t, text, to ? (size_t)(to - text) : strlen(text), &least) < 0)
		return -EINVAL;
	most = least;
	if (to && read_time(t, to + 2, strlen(to + 2), &most) < 0)
		return -EINVAL;
	if (expect_nothing(t) < 0 || advance(t, start + TOO_LONG_MS) < 0)
		return -EINVAL;
	waited = now_ms(t) - start;
	if (begun(t) == before)
		return fail(t, "the client asks for nothing for two hours");
	if (waited < least || waited > most)
		return fail(t, "the client asks after %.3f s, and not after %s", (double)waited / 1000, text);
	return 0;
}

static int
do_pass(struct talk *t)
{
	uint64_t ms = 0, start = now_ms(t), before = begun(t);

	if (read_time(t, t->line->text, strlen(t->line->text), &ms) < 0 || expect_nothing(t) < 0 ||
	    advance(t, start + ms) < 0)
		return -EINVAL;
	if (begun(t) != before)
		return fail(t, "the client asks after %.3f s, which no line tells",
			    (double)(now_ms(t) - start) / 1000);
	return 0;
}

/* ---- what can be seen ---------------------------------------------------------------------- */

/* Cut the versions out of all words: "a@5 at 20" becomes "a at 20". */
static void
forget_versions(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		if (*from == '@')
			from += 1 + strspn(from + 1, "0123456789");
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* Compare without versions where the script names none. */
static int
compare_words(struct talk *t, const char *what, char *is)
{
	int r = 0;

	if (!strchr(t->line->text, '@'))
		forget_versions(is);
	if (strcmp(is, t->line->text) != 0)
		r = fail(t, "%s is otherwise\n  is        %s\n  expected  %s", what, is, t->line->text);
	free(is);
	return r;
}

static int
do_told(struct talk *t)
{
	char *told = talk_client_told(t->client);

	if (told[0] == '\0') {
		free(told);
		told = strdup("nothing");
	}
	return compare_words(t, "what handlers were told", told);
}

static int
do_stat(struct talk *t)
{
	struct reflector_status status;
	char *why = NULL;

	talk_client_status(t->client, &status);
	return stat_compare(&status, t->line->text, &why) < 0 ? fail_with(t, why) : 0;
}

static int
do_log(struct talk *t)
{
	return record_log_has(&t->record, t->line->text) ? 0 : fail(t, "the client has not logged that");
}

/* ---- the play --------------------------------------------------------------------------------- */

static int
start_client(struct talk *t)
{
	char *error = NULL;

	t->options.port = talk_server_port(t->server);
	if (talk_client_new(&t->options, &t->client, &error) < 0)
		return fail_with(t, error);
	t->settling = (struct settling){ &t->loop, t->server, &t->client, 1, 0, 0 };
	t->start_ms = now_ms(t);
	talk_client_start(t->client);
	return come_to_rest(t);
}

static int
do_server(struct talk *t)
{
	char *text = strdup(t->line->text), *error = NULL;
	int r = talk_server_do(t->server, text, &error);

	free(text);
	return r < 0 ? fail_with(t, error) : 0;
}

static int
do_given(struct talk *t)
{
	static const char *const dice[] = {
		[TALK_LOWEST] = "lowest", [TALK_HIGHEST] = "highest", [TALK_DRAWN] = "drawn"};
	static const char *const wires[] = {[TALK_JSON] = "json", [TALK_PROTOBUF] = "protobuf"};

	if (t->client)
		return fail(t, "given stands before all others");
	if (strncmp(t->line->text, "chance ", 7) == 0) {
		t->another_time |= strcmp(t->line->text + 7, dice[t->options.dice]) != 0;
	} else if (strncmp(t->line->text, "wire ", 5) == 0) {
		t->of_one_wire = true;
		t->another_time |= strcmp(t->line->text + 5, wires[t->options.wire]) != 0;
	} else {
		t->options.resource = t->line->text;
	}
	return 0;
}

static int
do_store(struct talk *t)
{
	return compare_words(t, "the store", talk_client_store(t->client));
}

static int
do_line(struct talk *t)
{
	static int (*const words[])(struct talk *t) = {
		[SCRIPT_GIVEN] = do_given,     [SCRIPT_SERVER] = do_server, [SCRIPT_CLIENT] = do_client,
		[SCRIPT_ANSWERS] = do_answers, [SCRIPT_STREAM] = do_stream, [SCRIPT_AFTER] = do_after,
		[SCRIPT_PASS] = do_pass,       [SCRIPT_STORE] = do_store,   [SCRIPT_TOLD] = do_told,
		[SCRIPT_STAT] = do_stat,       [SCRIPT_LOG] = do_log,
	};
	enum script_word word = t->line->word;

	if (word != SCRIPT_GIVEN && word != SCRIPT_SERVER && !t->client && start_client(t) < 0)
		return -EINVAL;
	return words[word](t);
}

static int
play(struct talk *t)
{
	for (size_t i = 0; i < t->script->count && !t->another_time; i++) {
		t->line = &t->script->lines[i];
		if (do_line(t) < 0 || come_to_rest(t) < 0)
			return -EINVAL;
		record_line(&t->record, t->line, seconds(t));
	}
	if (t->another_time)
		return 0;
	if (!t->client)
		return fail(t, "the client has no part in it");
	if (t->options.wire == TALK_PROTOBUF && !t->of_one_wire && !talk_client_kept_to_protobuf(t->client))
		return fail(t, "the client did not keep to protobuf, which no line tells");
	return expect_nothing(t);
}

int
talk_play(const struct script *script, enum talk_wire wire, enum talk_dice dice, uint64_t seed,
	  char **ret_report)
{
	struct talk t = {.script = script,
			 .line = script->lines,
			 .options = {.resource = "pods", .dice = dice, .seed = seed, .wire = wire}};
	int r;

	record_open(&t.record);
	uv_loop_init(&t.loop);
	t.options.loop = &t.loop;
	t.server = talk_server_new(true);
	r = play(&t);
	talk_client_free(t.client);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&t.loop) < 0)
		abort();
	talk_server_free(t.server);
	record_close(&t.record);
	*ret_report = t.report;
	return r;
}
