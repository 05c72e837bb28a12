/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches, and explains failures; see cli.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tools/informerctl/cli.h"
#include "tools/printer/text.h"

#define SYSTEM_SOCKET "/run/informer/informer.sock"
#define PUBLISH_MS 5000 /* for the first arena of a daemon that runs */
#define SAY_MS 300      /* waits that take longer are announced */
#define ASK_MS 2000

const char *
cli_socket(struct informer *inf)
{
	struct informer_status status = {.size = sizeof(status)};

	return informer_status(inf, &status) == 0 ? status.socket : SYSTEM_SOCKET;
}

static uint64_t
time_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int
cli_fail_code(int code, const char *what)
{
	const char *remedy = informer_error_remedy(code);
	char text[512];

	informer_error_text(code, text, sizeof(text));
	return cli_fail("%s: %s%s%s", what, text, *remedy ? "; " : "", remedy);
}

/* Print a warning of the library. */
static void
warned(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	if (level <= INFORMER_LOG_WARNING)
		cli_fail("%s", message);
}

struct informer *
cli_attach(const struct cli_args *args, unsigned flags)
{
	struct informer_options options = {.size = sizeof(options),
					   .flags = flags,
					   .socket_path = args->socket,
					   .reader_name = "informerctl",
					   .log = warned};
	struct informer *inf;
	int r = informer_attach(&options, &inf);

	if (r == 0)
		return inf;
	if (r == -ENAMETOOLONG)
		cli_fail("the socket's path is too long for a Unix socket (107 bytes): %s",
			 args->socket ? args->socket : "$INFORMER_SOCKET");
	else
		cli_fail_code(r, "cannot attach");
	return NULL;
}

/* Tell other users that only root and informerd's user can read its arena now. Returns EXIT_USAGE. */
static int
say_who_may(const char *socket)
{
	char lock[300];
	struct stat st;

	snprintf(lock, sizeof(lock), "%s.lock", socket);
	if (stat(lock, &st) == 0 && geteuid() != 0 && st.st_uid != geteuid())
		cli_fail("the arena of the informerd that has ended can be read by root and its user (uid "
			 "%lu)",
			 (unsigned long)st.st_uid);
	return EXIT_USAGE;
}

/* Explain why there is no arena or no answer: code r, sentence `detail`. Returns the exit code. */
static int
explain(struct informer *inf, const struct cli_args *args, int r, const char *detail)
{
	const char *socket = cli_socket(inf);
	bool named = args->socket || getenv("INFORMER_SOCKET");

	switch (r) {
	case -ENOENT:
	case -ECONNREFUSED:
		cli_fail("%s\n"
			 "start it:            informerd --resource pods%s%s\n"
			 "or name its socket:  informerctl --socket PATH, or $INFORMER_SOCKET",
			 detail, named ? " --socket " : "", named ? socket : "");
		return say_who_may(socket);
	case -EACCES:
	case -EPERM:
		return cli_fail(
			"no permission to use informerd's socket %s\n"
			"run as root or informerd's user, or let your group in: informerd --allow-gid %lu",
			socket, (unsigned long)getegid());
	case INFORMER_E_CORRUPT:
		cli_fail("%s; start informerd, which sets it aside and lists again", detail);
		return EXIT_CONDITION;
	case INFORMER_E_REFUSED:
		return cli_fail("%s (socket %s)", *detail ? detail : "informerd refused this reader", socket);
	default:
		return cli_fail("cannot reach informerd at %s: %s", socket,
				*detail ? detail : informer_strerror(r));
	}
}

static bool
is_absent(int failure)
{
	return failure == -ENOENT || failure == -ECONNREFUSED;
}

/* A wait for informerd. begin_ms: since when. */
struct start_wait {
	struct informer *inf;
	uint64_t begin_ms;
	bool said;
};

/*
 * How long to poll before the next look, in ms: `limit_ms` (negative: none) ends the wait, the announcement
 * is due at SAY_MS. 0: the time is over.
 */
static int
start_wait_left(struct start_wait *wait, int limit_ms)
{
	uint64_t past = time_ms() - wait->begin_ms;

	if (limit_ms >= 0 && past >= (uint64_t)limit_ms)
		return 0;
	if (!wait->said && past >= SAY_MS) {
		cli_fail("waiting for informerd at %s ...", cli_socket(wait->inf));
		wait->said = true;
	}
	if (!wait->said && (limit_ms < 0 || limit_ms > SAY_MS))
		return (int)(SAY_MS - past);
	return limit_ms < 0 ? -1 : (int)((uint64_t)limit_ms - past);
}

/* Sleep until there is news of the connection, at most ms. */
static void
await_news(struct informer *inf, int ms)
{
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};

	poll(&news, 1, ms);
	informer_dispatch(inf);
}

int
cli_ask(struct informer *inf, const struct cli_args *args, char **ret_text, size_t *ret_length)
{
	struct start_wait wait = {.inf = inf, .begin_ms = time_ms()};
	char detail[512];
	int r, left;

	while (is_absent(r = informer_stat_json(inf, ASK_MS, ret_text, ret_length)) &&
	       (left = start_wait_left(&wait, args->start_ms)) != 0)
		await_news(inf, left);
	if (r == 0)
		return -1;
	informer_error_text(r, detail, sizeof(detail));
	return explain(inf, args, r, detail);
}

