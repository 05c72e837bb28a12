/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the tree of steps, path by path, and walks it with an object. Wanted fields of an object are
 * visited in the order in which they lie, each once. A step remembers the places of its fields by the
 * shape's tag.
 *
 * Equal bytes are equal values, since blocks do not change while a state refers to them. The exception is
 * metadata.resourceVersion, which stands in the object's header (OWN_VERSION): its path counts as changed.
 */
#include "writer/store/index_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES 32u /* remembered at a step, by their tags */

/* What one path ends in. prefix: of the index's definition */
struct end {
	unsigned index;
	unsigned prefix;
	const struct index_rule *rule;
};

/* A wanted field: its number in the shape, and the number of its step. */
struct place {
	uint32_t field;
	uint32_t step;
};

struct shape {
	uint64_t tag;		/* of the shape's block; depends on its content and place; 0: free */
	uint32_t count;
	struct place *places;	/* in the order of fields; room for all */
};

/*
 * below      the indexes whose paths end here or go through here
 * versioned  the step is metadata.resourceVersion, or leads there: equal bytes may be different values
 */
struct step {
	enum path_step_kind kind;
	index_mask below;
	bool versioned;
	const char *name;	/* of a PATH_KEY; the rule's */
	size_t name_length;
	uint32_t element;
	struct end *ends;
	unsigned end_count;
	struct step *steps;	/* steps by name come first */
	unsigned step_count, named;
	struct shape *shapes;	/* SHAPES of them; NULL: no step by name */
};

struct index_plan {
	struct step root;
	struct end *namespaces;	/* rules without a path */
	unsigned namespace_count;
};

/* ---- creating ---- */

static void
step_done(struct step *s)
{
	for (unsigned i = 0; i < s->step_count; i++)
		step_done(&s->steps[i]);
	for (unsigned i = 0; s->shapes && i < SHAPES; i++)
		free(s->shapes[i].places);
	free(s->shapes);
	free(s->steps);
	free(s->ends);
}

void
index_plan_free(struct index_plan *plan)
{
	if (!plan)
		return;
	step_done(&plan->root);
	free(plan->namespaces);
	free(plan);
}

