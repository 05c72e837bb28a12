/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer in this process (broker_fixture.h) with pods, deployments and nodes, an attached handle, and a
 * factory. Answers of listers and indexes are put into one text.
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
	char text[8192];		/* the last answer */
};

/* options NULL: defaults. Nothing is synced, and there are no objects. */
struct lister_fixture *lister_fixture_new(const struct informer_factory_options *options);
void lister_fixture_free(struct lister_fixture *fx);
/* Replace the factory by another one over the same handle. */
void lister_fixture_renew(struct lister_fixture *fx, const struct informer_factory_options *options);

/* The factory's informer of a resource. */
struct informer_shared *lister_fixture_shared(struct lister_fixture *fx, const char *resource);

/* Put an object into a resource (by id), and commit; all resources are synced from then on. */
void lister_fixture_put(struct lister_fixture *fx, unsigned resource, const char *json);
/* Put a pod with users ("ernie,bert"; an annotation) and the label app=APP. NULL: none */
void lister_fixture_pod(struct lister_fixture *fx, const char *ns, const char *name, const char *users,
			const char *app);
void lister_fixture_delete(struct lister_fixture *fx, const char *ns, const char *name);

/*
 * What a lister says to a question, of this snapshot or, if that is NULL, of a new one:
 *
 *	list, list NS, list * SELECTOR, list NS SELECTOR	keys, sorted ("" is an empty argument)
 *	get NS/NAME, get NAME					the key
 *	INDEX=VALUE						keys, as they came
 *	INDEX							the index's values, sorted
 *
 * of pods, or with "nodes: " in front of nodes, joined with blanks; "error CODE" when it failed, or, of a
 * get, what informer_error_text() says.
 */
const char *lister_ask(struct lister_fixture *fx, const struct informer_snapshot *snapshot,
		       const char *question);
/* Each line is a question and its expected answer: "get jobs/done -> jobs/done\n". */
void assert_answers(struct lister_fixture *fx, const struct informer_snapshot *snapshot, const char *lines);

/* Words, gathered by a lister's `each`: the context. */
struct word_list {
	char *words[1024];
	size_t count;
};
int word_list_add_key(void *context, const struct informer_object *object);
/* Join the words with blanks, and free them. */
void word_list_join(struct word_list *list, bool sorted, char *text, size_t size);

#endif
