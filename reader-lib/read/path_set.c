/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of paths, followed together: a place has one bit for each path whose first `depth` steps lead to it.
 */
#include "reader-lib/read/path_set.h"

#include <string.h>

#include "reader-lib/attach/handle.h"
#include "shm-layout/path.h"

struct path_set {
	unsigned n_keep, n_drop;
	struct path paths[];	/* first those to keep, then those to drop */
};

static int
compile_one(const char *text, bool drop, struct path *path)
{
	size_t length = text ? strlen(text) : 0, offset = 0;
	const char *why = "";

	if (!text)
		return -EINVAL;
	if (path_compile(path, text, length, &offset, &why) < 0)
		return error_set(INFORMER_E_SYNTAX, "path '%.*s', at byte %zu: %s",
				 (int)(length < 200 ? length : 200), text, offset, why);
	for (unsigned i = 0; i < path->count; i++)
		if (path->steps[i].kind == PATH_ELEMENT)
			return error_set(INFORMER_E_SYNTAX,
					 "path '%.*s': single elements are neither kept nor dropped, write "
					 "[*] for all",
					 (int)(length < 200 ? length : 200), text);
	if (drop && path->count == 0)
		return error_set(INFORMER_E_SYNTAX, "path '%.*s': this would drop everything",
				 (int)(length < 200 ? length : 200), text);
	return 0;
}

int
path_set_compile(struct informer *inf, const char *const *keep, size_t n_keep, const char *const *drop,
		 size_t n_drop, struct path_set **ret_set)
{
	struct path_set *set;
	int r = 0;

	if (!inf || (!keep && n_keep) || (!drop && n_drop) || !ret_set)
		return -EINVAL;
	if (n_keep > PATH_SET_MAX || n_drop > PATH_SET_MAX)
		return error_set(-E2BIG, "%zu paths to keep and %zu to drop: there may be %u of each", n_keep,
				 n_drop, PATH_SET_MAX);
	set = memory_get(inf, sizeof(*set) + (n_keep + n_drop) * sizeof(set->paths[0]));
	if (!set)
		return -ENOMEM;
	set->n_keep = (unsigned)n_keep;
	set->n_drop = (unsigned)n_drop;
	for (size_t i = 0; i < n_keep && r == 0; i++)
		r = compile_one(keep[i], false, &set->paths[i]);
	for (size_t i = 0; i < n_drop && r == 0; i++)
		r = compile_one(drop[i], true, &set->paths[n_keep + i]);
	if (r < 0) {
		path_set_free(inf, set);
		return r;
	}
	*ret_set = set;
	return 0;
}

void
path_set_free(struct informer *inf, struct path_set *set)
{
	memory_put(inf, set);
}

static uint64_t
first_bits(unsigned n)
{
	return n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

struct path_place
path_set_start(const struct path_set *set)
{
	struct path_place place = {.keep = first_bits(set->n_keep),
				   .drop = first_bits(set->n_drop),
				   .whole = set->n_keep == 0,
				   .must = MUST_OF_OBJECT};

	for (unsigned i = 0; i < set->n_keep; i++)
		place.whole |= set->paths[i].count == 0;
	return place;
}

/* Of the paths in `bits`, those that continue through this field or element. ret_ends: a path ends there. */
static uint64_t
advance(const struct path *paths, uint64_t bits, unsigned depth, const char *name, size_t length,
	bool *ret_ends)
{
	uint64_t on = 0;

	*ret_ends = false;
	for (; bits; bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctzll(bits);
		const struct path_step *step;

		if (depth >= paths[i].count)
			continue;
		step = &paths[i].steps[depth];
		if (step->kind != PATH_ANY && (!name || step->name_length != length ||
					       memcmp(paths[i].names + step->name_offset, name, length) != 0))
			continue;
		if (depth + 1 == paths[i].count)
			*ret_ends = true;
		else
			on |= 1ull << i;
	}
	return on;
}

static bool
is_one_of(const char *name, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return true;
	return false;
}

bool
path_set_enter(const struct path_set *set, const struct path_place *place, const char *name, size_t length,
	       struct path_place *ret_child)
{
	static const char *const of_object[] = {"apiVersion", "kind", NULL};
	static const char *const of_metadata[] = {"name", "namespace", "uid", "resourceVersion", NULL};
	struct path_place child = {.depth = place->depth + 1};
	bool kept, dropped;

	child.keep = advance(set->paths, place->keep, place->depth, name, length, &kept);
	child.drop = advance(set->paths + set->n_keep, place->drop, place->depth, name, length, &dropped);
	child.whole = (place->whole || kept) && !dropped;
	if (dropped)
		child.keep = child.drop = 0;
	if (name && place->must == MUST_OF_OBJECT && length == 8 && memcmp(name, "metadata", 8) == 0)
		child.must = MUST_OF_METADATA;
	else if (name && place->must != MUST_NOTHING &&
		 is_one_of(name, length, place->must == MUST_OF_OBJECT ? of_object : of_metadata))
		child = (struct path_place){.depth = child.depth, .whole = true};
	*ret_child = child;
	return child.whole || child.keep || child.must != MUST_NOTHING;
}
