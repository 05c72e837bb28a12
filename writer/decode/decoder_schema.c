/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of path nodes, which also marks the paths to drop. A node has the drop steps with which its new
 * children are compared. So a flag of its node says that a field is dropped; no paths are compared.
 */
#include "writer/decode/decoder_schema.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/fnv.h"
#include "writer/base/drop_path.h"
#include "writer/decode/value_encode.h"

/* At least so many items pass before the whole tree is freed again. */
#define RECYCLE_PAUSE 1024u

/* One step of a drop. A drop's steps are adjacent. */
struct drop_step {
	char *name;	/* NULL: [*] */
	size_t length;
	bool last;
};

struct decoder_schema {
	struct intern *intern;
	struct path_node *root;
	struct path_node *anything;	/* all paths below it are this node */
	struct path_node *nodes;	/* all nodes, by chain */
	uint32_t node_count;
	uint32_t open_items;
	uint32_t recycle_pause;
	size_t text_bytes, string_bytes;
	uint8_t source_key[crypto_shorthash_KEYBYTES];
	struct drop_step *steps;
	uint16_t step_count;
	uint16_t *starts;
	uint16_t start_count;
	bool keys_only;
};

/* ---- nodes ---- */

static void
forget_strings(struct decoder_schema *s, struct path_node *n)
{
	struct string_memo *memo = n->known_strings;

	for (unsigned i = 0; memo && i < STRING_MEMO_PLACES; i++) {
		stocked_ref_set(&memo->values[i], s->intern, 0);
		s->string_bytes -= memo->lengths[i];
		memo->lengths[i] = 0;
	}
}

static void
forget_node(struct decoder_schema *s, struct path_node *n)
{
	if (n->name_ref)
		intern_unref(s->intern, n->name_ref);
	for (unsigned i = 0; i < SCHEMA_SHAPES; i++)
		stocked_ref_set(&n->shapes[i], s->intern, 0);
	forget_strings(s, n);
	if (n->texts)
		text_memo_clear(n->texts, s->intern, &s->text_bytes);
	field_plans_free(n->plans, s->intern);
	free(n->known_strings);
	free(n->texts);
	free(n->children);
	free(n->pending);
	free(n);
}

static void
forget_all(struct decoder_schema *s)
{
	while (s->nodes) {
		struct path_node *n = s->nodes;

		s->nodes = n->chain;
		forget_node(s, n);
	}
	s->node_count = 0;
	s->root = NULL;
	s->anything = NULL;
}

/* Make a node. Its name is behind it, as a document has it: "name": */
static struct path_node *
new_node(struct decoder_schema *s, const char *name, size_t length)
{
	struct path_node *n = calloc(1, sizeof(*n) + length + 3 + SCHEMA_TEXT_ROOM);
	bool plain = name != NULL;
	char *text;

	if (!n)
		return NULL;
	text = (char *)(n + 1);
	text[0] = '"';
	for (size_t i = 0; i < length; i++) {
		text[1 + i] = name[i];
		plain = plain && (unsigned char)name[i] >= 0x20 && name[i] != '"' && name[i] != '\\';
	}
	text[1 + length] = '"';
	text[2 + length] = ':';
	n->text = text;
	n->name_length = (uint32_t)length;
	n->text_length = plain ? (uint32_t)length + 3 : 0;
	n->chain = s->nodes;
	s->nodes = n;
	s->node_count++;
	return n;
}

static uint32_t
name_hash(const char *name, size_t length)
{
	uint32_t h = fnv32(name, length);

	return h ^ h >> 15;
}

static struct path_node **
child_slot(const struct path_node *parent, const char *name, size_t length, uint32_t hash)
{
	for (uint32_t i = hash & parent->child_mask;; i = (i + 1) & parent->child_mask) {
		struct path_node *c = parent->children[i];

		if (!c ||
		    (c->hash == hash && c->name_length == length && memcmp(c->text + 1, name, length) == 0))
			return &parent->children[i];
	}
}

static struct path_node *
find_child(const struct path_node *parent, const char *name, size_t length)
{
	return parent->children ? *child_slot(parent, name, length, name_hash(name, length)) : NULL;
}

