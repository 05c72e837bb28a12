/* SPDX-License-Identifier: Apache-2.0 */
/* Checks settings; see settings.h. */
#include "tools/informer-run/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
settings_done(struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct handler_settings *handler = &settings->handlers[i];
		char *const strings[] = {handler->name,        handler->resource, handler->namespace_,
					 handler->labels,      handler->fields,   handler->consumer,
					 handler->dead_letters};

		for (size_t k = 0; k < sizeof(strings) / sizeof(*strings); k++)
			free(strings[k]);
		for (size_t k = 0; handler->argv && handler->argv[k]; k++)
			free(handler->argv[k]);
		free(handler->argv);
	}
	free(settings->handlers);
	free(settings->socket);
	*settings = (struct settings){0};
}

struct handler_settings *
settings_add(struct settings *settings)
{
	struct handler_settings *handlers;

	if (settings->count == SETTINGS_HANDLERS_MAX)
		return NULL;
	handlers = reallocarray(settings->handlers, settings->count + 1, sizeof(*handlers));
	if (!handlers)
		return NULL;
	settings->handlers = handlers;
	handlers[settings->count] = (struct handler_settings){
		.workers = 1, .window = 16, .deadline_ms = 30000, .max_crashes = 3};
	return &handlers[settings->count++];
}

bool
settings_set(char **at, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return false;
	free(*at);
	*at = copy;
	return true;
}

bool
settings_duration(const char *text, uint32_t *ret_ms)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	uint64_t total = 0;

	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return true;
	}
	if (!*text)
		return false;
	while (*text) {
		char *end;
		uint64_t n;
		size_t i = 0, length;

		if (!isdigit((unsigned char)*text))
			return false;
		n = strtoull(text, &end, 10);
		length = strspn(end, "msh");
		while (i < 4 && (strlen(units[i].unit) != length || memcmp(units[i].unit, end, length) != 0))
			i++;
		if (i == 4 || n > 2000000000u / units[i].ms)
			return false;
		total += n * units[i].ms;
		text = end + length;
	}
	if (total > 2000000000u)
		return false;
	*ret_ms = (uint32_t)total;
	return true;
}

/* The default file of dead letters, in a folder that survives a restart. */
static char *
default_dead_letters(const char *consumer)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (geteuid() == 0)
		n = asprintf(&path, "/var/lib/informer-run/%s.jsonl", consumer);
	else if (state && *state == '/')
		n = asprintf(&path, "%s/informer-run/%s.jsonl", state, consumer);
	else
		n = asprintf(&path, "%s/.local/state/informer-run/%s.jsonl", home && *home == '/' ? home : "",
			     consumer);
	return n < 0 ? NULL : path;
}

static bool
is_name(const char *consumer)
{
	for (const char *at = consumer; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == '/')
			return false;
	return *consumer && *consumer != '.' && strlen(consumer) <= 91;
}

static bool
check_handler(struct handler_settings *handler, char *error, size_t size)
{
	const char *which = handler->name       ? handler->name
			    : handler->consumer ? handler->consumer
						: "a handler";

	if (!handler->resource)
		snprintf(error, size, "%s: which resource? --resource pods (in a file: resource: pods)",
			 which);
	else if (!handler->consumer)
		snprintf(error, size,
			 "%s: under which name shall informerd remember how far it got? --consumer NAME (in "
			 "a file: consumer: NAME)",
			 which);
	else if (!is_name(handler->consumer))
		snprintf(error, size, "consumer '%s': at most 91 bytes, no '/', no blanks, no '.' in front",
			 handler->consumer);
	else if (!handler->argv || !handler->argv[0])
		snprintf(error, size,
			 "%s: which command? -- ./handler args... (in a file: command: [./handler, args])",
			 which);
	else if (!(handler->name || settings_set(&handler->name, handler->consumer)) ||
		 !(handler->dead_letters ||
		   (handler->dead_letters = default_dead_letters(handler->consumer))))
		snprintf(error, size, "no memory");
	else
		return true;
	return false;
}

bool
settings_check(struct settings *settings, char *error, size_t size)
{
	for (size_t i = 0; i < settings->count; i++) {
		if (!check_handler(&settings->handlers[i], error, size))
			return false;
		for (size_t k = 0; k < i; k++) {
			const char *what = strcmp(settings->handlers[i].consumer,
						  settings->handlers[k].consumer) == 0
						   ? "consumer"
					   : strcmp(settings->handlers[i].name, settings->handlers[k].name) ==
							   0
						   ? "name"
						   : NULL;

			if (what) {
				snprintf(error, size, "two handlers have the same %s '%s'", what,
					 *what == 'c' ? settings->handlers[i].consumer
						      : settings->handlers[i].name);
				return false;
			}
		}
	}
	return true;
}
