/* SPDX-License-Identifier: Apache-2.0 */
/* Connects intake, supervisor and processes; see runner.h. */
#include "tools/informer-run/runner.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/informer-run/dead_letters.h"
#include "tools/informer-run/handler_process.h"
#include "tools/informer-run/say.h"

#define ODD_LINES_MAX 10

struct runner_place {
	struct runner *runner;
	uint32_t worker;
	struct process process;
};

/*
 * odd_lines    number of invalid lines from handlers
 * start_error  the last result of starting a process; a failure is printed if it differs
 */
struct runner {
	const struct handler_settings *settings;
	struct loop *loop;
	struct supervisor *supervisor;
	struct intake *intake;
	int dead_letters;
	uint32_t odd_lines;
	int start_error;
	bool wants_dispatch;
	bool hinted;
	bool draining;
	bool inputs_closed;
	struct runner_place places[];
};

/* ---- answers of handlers ---- */

static void
odd_line(struct runner *runner, const char *line)
{
	if (runner->odd_lines++ < ODD_LINES_MAX)
		say(runner->settings->name,
		    "a handler wrote '%.100s', which is neither 'ack SEQ' nor 'retry SEQ [ms]' of an event "
		    "it has%s",
		    line,
		    runner->odd_lines == ODD_LINES_MAX ? "; further ones are not told"
		    : runner->odd_lines == 1           ? "; what is for people belongs on standard error"
						       : "");
}

/* Take an answer: "ack 12", "retry 12", "retry 12 500". */
static void
take_line(void *context, char *line)
{
	struct runner_place *place = context;
	struct runner *runner = place->runner;
	unsigned long long seq, ms = 0;
	int n = 0, end = 0;

	if (!line) {
		odd_line(runner, "(a line that is too long)");
		return;
	}
	if (sscanf(line, "ack %llu %n", &seq, &n) == 1 && n > 0 && !line[n] && line[4] != '-') {
		if (!supervisor_acknowledged(runner->supervisor, place->worker, seq, loop_now()))
			odd_line(runner, line);
	} else if (sscanf(line, "retry %llu %n%llu %n", &seq, &n, &ms, &end) >= 1 && n > 0 &&
		   (!line[n] || (end > n && !line[end])) && !strchr(line, '-')) {
		if (!supervisor_retry(runner->supervisor, place->worker, seq,
				      end > n ? (int64_t)(ms < INT32_MAX ? ms : INT32_MAX) : -1, loop_now()))
			odd_line(runner, line);
	} else {
		odd_line(runner, line);
	}
}

/* ---- actions for the supervisor ---- */

/* The environment of a handler process, with exec also of its event. The caller frees the strings. */
#define ENVIRONMENT_MAX 8
static int
make_environment(const struct runner_place *place, const struct event *event,
		 char *environment[ENVIRONMENT_MAX])
{
	const struct handler_settings *settings = place->runner->settings;
	int n = 0, bad = 0;

	bad |= asprintf(&environment[n++], "INFORMER_CONSUMER=%s", settings->consumer) < 0;
	bad |= asprintf(&environment[n++], "INFORMER_RESOURCE=%s", settings->resource) < 0;
	bad |= asprintf(&environment[n++], "INFORMER_WORKER=%" PRIu32, place->worker) < 0;
	if (event) {
		const char *slash = strchr(event->key, '/');

		bad |= asprintf(&environment[n++], "INFORMER_TYPE=%s", change_type_name(event->type)) < 0;
		bad |= asprintf(&environment[n++], "INFORMER_NAMESPACE=%.*s",
				slash ? (int)(slash - event->key) : 0, event->key) < 0;
		bad |= asprintf(&environment[n++], "INFORMER_NAME=%s", slash ? slash + 1 : event->key) < 0;
		bad |= asprintf(&environment[n++], "INFORMER_SEQ=%" PRIu64, event->seq) < 0;
	}
	environment[n] = NULL;
	return bad ? -ENOMEM : 0;
}

static int
start_process(struct runner_place *place, const struct event *event)
{
	struct runner *runner = place->runner;
	char *environment[ENVIRONMENT_MAX] = {NULL};
	int r = make_environment(place, event, environment);

	if (r == 0)
		r = process_start(&place->process, runner->settings->argv, environment,
				  !runner->settings->exec);
	for (size_t i = 0; i < ENVIRONMENT_MAX; i++)
		free(environment[i]);
	if (r < 0 && r != runner->start_error)
		say(runner->settings->name, "cannot start %s: %s; it is tried again",
		    runner->settings->argv[0], strerror(-r));
	runner->start_error = r;
	return r;
}

static int
start(void *context, uint32_t worker)
{
	struct runner *runner = context;

	return start_process(&runner->places[worker], NULL);
}

static int
write_event(struct runner_place *place, const struct event *event)
{
	struct text line = TEXT_INIT(-1);
	int r;

	event_line(event, &line);
	r = line.error < 0 ? line.error : process_write(&place->process, line.data, line.length);
	text_done(&line);
	return r;
}

