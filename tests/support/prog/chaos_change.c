/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos_change HISTORY SEED RATE [TOKEN CA_FILE]: changes pods at random through an API server, about RATE a
 * second, as standard input says, and writes each state that it made down (tests/support/pod_changes.h).
 * Several threads do, each with names of its own.
 *
 *	server URL	from now on this one; the first one gets the pods that are never deleted
 *	to N		make changes until there are N in all
 *	tell N		answered by "at" as soon as there are N, while it goes on
 *	wait		answered by "paused" when all that may be made are made
 *	pause		answered by "paused" as soon as no request is under way; no more are made
 *	era		while paused: the server's state is another one than its history led to; list it, and
 *			write that down: "RV E - - 0 0 0", then a line of type L for each pod; answered by
 *			"listed"
 *
 * Each answer ends with the count of changes. Ends with its input; exits 1 when the server says anything that
 * is not expected.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/pod_changes.h"

#define THREADS 3
#define NAMES	40 /* of each, in each namespace */

static struct pod_changes changers[THREADS];
static char url[256];
static long pause_ns;
static FILE *history;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long count, limit; /* guarded by the lock, as are those below */
static unsigned busy;
static bool ends;

/* Wait until a change may be made. False: the program ends. */
static bool
may_go(void)
{
	bool go;

	pthread_mutex_lock(&lock);
	while (!ends && count >= limit)
		pthread_cond_wait(&changed, &lock);
	go = !ends;
	busy += go;
	pthread_mutex_unlock(&lock);
	return go;
}

static void *
run(void *context)
{
	struct pod_changes *c = context;
	struct timespec pause = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};
	unsigned burst = 0, made;

	while (may_go()) {
		made = pod_changes_step(c);
		pthread_mutex_lock(&lock);
		busy--;
		count += made;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		if (burst > 0)
			burst--;
		else if (event_model_draw(&c->dice, 200) == 0)
			burst = event_model_draw(&c->dice, 200);
		else
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static void
answer(const char *word)
{
	printf("%s %lu\n", word, count);
	fflush(stdout);
}

static void
connect_to(const char *to)
{
	static bool anchored;

	snprintf(url, sizeof(url), "%s", to);
	if (!anchored)
		pod_changes_anchors(&changers[0]);
	anchored = true;
}

static void
list_anew(void)
{
	cJSON *list = pod_changes_get(&changers[0], "/api/v1/pods"), *pod;

	for (unsigned i = 0; i < THREADS; i++)
		memset(changers[i].there, 0, sizeof(changers[i].there));
	fprintf(history, "%s E - - 0 0 0\n", event_model_text(list, "metadata", "resourceVersion"));
	cJSON_ArrayForEach(pod, cJSON_GetObjectItemCaseSensitive(list, "items"))
	{
		pod_changes_note(history, "L", pod);
		for (unsigned i = 0; i < THREADS; i++)
			pod_changes_found(&changers[i], pod);
	}
	cJSON_Delete(list);
}

/* With the lock held, no thread begins a request. */
static void
obey(const char *command, const char *argument)
{
	unsigned long n = strtoul(argument, NULL, 10);

	if (strcmp(command, "server") == 0) {
		connect_to(argument);
	} else if (strcmp(command, "era") == 0) {
		list_anew();
		answer("listed");
	} else if (strcmp(command, "to") == 0 || strcmp(command, "pause") == 0) {
		limit = *command == 'p' ? 0 : n;
		pthread_cond_broadcast(&changed);
		if (*command == 'p') {
			while (busy > 0)
				pthread_cond_wait(&changed, &lock);
			answer("paused");
		}
	} else if (strcmp(command, "wait") == 0) {
		while (count < limit || busy > 0)
			pthread_cond_wait(&changed, &lock);
		answer("paused");
	} else if (strcmp(command, "tell") == 0) {
		while (count < n && (count < limit || busy > 0))
			pthread_cond_wait(&changed, &lock);
		answer("at");
	} else {
		fprintf(stderr, "chaos_change: what is \"%s\"?\n", command);
		exit(1);
	}
}

int
main(int argc, char **argv)
{
	char line[300], command[32], argument[256];
	pthread_t threads[THREADS];

	if (argc != 4 && argc != 6)
		return 2;
	history = fopen(argv[1], "ae");
	if (!history || curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		return 1;
	pause_ns = 1000000000L * THREADS / atol(argv[3]);
	for (unsigned i = 0; i < THREADS; i++) {
		changers[i] = (struct pod_changes){.url = url,
						   .history = history,
						   .first_name = i * NAMES,
						   .names = NAMES,
						   .token = argc == 6 ? argv[4] : NULL,
						   .ca_file = argc == 6 ? argv[5] : NULL,
						   .dice = {.state = strtoull(argv[2], NULL, 10) + i}};
		pod_changes_begin(&changers[i]);
		if (pthread_create(&threads[i], NULL, run, &changers[i]) != 0)
			return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		*argument = '\0';
		if (sscanf(line, "%31s %255s", command, argument) < 1)
			continue;
		pthread_mutex_lock(&lock);
		obey(command, argument);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	ends = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		pod_changes_done(&changers[i]);
	}
	curl_global_cleanup();
	return fclose(history) == 0 ? 0 : 1;
}