static int
grow_children(struct path_node *parent)
{
	uint32_t before = parent->children ? parent->child_mask + 1 : 0, capacity = before ? before * 2 : 8,
		 k;
	struct path_node **bigger = calloc(capacity, sizeof(struct path_node *));

	if (!bigger)
		return -ENOMEM;
	parent->child_mask = capacity - 1;
	for (uint32_t i = 0; i < before; i++) {
		if (!parent->children[i])
			continue;
		for (k = parent->children[i]->hash & parent->child_mask; bigger[k];)
			k = (k + 1) & parent->child_mask;
		bigger[k] = parent->children[i];
	}
	free(parent->children);
	parent->children = bigger;
	return 0;
}

/* ---- adding ---- */

/* Make the name a shared block. 0: that failed; the decoder tries again at each use, and reports why. */
static uint32_t
intern_name(struct decoder_schema *s, const char *name, size_t length)
{
	uint8_t payload[PATH_TEXT_MAX + ENCODED_HEAD_MAX];
	size_t head = encode_string_head(payload, length);
	uint32_t ref;
	bool known;

	memcpy(payload + head, name, length);
	return intern_get(s->intern, BLOCK_VALUE, payload, (uint32_t)(head + length), &ref, &known) < 0 ? 0
													: ref;
}