/* How long a failure may last: 0 if it is final. */
static int
start_limit(const struct cli_args *args, int failure)
{
	if (is_absent(failure))
		return args->start_ms;
	if (failure != 0 && failure != INFORMER_E_NOT_READY && failure != -ETIMEDOUT)
		return 0;
	return args->start_ms < 0 || args->start_ms > PUBLISH_MS ? args->start_ms : PUBLISH_MS;
}

/* Wait for the first commit while the failure is temporary. -1 with a snapshot, or the exit code. */
static int
begin_late(struct informer *inf, const struct cli_args *args, struct informer_snapshot *ret_snapshot)
{
	struct informer_status status = {.size = sizeof(status)};
	struct start_wait wait = {.inf = inf, .begin_ms = time_ms()};
	int r = INFORMER_E_NOT_READY, left;

	while (r == INFORMER_E_NOT_READY) {
		informer_status(inf, &status);
		left = start_wait_left(&wait, start_limit(args, status.failure));
		if (left == 0)
			break;
		await_news(inf, left);
		r = informer_begin(inf, ret_snapshot);
	}
	if (r != INFORMER_E_NOT_READY)
		return r == 0 ? -1 : cli_fail_code(r, "cannot read the arena");
	if (status.failure == 0 || status.failure == INFORMER_E_NOT_READY)
		return cli_fail("informerd runs, but has published nothing yet%s%s\n"
				"see informerctl stat; wait with informerctl wait --for=synced",
				*status.reason ? ": " : "", status.reason);
	return explain(inf, args, status.failure, status.reason);
}

int
cli_begin(struct informer *inf, const struct cli_args *args, struct informer_snapshot *ret_snapshot)
{
	int r = informer_begin(inf, ret_snapshot);

	if (r == INFORMER_E_NOT_READY)
		return begin_late(inf, args, ret_snapshot);
	return r == 0 ? -1 : cli_fail_code(r, "cannot read the arena");
}

/* " (connection refused)", as informerd reports it; "" without trouble. */
static void
trouble_of(struct informer *inf, char *text, size_t size)
{
	const char *trouble = NULL;
	cJSON *report = NULL;
	size_t length;
	char *json;

	text[0] = '\0';
	if (informer_stat_json(inf, ASK_MS, &json, &length) == 0) {
		report = cJSON_ParseWithLength(json, length);
		informer_free(inf, json);
		trouble = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(report, "trouble"));
	}
	if (trouble && *trouble)
		snprintf(text, size, " (%s)", trouble);
	cJSON_Delete(report);
}

int
cli_fail_not_known(struct informer *inf, const char *name)
{
	char trouble[512];

	trouble_of(inf, trouble, sizeof(trouble));
	cli_fail("'%s': informerd still asks the API server what it serves%s\n"
		 "see informerctl stat; wait with informerctl wait --for=synced %s",
		 name, trouble, name);
	return EXIT_CONDITION;
}

/* Wait for the next commit, at most ms, and begin another snapshot. 0, or a failure. */
static int
begin_next(struct informer *inf, struct informer_snapshot *snap, int ms)
{
	struct informer_moment seen;
	int r = informer_snapshot_moment(snap, &seen);

	informer_end(snap);
	if (r == 0)
		informer_wait_commit(inf, &seen, ms);
	return informer_begin(inf, snap);
}

int
cli_resource(struct informer *inf, const char *name, int ms, struct informer_snapshot *snap,
	     struct informer_resource **ret_resource, struct informer_resource_info *ret_info)
{
	uint64_t end = ms < 0 ? UINT64_MAX : time_ms() + (uint64_t)ms, now;
	int r = informer_resource_open(inf, name, ret_resource);
	bool said = ms >= 0;
	char trouble[512];

	if (r < 0)
		return r;
	while ((r = informer_resource_info(snap, *ret_resource, ret_info)) == INFORMER_E_NOT_READY) {
		now = time_ms();
		if (now >= end)
			return r;
		if (!said) {
			trouble_of(inf, trouble, sizeof(trouble));
			cli_fail("%s: waiting: informerd still asks the API server what it serves%s", name,
				 trouble);
			said = true;
		}
		r = begin_next(inf, snap, ms < 0 ? -1 : (int)(end - now));
		if (r < 0)
			return r;
	}
	return r;
}

int
cli_wait_synced(struct informer *inf, const struct cli_args *args, const char *name, int ms,
		struct informer_snapshot *snap)
{
	int quiet = ms >= 0 && ms < SAY_MS ? ms : SAY_MS;

	informer_end(snap);
	if (informer_wait_synced(inf, name, quiet) == -ETIMEDOUT && quiet != ms) {
		cli_fail("%s: waiting for the first list ...", name);
		informer_wait_synced(inf, name, ms < 0 ? -1 : ms - quiet);
	}
	return cli_begin(inf, args, snap);
}

int
cli_finish(struct text *out)
{
	int r = text_flush(out);

	if (r == 0 || r == -EPIPE)
		return 0;
	return cli_fail("cannot write the output: %s", strerror(-r));
}