static int
send_event(void *context, uint32_t worker, const struct event *event)
{
	struct runner *runner = context;
	struct runner_place *place = &runner->places[worker];
	int r = runner->settings->exec ? start_process(place, event) : 0;

	if (r < 0)
		return r;
	r = write_event(place, event);
	if (runner->settings->exec)
		process_close_input(&place->process);
	/*
	 * Without memory for the line the process would wait for ever: kill it. -EBADF: the process closed
	 * its input; its end or the deadline follows.
	 */
	if (r == -ENOMEM)
		process_signal(&place->process, SIGKILL);
	return 0;
}

static void
send_mark(void *context, uint32_t worker, const struct event *mark)
{
	struct runner *runner = context;

	if (!runner->settings->exec)
		write_event(&runner->places[worker], mark);
	else if (worker == 0)
		say(runner->settings->name, "%s: %s", change_type_name(mark->type),
		    mark->type == CHANGE_COALESCED ? "it fell behind, or was away; what follows is one event "
						     "an object, with its newest state"
		    : mark->type == CHANGE_RESYNC
			    ? "it was away for too long; what follows is everything that is present"
			    : "that was everything; what was not told is gone");
}

/*
 * A hint for authors of handlers, once, while no event was answered: how to answer, and that the output may
 * wait in a buffer.
 */
static const char *
answering_hint(struct runner *runner)
{
	struct supervisor_stats stats;

	supervisor_stats(runner->supervisor, &stats);
	if (runner->hinted || runner->settings->exec || stats.processed > 0 || stats.retries > 0)
		return "";
	runner->hinted = true;
	return "; nothing was acknowledged yet: a handler writes 'ack SEQ' for each event, and flushes it "
	       "(python -u, jq --unbuffered, stdbuf -oL), "
	       "and reads on; or is run for each event, with --exec-per-event";
}

static void
kill_worker(void *context, uint32_t worker, const char *why)
{
	struct runner *runner = context;

	say(runner->settings->name, "worker %u is killed: %s%s", worker, why, answering_hint(runner));
	process_signal(&runner->places[worker].process, SIGKILL);
}

static void
acknowledge(void *context, const struct informer_cursor *cursor)
{
	struct runner *runner = context;

	if (runner->intake)
		intake_acknowledge(runner->intake, cursor);
}

static int
set_aside(void *context, const struct event *event, const char *why)
{
	struct runner *runner = context;
	int r = dead_letters_add(runner->dead_letters, runner->settings->consumer, runner->settings->resource,
				 event, why);
	const char *type = change_type_name(event->type), *of = event->key ? " of " : "",
		   *key = event->key ? event->key : "";

	if (r < 0)
		say(runner->settings->name, "cannot write %s: %s; %s%s%s is %s",
		    runner->settings->dead_letters, strerror(-r), type, of, key,
		    event->key ? "tried again" : "left out");
	else
		say(runner->settings->name, "%s%s%s is set aside after %u crashes (%s): see %s%s", type, of,
		    key, event->crashes, why, runner->settings->dead_letters,
		    event->key ? "" : "; it has no `object`, see informer-run(1)");
	return r;
}

static void
hold(void *context, bool hold)
{
	struct runner *runner = context;

	if (!runner->intake)
		return;
	intake_hold(runner->intake, hold);
	runner->wants_dispatch |= !hold;
}

static const struct supervisor_ops ops = {start,       send_event, send_mark, kill_worker,
					  acknowledge, set_aside,  hold};

/* ---- public functions ---- */

int
runner_new(struct loop *loop, struct informer *informer, const struct handler_settings *settings,
	   struct runner **ret_runner)
{
	struct supervisor_options options = SUPERVISOR_OPTIONS;
	struct runner *runner = calloc(1, sizeof(*runner) + settings->workers * sizeof(struct runner_place));
	int r;

	if (!runner)
		return -ENOMEM;
	runner->settings = settings;
	runner->loop = loop;
	runner->dead_letters = -1;
	for (uint32_t i = 0; i < settings->workers; i++) {
		runner->places[i].runner = runner;
		runner->places[i].worker = i;
		process_init(&runner->places[i].process, loop, take_line, &runner->places[i]);
	}
	r = process_check(settings->argv[0]);
	if (r < 0) {
		say(settings->name, "cannot run %s: %s", settings->argv[0], strerror(-r));
		goto out;
	}
	r = dead_letters_open(settings->dead_letters);
	if (r < 0) {
		say(settings->name,
		    "cannot open %s for dead letters: %s; name a place with --dead-letters FILE",
		    settings->dead_letters, strerror(-r));
		goto out;
	}
	runner->dead_letters = r;
	options.workers = settings->workers;
	options.window = settings->window;
	options.deadline_ms = settings->deadline_ms;
	options.max_crashes = settings->max_crashes;
	options.exec = settings->exec;
	r = supervisor_new(&options, &ops, runner, &runner->supervisor);
	if (r == 0)
		r = intake_new(informer, settings, runner->supervisor, &runner->intake);
out:
	if (r < 0)
		runner_free(runner);
	else
		*ret_runner = runner;
	return r;
}