static int
add_end(struct end **ends, unsigned *count, struct end end)
{
	struct end *more = realloc(*ends, (*count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	*ends = more;
	more[(*count)++] = end;
	return 0;
}

static bool
is_step(const struct step *s, const struct path *path, const struct path_step *step)
{
	return s->kind == step->kind && s->element == step->element && s->name_length == step->name_length &&
	       memcmp(s->name, path->names + step->name_offset, s->name_length) == 0;
}

/* Find the step of the path below s, or make it. NULL: no memory. */
static struct step *
step_below(struct step *s, const struct path *path, const struct path_step *step)
{
	struct step *more;
	unsigned at = step->kind == PATH_KEY ? s->named : s->step_count;

	for (unsigned i = 0; i < s->step_count; i++)
		if (is_step(&s->steps[i], path, step))
			return &s->steps[i];
	more = realloc(s->steps, (s->step_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	s->steps = more;
	memmove(more + at + 1, more + at, (s->step_count - at) * sizeof(*more));
	more[at] = (struct step){.kind = step->kind,
				 .element = step->element,
				 .name = path->names + step->name_offset,
				 .name_length = step->name_length};
	s->step_count++;
	s->named += step->kind == PATH_KEY;
	return &more[at];
}

static int
add_rule(struct index_plan *plan, unsigned index, unsigned prefix, const struct index_rule *rule)
{
	const struct end end = {index, prefix, rule};
	struct step *s = &plan->root;

	if (rule->as == INDEX_NAMESPACE)
		return add_end(&plan->namespaces, &plan->namespace_count, end);
	for (unsigned i = 0; s && i < rule->path.count; i++)
		s = step_below(s, &rule->path, &rule->path.steps[i]);
	return s ? add_end(&s->ends, &s->end_count, end) : -ENOMEM;
}

static bool
is_named(const struct step *s, const char *name)
{
	return s->kind == PATH_KEY && s->name_length == strlen(name) &&
	       memcmp(s->name, name, s->name_length) == 0;
}

/* Fill in versioned and below. depth: of s; the root, which has 0, is versioned. */
static void
look_ahead(struct step *s, unsigned depth)
{
	for (unsigned i = 0; i < s->end_count; i++)
		s->below |= index_mask_of(s->ends[i].index);
	for (unsigned i = 0; i < s->step_count; i++) {
		struct step *next = &s->steps[i];

		next->versioned = s->versioned && depth < 2 &&
				  is_named(next, depth == 0 ? "metadata" : "resourceVersion");
		look_ahead(next, depth + 1);
		s->below |= next->below;
	}
}

static int
make_shapes(struct step *s)
{
	int r = 0;

	if (s->named > 0) {
		s->shapes = calloc(SHAPES, sizeof(*s->shapes));
		for (unsigned i = 0; s->shapes && i < SHAPES; i++) {
			s->shapes[i].places = calloc(s->named, sizeof(*s->shapes[i].places));
			if (!s->shapes[i].places)
				r = -ENOMEM;
		}
		if (!s->shapes)
			r = -ENOMEM;
	}
	for (unsigned i = 0; i < s->step_count && r == 0; i++)
		r = make_shapes(&s->steps[i]);
	return r;
}

struct index_plan *
index_plan_new(const struct index_def *defs, unsigned count)
{
	struct index_plan *plan = calloc(1, sizeof(*plan));
	int r = plan ? 0 : -ENOMEM;

	for (unsigned i = 0; i < count && r == 0; i++)
		for (unsigned k = 0; k < defs[i].rule_count && r == 0; k++)
			r = add_rule(plan, i, defs[i].prefix, &defs[i].rules[k]);
	if (r == 0)
		r = make_shapes(&plan->root);
	if (r == 0) {
		plan->root.versioned = true;
		look_ahead(&plan->root, 0);
		return plan;
	}
	index_plan_free(plan);
	return NULL;
}

/* ---- walking ---- */

struct walk {
	index_mask wanted;
	int (*each)(unsigned index, const char *data, size_t length, void *context);
	void *context;
	const struct end *end;
	uint32_t left; /* values that may still be visited by [*] */
};

static int
hand_over(const char *data, size_t length, void *context)
{
	const struct walk *w = context;

	if (w->end->prefix > 0 && length > w->end->prefix)
		length = w->end->prefix;
	return w->each(w->end->index, data, length, w->context);
}

static int walk(struct walk *w, const struct step *s, const struct value *v);

/* Find and remember the places of the step's names in a shape. False: the shape is damaged. */
static bool
learn_shape(const struct step *s, const struct value *object, const struct value_fields *fields,
	    struct shape *shape)
{
	const uint32_t *names;
	uint32_t count;

	shape->tag = 0;
	shape->count = 0;
	if (!value_shape(object->view, fields->shape_ref, &names, &count))
		return false;
	for (uint32_t field = 0; field < count && shape->count < s->named; field++) {
		const char *name;
		size_t length;

		if (!value_string(value_of_block(object->view, names[field]), &name, &length))
			return false;
		for (uint32_t i = 0; i < s->named; i++)
			if (s->steps[i].name_length == length && memcmp(s->steps[i].name, name, length) == 0)
				shape->places[shape->count++] = (struct place){field, i};
	}
	shape->tag = fields->shape->tag;
	return true;
}

/* The object's fields, and the places of the step's names in them. NULL: no fields, or damaged. */
static const struct shape *
open_shape(const struct step *s, const struct value *object, struct value_fields *ret)
{
	struct shape *shape;

	if (!value_open_fields(object, ret))
		return NULL;
	shape = &s->shapes[ret->shape->tag % SHAPES];
	return shape->tag == ret->shape->tag || learn_shape(s, object, ret, shape) ? shape : NULL;
}

static int
walk_fields(struct walk *w, const struct step *s, const struct value *object)
{
	struct value_fields fields;
	const struct shape *shape = open_shape(s, object, &fields);
	const uint8_t *at;
	uint32_t passed = 0;
	int r = 0;

	if (!shape)
		return 0;
	at = fields.at;
	for (uint32_t i = 0; i < shape->count && r == 0; i++) {
		const struct place *place = &shape->places[i];
		struct value field;

		if (!(s->steps[place->step].below & w->wanted))
			continue;
		at = value_skip(at, fields.end, place->field - passed);
		passed = place->field;
		if (!at)
			return 0;
		if (value_open_at(&field, object, at, fields.end))
			r = walk(w, &s->steps[place->step], &field);
	}
	return r;
}

static int
walk_all(struct walk *w, const struct step *s, const struct value *v)
{
	struct value_iter it = value_iterate(*v);
	int r = 0;

	while (r == 0 && value_next(&it))
		r = w->left-- > 0 ? walk(w, s, &it.item) : -EBADMSG;
	return r == 0 && it.damaged ? -EBADMSG : r;
}

/* Report the values of paths that end here, and follow the others. Depth: PATH_STEPS_MAX. */
static int
walk(struct walk *w, const struct step *s, const struct value *v)
{
	int r = 0;

	for (unsigned i = 0; i < s->end_count && r == 0; i++) {
		w->end = &s->ends[i];
		if (w->wanted & index_mask_of(w->end->index))
			r = index_rule_each(w->end->rule, *v, hand_over, w);
	}
	if (r == 0 && s->named > 0)
		r = walk_fields(w, s, v);
	for (unsigned i = s->named; i < s->step_count && r == 0; i++) {
		const struct step *next = &s->steps[i];

		if (!(next->below & w->wanted)) {
			continue;
		} else if (next->kind == PATH_ANY) {
			r = walk_all(w, next, v);
		} else {
			struct value element = value_element(*v, next->element);

			r = element.at ? walk(w, next, &element) : 0;
		}
	}
	return r;
}

int
index_plan_each(struct index_plan *plan, struct value body, index_mask wanted,
		int (*each)(unsigned index, const char *data, size_t length, void *context), void *context)
{
	struct walk w = {.wanted = wanted, .each = each, .context = context, .left = VALUE_ITEMS_MAX};
	int r = 0;

	for (unsigned i = 0; i < plan->namespace_count && r == 0; i++)
		if (wanted & index_mask_of(plan->namespaces[i].index) && body.own &&
		    body.own->namespace_length > 0)
			r = each(plan->namespaces[i].index, object_namespace(body.own),
				 body.own->namespace_length, context);
	return r == 0 && body.at ? walk(&w, &plan->root, &body) : r;
}

/* ---- comparing ---- */

static index_mask differ(const struct step *s, const struct value *a, const struct value *b);

static bool
is_same(const struct value *a, const struct value *b)
{
	const uint8_t *a_end = value_after(a->at, a->end), *b_end = value_after(b->at, b->end);

	return a->at == b->at || (a_end && b_end && a_end - a->at == b_end - b->at &&
				  memcmp(a->at, b->at, (size_t)(a_end - a->at)) == 0);
}

/* As differ(), for all elements or fields, in pairs. s: the step to each of them. */
static index_mask
differ_in_elements(const struct step *s, const struct value *a, const struct value *b)
{
	struct value_iter a_it = value_iterate(*a), b_it = value_iterate(*b);
	index_mask changed = 0;
	bool more;

	while ((more = value_next(&a_it)) && value_next(&b_it))
		if (!is_same(&a_it.item, &b_it.item))
			changed |= differ(s, &a_it.item, &b_it.item);
	return more || value_next(&b_it) || a_it.damaged || b_it.damaged ? s->below : changed;
}

/* The indexes below s that may have other values in b than in a. Depth: PATH_STEPS_MAX. */
static index_mask
differ(const struct step *s, const struct value *a, const struct value *b)
{
	struct value_fields a_fields, b_fields;
	const struct shape *shape = s->named ? open_shape(s, a, &a_fields) : NULL;
	const uint8_t *at, *bt;
	uint32_t passed = 0;
	index_mask changed = 0;

	if (s->named && (!shape || !value_open_fields(b, &b_fields) || b_fields.shape->tag != shape->tag))
		return s->below;
	for (unsigned i = 0; i < s->end_count; i++)
		changed |= index_mask_of(s->ends[i].index);
	for (unsigned i = s->named; i < s->step_count; i++)
		changed |= s->steps[i].kind == PATH_ANY && !s->versioned
				   ? differ_in_elements(&s->steps[i], a, b)
				   : s->steps[i].below;
	if (!shape)
		return changed;
	at = a_fields.at;
	bt = b_fields.at;
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct place *place = &shape->places[i];
		const struct step *next = &s->steps[place->step];
		const uint8_t *a_end, *b_end;
		struct value a_field, b_field;

		at = value_skip(at, a_fields.end, place->field - passed);
		bt = value_skip(bt, b_fields.end, place->field - passed);
		a_end = at ? value_after(at, a_fields.end) : NULL;
		b_end = bt ? value_after(bt, b_fields.end) : NULL;
		if (!a_end || !b_end)
			return s->below;
		if (!next->versioned && a_end - at == b_end - bt && memcmp(at, bt, (size_t)(a_end - at)) == 0)
			;
		else if (value_open_at(&a_field, a, at, a_fields.end) &&
			 value_open_at(&b_field, b, bt, b_fields.end))
			changed |= differ(next, &a_field, &b_field);
		else
			changed |= next->below;
		at = a_end;
		bt = b_end;
		passed = place->field + 1;
	}
	return changed;
}

index_mask
index_plan_compare(struct index_plan *plan, struct value before, struct value after)
{
	return before.at && after.at ? differ(&plan->root, &before, &after) : INDEX_MASK_ALL;
}
