/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences, and the search for a misspelt name; see missing_resource.h. */
#include "tools/informerctl/missing_resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/nearest.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/kubectl_words.h"

#define NAMES_MAX 512u

/* The snapshot's names that are compared: each resource's plural, singular and first short name. */
struct names {
	const char *names[NAMES_MAX];
	char *copies[NAMES_MAX];
	size_t count;
};

static void
add(struct names *to, const char *name, size_t length)
{
	char *copy = strndup(name, length);

	if (copy)
		to->names[to->count] = to->copies[to->count] = copy;
	to->count += copy != NULL;
}

/* The cached name that is nearest to `name`, for free(); NULL: none is near. */
static char *
nearest_cached(const struct informer_snapshot *snap, const char *name)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct names all = {.count = 0};
	const char *short_name, *near;
	char *found;
	size_t length;

	for (uint32_t i = 0; i < informer_resource_count(snap) && all.count + 3 <= NAMES_MAX; i++) {
		if (informer_resource_info_at(snap, i, &info) != 0)
			continue;
		add(&all, info.resource, info.resource_length);
		add(&all, info.singular, info.singular_length);
		if (informer_resource_short_name(snap, i, 0, &short_name, &length) == 0)
			add(&all, short_name, length);
	}
	near = nearest(name, all.names, all.count);
	found = near ? strdup(near) : NULL;
	for (size_t i = 0; i < all.count; i++)
		free(all.copies[i]);
	return found;
}

/* Whether the resource before position `at` has the same name: one of another namespace or selector. */
static bool
is_repeated(const struct informer_snapshot *snap, uint32_t at, const struct informer_resource_info *info)
{
	struct informer_resource_info before = {.size = sizeof(before)};

	return at > 0 && informer_resource_info_at(snap, at - 1, &before) == 0 &&
	       before.resource_length == info->resource_length &&
	       memcmp(before.resource, info->resource, info->resource_length) == 0;
}

void
missing_resource_names(const struct informer_snapshot *snap, struct text *line)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	size_t begin = line->length;

	for (uint32_t i = 0; i < informer_resource_count(snap); i++) {
		if (informer_resource_info_at(snap, i, &info) != 0 || is_repeated(snap, i, &info))
			continue;
		text_adds(line, line->length > begin ? ", " : "");
		text_add(line, info.resource, info.resource_length);
	}
	if (line->length == begin)
		text_adds(line, "nothing yet");
}

void
missing_resource_remedy(const char *name, char *text, size_t size)
{
	const char *known = kubectl_word_resource(name);

	if (known && strcmp(known, "secrets") == 0)
		snprintf(text, size,
			 "allowSecrets: true in a configuration file, then informerd --config FILE "
			 "--resource secrets ...; every reader that may attach sees them");
	else
		snprintf(text, size, "informerd --resource %s ...", known ? known : name);
}

int
missing_resource_fail(const struct informer_snapshot *snap, const char *name)
{
	const char *known = kubectl_word_resource(name);
	bool renamed = known && strcmp(known, name) != 0;
	char *near = known ? NULL : nearest_cached(snap, name), remedy[512];
	struct text line = TEXT_INIT(-1);

	missing_resource_names(snap, &line);
	missing_resource_remedy(name, remedy, sizeof(remedy));
	if (near)
		cli_fail("informerd does not cache '%s'; did you mean %s? It caches: %s", name, near,
			 line.data ? line.data : "");
	else
		cli_fail("informerd does not cache '%s'%s%s%s; it caches: %s\nto add it: %s", name,
			 renamed ? " (" : "", renamed ? known : "", renamed ? ")" : "",
			 line.data ? line.data : "", remedy);
	free(near);
	text_done(&line);
	return EXIT_USAGE;
}