void
runner_free(struct runner *runner)
{
	if (!runner)
		return;
	intake_free(runner->intake);
	supervisor_free(runner->supervisor);
	for (uint32_t i = 0; i < runner->settings->workers; i++)
		process_done(&runner->places[i].process);
	if (runner->dead_letters >= 0)
		close(runner->dead_letters);
	free(runner);
}

/* Close the processes' inputs when the drain has no event under way. */
static void
close_inputs(struct runner *runner)
{
	if (!runner->draining || runner->inputs_closed || supervisor_busy(runner->supervisor))
		return;
	runner->inputs_closed = true;
	for (uint32_t i = 0; i < runner->settings->workers; i++)
		if (runner->places[i].process.pid > 0)
			process_close_input(&runner->places[i].process);
}

void
runner_tick(struct runner *runner)
{
	supervisor_tick(runner->supervisor, loop_now());
	close_inputs(runner);
}

uint64_t
runner_next(const struct runner *runner)
{
	return supervisor_next(runner->supervisor);
}

void
runner_dispatched(struct runner *runner)
{
	intake_dispatched(runner->intake);
}

bool
runner_lacks_memory(const struct runner *runner)
{
	return intake_lacks_memory(runner->intake);
}

bool
runner_wants_dispatch(struct runner *runner)
{
	bool wants = runner->wants_dispatch;

	runner->wants_dispatch = false;
	return wants;
}

static void
ended(struct runner_place *place)
{
	struct runner *runner = place->runner;
	enum supervisor_end end = SUPERVISOR_END_CRASH;
	const char *mark;
	char why[64];
	int status;

	supervisor_closing(runner->supervisor, place->worker);
	status = process_reap(&place->process, why, sizeof(why));
	mark = supervisor_unanswered_mark(runner->supervisor, place->worker);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		end = SUPERVISOR_END_DONE;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 75) /* EX_TEMPFAIL */
		end = SUPERVISOR_END_RETRY;
	if (!runner->settings->exec && !runner->draining)
		say(runner->settings->name, "worker %u ended: %s%s%s%s%s", place->worker, why,
		    mark ? "; it answered nothing after " : "", mark ? mark : "",
		    mark ? ", which has no `object`, see informer-run(1)" : "", answering_hint(runner));
	supervisor_exited(runner->supervisor, place->worker, end, why, loop_now());
}

bool
runner_child_ended(struct runner *runner, pid_t pid)
{
	for (uint32_t i = 0; i < runner->settings->workers; i++) {
		if (runner->places[i].process.pid == pid) {
			ended(&runner->places[i]);
			return true;
		}
	}
	return false;
}

void
runner_drain(struct runner *runner)
{
	runner->draining = true;
	supervisor_drain(runner->supervisor);
	close_inputs(runner);
}

bool
runner_busy(const struct runner *runner)
{
	for (uint32_t i = 0; i < runner->settings->workers; i++)
		if (runner->places[i].process.pid > 0)
			return true;
	return supervisor_busy(runner->supervisor);
}

static void
add_string(struct text *out, const char *name, const char *value)
{
	text_addf(out, "\"%s\":", name);
	change_string(value, strlen(value), out);
	text_addc(out, ',');
}

void
runner_status(const struct runner *runner, struct text *out)
{
	const struct handler_settings *settings = runner->settings;
	struct supervisor_stats stats;
	struct intake_stats intake;
	uint64_t now = loop_now();

	supervisor_stats(runner->supervisor, &stats);
	intake_stats(runner->intake, &intake);
	text_addc(out, '{');
	add_string(out, "name", settings->name);
	add_string(out, "consumer", settings->consumer);
	add_string(out, "resource", settings->resource);
	add_string(out, "namespace", settings->namespace_ ? settings->namespace_ : "");
	add_string(out, "state",
		   runner->draining	? "draining" :
		   !intake.subscribed	? "waiting" :
		   !intake.synced	? "listing" :
					  "running");
	add_string(out, "deadLetterFile", settings->dead_letters);
	text_addf(out,
		  "\"workers\":%u,\"workersUp\":%u,\"processed\":%" PRIu64 ",\"retries\":%" PRIu64
		  ",\"restarts\":%" PRIu64 ",\"deadLetters\":%" PRIu64 ",",
		  settings->workers, stats.up, stats.processed, stats.retries, stats.restarts,
		  stats.dead_letters);
	text_addf(out,
		  "\"lagEvents\":%" PRIu64 ",\"lagMs\":%" PRIu64 ",\"underWay\":%" PRIu64
		  ",\"coalesced\":%" PRIu64 ",\"resyncs\":%" PRIu64 ",\"resyncsSetAside\":%" PRIu64
		  ",\"pids\":[",
		  stats.held + intake.waiting, stats.oldest_ms > 0 ? now - stats.oldest_ms : 0,
		  stats.under_way, stats.coalesced, stats.resyncs, stats.resyncs_aside);
	for (uint32_t i = 0, n = 0; i < settings->workers; i++)
		if (runner->places[i].process.pid > 0)
			text_addf(out, "%s%d", n++ > 0 ? "," : "", (int)runner->places[i].process.pid);
	text_adds(out, "]}");
}
