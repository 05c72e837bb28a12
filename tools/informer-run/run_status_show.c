/* SPDX-License-Identifier: Apache-2.0 */
/* `informer-run status`: asks each informer-run of this user; prints a table or JSON; see run_status.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tools/informer-run/say.h"
#include "tools/informer-run/run_status.h"
#include "tools/informer-run/run_status_folder.h"

#define ANSWER_MAX (4u << 20)
#define ANSWER_S 2

/* The answer of one informer-run, for cJSON_Delete(); NULL: no answer. */
static cJSON *
ask(const char *folder, const char *name)
{
	const struct timeval patience = {.tv_sec = ANSWER_S};
	struct text text = TEXT_INIT(-1);
	int fd = status_connect(folder, name);
	cJSON *document;
	char data[4096];
	ssize_t n;

	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (text.length < ANSWER_MAX &&
	       ((n = recv(fd, data, sizeof(data), 0)) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			text_add(&text, data, (size_t)n);
	close(fd);
	document = text.data ? cJSON_ParseWithLength(text.data, text.length) : NULL;
	text_done(&text);
	return document;
}

static const char *
string_of(const cJSON *object, const char *name)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(node) ? node->valuestring : "";
}

static double
number_of(const cJSON *object, const char *name)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(node) ? node->valuedouble : 0;
}

/* Move the wanted handlers (NULL: each) into `all`, with their informer-run's pid. */
static void
collect(cJSON *document, const char *wanted, cJSON *all)
{
	cJSON *handlers = cJSON_GetObjectItemCaseSensitive(document, "handlers");

	for (cJSON *handler = handlers ? handlers->child : NULL, *next; handler; handler = next) {
		next = handler->next;
		if (wanted && strcmp(string_of(handler, "name"), wanted) != 0 &&
		    strcmp(string_of(handler, "consumer"), wanted) != 0)
			continue;
		cJSON_DetachItemViaPointer(handlers, handler);
		cJSON_AddNumberToObject(handler, "pid", number_of(document, "pid"));
		cJSON_AddItemToArray(all, handler);
	}
}

static int
compare_names(const void *a, const void *b)
{
	const cJSON *const *x = a, *const *y = b;

	return strcmp(string_of(*x, "name"), string_of(*y, "name"));
}

static void
show_table(const cJSON *all)
{
	size_t count = (size_t)cJSON_GetArraySize(all), i = 0;
	const cJSON **handlers = calloc(count + 1, sizeof(*handlers));
	int width = 4;

	if (!handlers)
		return;
	for (const cJSON *handler = all->child; handler; handler = handler->next) {
		int length = (int)strlen(string_of(handler, "name"));

		handlers[i++] = handler;
		width = length > width ? length : width;
	}
	qsort(handlers, count, sizeof(*handlers), compare_names);
	printf("%-*s   %-8s   %8s   %9s   %7s   %10s   %8s   %7s   %12s\n", width, "NAME", "STATE", "PID",
	       "PROCESSED", "WORKERS", "LAG-EVENTS", "LAG-MS", "RESTARTS", "DEAD-LETTERS");
	for (i = 0; i < count; i++) {
		const cJSON *h = handlers[i];
		char workers[32];

		snprintf(workers, sizeof(workers), "%.0f/%.0f", number_of(h, "workersUp"),
			 number_of(h, "workers"));
		printf("%-*s   %-8s   %8.0f   %9.0f   %7s   %10.0f   %8.0f   %8.0f   %12.0f\n", width,
		       string_of(h, "name"), string_of(h, "state"), number_of(h, "pid"),
		       number_of(h, "processed"), workers, number_of(h, "lagEvents"), number_of(h, "lagMs"),
		       number_of(h, "restarts"), number_of(h, "deadLetters"));
	}
	for (i = 0; i < count; i++)
		if (number_of(handlers[i], "resyncsSetAside") > 0)
			printf("%s crashed on RESYNC, which has no `object`; see informer-run(1)\n",
			       string_of(handlers[i], "name"));
	free(handlers);
}

static void
show_json(cJSON *all)
{
	cJSON *document = cJSON_CreateObject();
	char *text;

	cJSON_AddNumberToObject(document, "schema", 1);
	cJSON_AddItemReferenceToObject(document, "handlers", all);
	text = cJSON_Print(document);
	puts(text ? text : "");
	cJSON_free(text);
	cJSON_Delete(document);
}

int
status_show(const struct status_options *options)
{
	cJSON *all = cJSON_CreateArray();
	char folder[108];
	struct dirent *entry;
	bool any;
	DIR *dir;
	int r = status_folder(folder, sizeof(folder));

	if (r == 0)
		r = status_check_folder(folder);
	if (r < 0 && r != -ENOENT) {
		cJSON_Delete(all);
		return say(NULL, "%s: %s; it must belong to this user alone", folder, strerror(-r));
	}
	dir = r == 0 ? opendir(folder) : NULL;
	while (dir && (entry = readdir(dir))) {
		cJSON *document = status_is_socket(entry->d_name) ? ask(folder, entry->d_name) : NULL;

		collect(document, options->name, all);
		cJSON_Delete(document);
	}
	if (dir)
		closedir(dir);
	any = cJSON_GetArraySize(all) > 0;
	if (options->json)
		show_json(all);
	else if (any)
		show_table(all);
	if (!any)
		say(NULL, "no handler%s%s runs under this user (looked in %s)", options->name ? " " : "",
		    options->name ? options->name : "", folder);
	cJSON_Delete(all);
	return any ? EXIT_SUCCESS : 1;
}
