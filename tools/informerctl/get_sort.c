/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts hits; see get.h. */
#include "tools/informerctl/get.h"

#include <stdlib.h>
#include <string.h>

/* The API server's order: by the bytes of namespace/name. */
static int
compare_keys(const struct get_hit *x, const struct get_hit *y)
{
	const struct field_text *m = &x->namespace_, *n = &y->namespace_;
	size_t both = m->length < n->length ? m->length : n->length;
	int r = memcmp(m->data, n->data, both);

	if (r == 0 && m->length != n->length)
		r = m->length < n->length ? '/' - n->data[both] : m->data[both] - '/';
	return r ? r : field_text_compare(&x->name, &y->name);
}

/* Absent values first, then numbers, then texts. Times are texts, and sort as times. */
static int
compare_values(const struct get_hit *x, const struct get_hit *y)
{
	if (x->has != y->has)
		return x->has < y->has ? -1 : 1;
	if (x->has == HIT_NUMBER && x->number < y->number)
		return -1;
	if (x->has == HIT_NUMBER && x->number > y->number)
		return 1;
	return x->has == HIT_TEXT ? field_text_compare(&x->text, &y->text) : 0;
}

static int
compare_hits(const void *a, const void *b)
{
	const struct get_hit *x = a, *y = b;
	int r;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	r = compare_values(x, y);
	if (r == 0)
		r = compare_keys(x, y);
	if (r == 0 && informer_object_seq(&x->object) != informer_object_seq(&y->object))
		r = informer_object_seq(&x->object) < informer_object_seq(&y->object) ? -1 : 1;
	return r;
}

static void
look_at(struct get_hit *hit, const struct informer_path *path)
{
	struct informer_value value;

	if (informer_get_value(&hit->object, path, &value) != 0)
		return;
	if (informer_value_string(&value, &hit->text.data, &hit->text.length) == 0)
		hit->has = HIT_TEXT;
	else if (informer_value_double(&value, &hit->number) == 0)
		hit->has = HIT_NUMBER;
}

int
get_sort(struct get *get)
{
	struct informer_path *path;
	char detail[512];

	if (get->sort_by) {
		int r = informer_path_compile(get->inf, get->sort_by, strlen(get->sort_by), &path);

		if (r < 0) {
			informer_error_text(r, detail, sizeof(detail));
			return cli_fail("--sort-by %s: %s", get->sort_by, detail);
		}
		for (size_t i = 0; i < get->hit_count; i++)
			look_at(&get->hits[i], path);
		informer_path_free(path);
	}
	/* Hits keep the order of their targets, which is that of the names given. */
	if (get->hit_count > 1)
		qsort(get->hits, get->hit_count, sizeof(*get->hits), compare_hits);
	return -1;
}