static int
add_pending(struct path_node *n, uint16_t step)
{
	uint16_t *bigger = realloc(n->pending, (n->pending_count + 1u) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	n->pending = bigger;
	n->pending[n->pending_count++] = step;
	return 0;
}

/* Apply the parent's drops to a child. name NULL: an element, or the `rest` of the fields. */
static int
inherit_drops(const struct decoder_schema *s, const struct path_node *parent, struct path_node *child,
	      const char *name, size_t length)
{
	int r = 0;

	for (uint16_t i = 0; i < parent->pending_count && r == 0; i++) {
		const struct drop_step *step = &s->steps[parent->pending[i]];

		if (step->name && (!name || step->length != length || memcmp(step->name, name, length) != 0))
			continue;
		if (step->last)
			child->drop = true;
		else
			r = add_pending(child, (uint16_t)(parent->pending[i] + 1));
	}
	return r;
}

static struct path_node *add_child(struct decoder_schema *s, struct path_node *parent, const char *name,
				   size_t length);

/* Make nodes for names in drops at once: later the limits could prevent it. */
static int
add_mentioned(struct decoder_schema *s, struct path_node *n)
{
	for (uint16_t i = 0; i < n->pending_count; i++) {
		const struct drop_step *step = &s->steps[n->pending[i]];

		if (step->name && !find_child(n, step->name, step->length) &&
		    !add_child(s, n, step->name, step->length))
			return -ENOMEM;
	}
	return 0;
}

static struct path_node *
add_child(struct decoder_schema *s, struct path_node *parent, const char *name, size_t length)
{
	struct path_node *n;
	int r;

	if ((!parent->children || parent->child_count * 2 > parent->child_mask) && grow_children(parent) < 0)
		return NULL;
	n = new_node(s, name, length);
	if (!n)
		return NULL;
	n->hash = name_hash(name, length);
	n->name_ref = intern_name(s, name, length);
	r = inherit_drops(s, parent, n, name, length);
	if (r == 0)
		r = add_mentioned(s, n);
	if (r < 0)
		return NULL;	/* chained, so it is freed with the others */
	*child_slot(parent, name, length, n->hash) = n;
	parent->child_count++;
	return n;
}

/* Make a node for all children that have none of their own. */
static struct path_node *
add_nameless(struct decoder_schema *s, struct path_node *parent)
{
	struct path_node *n = new_node(s, NULL, 0);

	return n && inherit_drops(s, parent, n, NULL, 0) == 0 && add_mentioned(s, n) == 0 ? n : NULL;
}

struct path_node *
schema_child(struct decoder_schema *s, struct path_node *parent, const char *name, size_t length)
{
	struct path_node *n;

	if (parent == s->anything)
		return parent;
	n = find_child(parent, name, length);
	if (n)
		return n;
	if (s->keys_only)
		return s->anything;
	if (length <= SCHEMA_NAME_MAX && parent->child_count < SCHEMA_CHILDREN_MAX &&
	    s->node_count < SCHEMA_NODES_MAX)
		return add_child(s, parent, name, length);
	if (!parent->rest && (parent->pending_count > 0 || s->node_count < SCHEMA_NODES_MAX)) {
		parent->rest = add_nameless(s, parent);
		return parent->rest;
	}
	return parent->rest ? parent->rest : s->anything;
}

struct path_node *
schema_element(struct decoder_schema *s, struct path_node *parent)
{
	if (parent == s->anything || parent->element)
		return parent == s->anything ? parent : parent->element;
	if (parent->pending_count == 0 && s->node_count >= SCHEMA_NODES_MAX)
		return s->anything;
	parent->element = add_nameless(s, parent);
	return parent->element;
}

void
schema_remember_shape(struct decoder_schema *s, struct path_node *node, unsigned place, uint32_t ref)
{
	stocked_ref_set(&node->shapes[place], s->intern, ref);
}

static void
drop_texts(struct decoder_schema *s)
{
	for (struct path_node *n = s->nodes; n; n = n->chain)
		if (n->texts)
			text_memo_clear(n->texts, s->intern, &s->text_bytes);
}

static void
drop_strings(struct decoder_schema *s)
{
	for (struct path_node *n = s->nodes; n; n = n->chain)
		forget_strings(s, n);
}

void
decoder_schema_give_back(struct decoder_schema *s)
{
	drop_texts(s);
	drop_strings(s);
}

void
decoder_schema_forget_texts(struct decoder_schema *s)
{
	drop_texts(s);
	randombytes_buf(s->source_key, sizeof(s->source_key));
}

uint64_t
schema_source_hash(const struct decoder_schema *s, const void *bytes, size_t length)
{
	uint64_t hash;

	crypto_shorthash((unsigned char *)&hash, bytes, length, s->source_key);
	return hash ? hash : 1;
}

void
schema_remember_text(struct decoder_schema *s, struct path_node *node, const char *text, size_t length,
		     uint32_t ref)
{
	if (node ==
	    s->anything) /* used at many depths: a text that fits one may be nested too deeply for another */
		return;
	if (s->text_bytes + length > SCHEMA_TEXT_BYTES)
		drop_texts(s);
	if (!node->texts)
		node->texts = calloc(1, sizeof(*node->texts));
	if (node->texts)
		text_memo_put(node->texts, s->intern, text, length, ref, &s->text_bytes);
}

struct field_plan *
schema_remember_plan(struct decoder_schema *s, struct path_node *node, const struct field_plan *plan,
		     struct path_node *const *children, unsigned count)
{
	if (node == s->anything) /* its own child: this could free a plan in use */
		return NULL;
	if (!node->plans)
		node->plans = calloc(1, sizeof(*node->plans));
	return node->plans ? field_plan_put(node->plans, s->intern, plan, children, count) : NULL;
}

void
schema_remember_string(struct decoder_schema *s, struct path_node *node, uint32_t hash, uint32_t ref,
		       uint32_t length)
{
	unsigned i;

	if (length > SCHEMA_TEXT_BYTES)
		return;
	if (s->string_bytes + length > SCHEMA_TEXT_BYTES)
		drop_strings(s);

	if (!node->known_strings)
		node->known_strings = calloc(1, sizeof(*node->known_strings));
	if (!node->known_strings)
		return;
	/* if both places are taken, the hash chooses which to replace */
	i = string_memo_place(hash);
	if (node->known_strings->values[i].ref && (!node->known_strings->values[i ^ 1].ref || hash >> 31))
		i ^= 1;
	node->known_strings->hashes[i] = hash;
	s->string_bytes += length;
	s->string_bytes -= node->known_strings->lengths[i];
	node->known_strings->lengths[i] = length;
	stocked_ref_set(&node->known_strings->values[i], s->intern, ref);
}

/* ---- items ---- */

static struct path_node *
add_role(struct decoder_schema *s, struct path_node *parent, const char *name, enum path_role role)
{
	struct path_node *n = find_child(parent, name, strlen(name));

	if (!n)
		n = add_child(s, parent, name, strlen(name));
	if (n)
		n->role = (uint8_t)role;
	if (n && s->keys_only)
		n->drop = role == ROLE_SPEC;
	return n;
}

static int
plant(struct decoder_schema *s)
{
	static const char *const strings[OBJECT_STRINGS] = {
		[OBJECT_NAME] = "name",
		[OBJECT_NAMESPACE] = "namespace",
		[OBJECT_UID] = "uid",
		[OBJECT_VERSION] = "resourceVersion",
	};
	struct path_node *metadata = NULL, *spec, *api_version, *kind;
	int r = 0;

	s->anything = new_node(s, NULL, 0);
	s->root = new_node(s, NULL, 0);
	if (!s->anything || !s->root)
		return -ENOMEM;
	s->anything->drop = s->keys_only;
	for (uint16_t i = 0; i < s->start_count && r == 0; i++)
		r = add_pending(s->root, s->starts[i]);
	if (r == 0)
		r = add_mentioned(s, s->root);
	if (r == 0)
		metadata = add_role(s, s->root, "metadata", ROLE_METADATA);
	if (!metadata)
		return -ENOMEM;
	for (unsigned i = 0; i < OBJECT_STRINGS; i++)
		if (!add_role(s, metadata, strings[i], (enum path_role)(ROLE_STRING + i)))
			return -ENOMEM;
	spec = add_role(s, s->root, "spec", ROLE_SPEC);
	if (!spec)
		return -ENOMEM;
	if (spec->drop)
		spec->role = ROLE_NONE;
	metadata->unshared = true;
	api_version = find_child(s->root, "apiVersion", strlen("apiVersion"));
	if (api_version && api_version->drop)
		api_version->role = ROLE_API_VERSION;
	kind = find_child(s->root, "kind", 4);
	if (kind && kind->drop)
		kind->role = ROLE_KIND;
	return 0;
}

struct path_node *
schema_item_begin(struct decoder_schema *s)
{
	if (s->recycle_pause > 0)
		s->recycle_pause--;
	if (s->node_count >= SCHEMA_NODES_MAX && s->open_items == 0 && s->recycle_pause == 0) {
		forget_all(s);
		s->recycle_pause = RECYCLE_PAUSE;
	}
	if (!s->root && plant(s) < 0) {
		forget_all(s);
		return NULL;
	}
	s->open_items++;
	return s->root;
}

void
schema_item_end(struct decoder_schema *s)
{
	s->open_items--;
}

int
schema_bind(struct decoder_schema *s, struct intern *in)
{
	if (s->intern == in)
		return 0;
	if (s->open_items > 0)
		return -EBUSY;
	forget_all(s);
	s->intern = in;
	return 0;
}

/* ---- creating and freeing ---- */

static int
add_drop(struct decoder_schema *s, const char *text)
{
	struct path p;
	int r = drop_path_compile(text, &p);

	if (r < 0)
		return r;
	s->starts[s->start_count++] = s->step_count;
	for (unsigned i = 0; i < p.count; i++) {
		struct drop_step *step = &s->steps[s->step_count++];

		step->last = i + 1 == p.count;
		if (p.steps[i].kind == PATH_ANY)
			continue;
		step->length = p.steps[i].name_length;
		step->name = malloc(step->length + 1);
		if (!step->name)
			return -ENOMEM;
		memcpy(step->name, p.names + p.steps[i].name_offset, step->length);
	}
	return 0;
}

struct decoder_schema *
decoder_schema_new(const char *const *drops, size_t drop_count, int *ret_bad)
{
	struct decoder_schema *s = calloc(1, sizeof(*s));
	int bad = -1, r;

	if (!s)
		goto fail;
	if (drop_count > DROP_PATHS_MAX) {
		bad = (int)DROP_PATHS_MAX;
		goto fail;
	}
	randombytes_buf(s->source_key, sizeof(s->source_key));
	s->steps = calloc(drop_count * PATH_STEPS_MAX + 1, sizeof(s->steps[0]));
	s->starts = calloc(drop_count + 1, sizeof(s->starts[0]));
	if (!s->steps || !s->starts)
		goto fail;
	for (size_t i = 0; i < drop_count; i++) {
		r = add_drop(s, drops[i]);
		if (r < 0) {
			bad = r == -ENOMEM ? -1 : (int)i;
			goto fail;
		}
	}
	return s;
fail:
	if (ret_bad)
		*ret_bad = bad;
	decoder_schema_free(s);
	return NULL;
}

struct decoder_schema *
decoder_schema_new_for_keys(void)
{
	struct decoder_schema *s = decoder_schema_new(NULL, 0, NULL);

	if (s)
		s->keys_only = true;
	return s;
}

void
decoder_schema_free(struct decoder_schema *s)
{
	if (!s)
		return;
	forget_all(s);
	for (uint16_t i = 0; s->steps && i < s->step_count; i++)
		free(s->steps[i].name);
	free(s->steps);
	free(s->starts);
	free(s);
}
