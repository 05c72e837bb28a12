/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer in this process (broker_fixture.h) with pods, deployments and nodes, an attached handle, a
 * factory, and the names of what listers and indexes give as one text.
 */
#ifndef TESTS_SUPPORT_LISTER_FIXTURE_H
#define TESTS_SUPPORT_LISTER_FIXTURE_H

#include "tests/support/broker_fixture.h"

struct lister_fixture {
	struct broker_fixture *writer;
	unsigned deployments, nodes;	/* ids in the store */
	struct informer *inf;
	struct informer_factory *factory;
	struct informer_lister *pods;
	char text[8192];		/* what the last of the functions below returned */
};

/* options NULL: defaults. Nothing is synced, and no object there. */
struct lister_fixture *lister_fixture_new(const struct informer_factory_options *options);
void lister_fixture_free(struct lister_fixture *fx);
/* Another factory over the same handle takes the place of the one that is there. */
void lister_fixture_renew(struct lister_fixture *fx, const struct informer_factory_options *options);

/* Put an object into a resource (by id), and commit; all of it is synced from then on. */
void lister_fixture_put(struct lister_fixture *fx, unsigned resource, const char *json);
/* A pod in namespace/name with users ("ernie,bert"; its annotation) and label app=APP. NULL: none */
void lister_fixture_pod(struct lister_fixture *fx, const char *ns, const char *name, const char *users,
			const char *app);
void lister_fixture_delete(struct lister_fixture *fx, const char *ns, const char *name);

/* Keys of what is found, sorted unless said otherwise, joined with blanks; "error CODE" when it failed. */
const char *lister_fixture_list(struct lister_fixture *fx, const struct informer_snapshot *snapshot,
				const char *ns, const char *selector);
/* In the order in which they came. */
const char *lister_fixture_by_index(struct lister_fixture *fx, const struct informer_snapshot *snapshot,
				    const char *index, const char *value);
/* Values, sorted. */
const char *lister_fixture_values(struct lister_fixture *fx, const struct informer_snapshot *snapshot,
				  const char *index);
/* The same with a snapshot of its own. */
const char *lister_fixture_list_now(struct lister_fixture *fx, const char *ns, const char *selector);
const char *lister_fixture_by_index_now(struct lister_fixture *fx, const char *index, const char *value);
const char *lister_fixture_values_now(struct lister_fixture *fx, const char *index);

/* Words, to be gathered by a lister's `each`: context. */
struct word_list {
	char *words[1024];
	size_t count;
};
int word_list_add_key(void *context, const struct informer_object *object);
/* Joined with blanks, and freed. */
void word_list_join(struct word_list *list, bool sorted, char *text, size_t size);

#endif
