/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of objects: whole ones, and lent ones, which end with their snapshot. Filtered copies:
 * path_set_test.c.
 */
#include <dirent.h>
#include <limits.h>

#include "reader-lib/read/copy.h"
#include "tests/room.h"
#include "tests/support/places.h"
#include "tests/support/purse.h"
#include "tests/support/reader_world.h"

SET_UP(set_up, reader_world_new(pod_of_all_kinds))

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* Every call gives the same answer for a copy as for its source. */
TEST(a_copy_says_what_its_source_says)
{
	struct informer_path *path = reader_world_path(w, "spec.containers[*].image");
	struct informer_label_selector *selector;
	struct informer_object copy;
	struct informer_value value;
	const char *data;
	size_t length;
	char key[64];
	int r;

	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	assert_string_equal(reader_world_json(w->again, &copy), pod_of_all_kinds);
	ASSERT_TEXT(informer_object_namespace(&copy, &data, &length), "default");
	ASSERT_TEXT(informer_object_name(&copy, &data, &length), "web-0");
	ASSERT_TEXT(informer_object_uid(&copy, &data, &length), "u-1");
	ASSERT_TEXT(informer_object_resource_version(&copy, &data, &length), "77");
	r = informer_object_key(&copy, key, sizeof(key), &length);
	assert_text(r, key, length, "default/web-0");
	assert_int_equal(informer_object_seq(&copy), informer_object_seq(&w->pod));
	assert_int_equal(informer_object_created_seq(&copy), informer_object_created_seq(&w->pod));
	assert_int_equal(informer_object_position(&copy), informer_object_position(&w->pod));
	/* the path caches the shapes of both in turn */
	for (int i = 0; i < 3; i++) {
		ASSERT_TEXT(informer_get_string(&w->pod, path, &data, &length), "i1");
		ASSERT_TEXT(informer_get_string(&copy, path, &data, &length), "i1");
	}
	assert_int_equal(informer_object_value(&copy, &value), 0);
	assert_int_equal(informer_value_count(&value), 4);
	assert_int_equal(informer_label_selector_compile(w->inf, "app=web", 7, &selector, NULL), 0);
	assert_int_equal(informer_label_selector_matches(selector, &copy), 1);
	informer_label_selector_free(selector);
	informer_path_free(path);
	informer_object_free(&copy);
	assert_null(copy.object_);
	informer_object_free(&copy);
}

TEST(a_copy_outlives_snapshot_and_handle)
{
	struct informer_object copy, second;

	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	informer_end(&w->snap);
	assert_int_equal(informer_object_copy(w->inf, &copy, &second), 0);
	informer_detach(w->inf);
	w->inf = NULL;
	assert_string_equal(reader_world_json(w->text, &copy), pod_of_all_kinds);
	informer_object_free(&copy);
	assert_string_equal(reader_world_json(w->text, &second), pod_of_all_kinds);
	informer_object_free(&second);
}

/* A forked child may read and free a copy, though the parent's handle is closed to it. */
TEST(a_forked_child_may_use_its_copy)
{
	struct informer_object copy, more;
	int status;
	pid_t child;

	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	child = fork();
	if (child == 0) {
		size_t length = 0;
		bool ok = informer_object_json(&copy, w->again, sizeof(w->again), &length) == 0 &&
			  strcmp(w->again, pod_of_all_kinds) == 0 &&
			  informer_object_copy(w->inf, &w->pod, &more) == INFORMER_E_FORKED &&
			  informer_object_copy(w->inf, &copy, &more) == INFORMER_E_FORKED;

		informer_object_free(&copy);
		_exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(reader_world_json(w->text, &copy), pod_of_all_kinds);
	informer_object_free(&copy);
}

/* Freeing an object that is no copy does nothing; invalid arguments are refused. */
TEST(only_copies_are_freed)
{
	struct informer_object same = w->pod, zero = {0};

	informer_object_free(NULL);
	informer_object_free(&zero);
	informer_object_free(&same);
	assert_string_equal(reader_world_json(w->text, &same), pod_of_all_kinds);
	assert_int_equal(informer_object_copy(NULL, &same, &zero), -EINVAL);
	assert_int_equal(informer_object_copy(w->inf, NULL, &zero), -EINVAL);
	assert_int_equal(informer_object_copy(w->inf, &zero, &zero), -EINVAL);
	assert_int_equal(informer_object_copy(w->inf, &same, NULL), -EINVAL);
	informer_end(&w->snap);
	assert_int_equal(informer_object_copy(w->inf, &same, &zero), -EINVAL);
}

/* A copy is in no snapshot of the store: it has no resources, and lookups in it are refused. */
TEST(a_copys_own_snapshot_has_no_resources)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_object copy, found;
	struct informer_iter it;
	uint32_t position;
	const char *data;
	size_t length;

	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	assert_int_equal(informer_resource_count(copy.snapshot_), 0);
	assert_int_equal(informer_resource_info_at(copy.snapshot_, informer_object_position(&copy), &info),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_resource_index_name(copy.snapshot_, 0, 0, &data, &length),
			 INFORMER_E_NOT_FOUND);
	assert_int_equal(informer_resource_info(copy.snapshot_, w->pods, &info), -EINVAL);
	assert_int_equal(informer_resource_position(copy.snapshot_, w->pods, &position), -EINVAL);
	assert_int_equal(informer_get_z(copy.snapshot_, w->pods, "default", "web-0", &found), -EINVAL);
	assert_int_equal(informer_list(copy.snapshot_, w->pods, &it), -EINVAL);
	assert_int_equal(informer_verify(copy.snapshot_, NULL, NULL, NULL), -EINVAL);
	informer_end((struct informer_snapshot *)(uintptr_t)copy.snapshot_);
	assert_string_equal(reader_world_json(w->text, &copy), pod_of_all_kinds);
	informer_object_free(&copy);
}

static void *
read_often(void *context)
{
	const struct informer_object *copy = context;
	char text[2048];
	size_t length;

	for (int i = 0; i < 200; i++) {
		if (informer_object_json(copy, text, sizeof(text), &length) < 0 ||
		    strcmp(text, pod_of_all_kinds) != 0)
			return context;
	}
	return NULL;
}

/* Several threads read one copy while its source's handle works. */
TEST(threads_share_a_copy)
{
	struct informer_object copy;
	pthread_t threads[4];
	void *bad;

	assert_int_equal(informer_object_copy(w->inf, &w->pod, &copy), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_often, &copy), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	informer_object_free(&copy);
}

#define LIST(...) (const char *const[]){__VA_ARGS__, NULL}
#define WHO "\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"u-1\",\"resourceVersion\":\"77\""

/* A lent copy ends with its snapshot; freeing it does nothing. */
TEST(a_lent_copy_goes_with_its_snapshot)
{
	struct purse purse = PURSE;
	struct informer *inf = purse_attach(&purse, w->fx->socket);
	struct informer_object object, lent, kept;
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct path_set *set;
	size_t before;

	broker_fixture_wait_answer(inf);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(path_set_compile(inf, LIST("status"), 1, NULL, 0, &set), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "web-0", &object), 0);
	before = purse.out;
	for (int i = 0; i < 10; i++) {
		assert_int_equal(object_copy_lent(inf, &object, set, &lent), 0);
		informer_object_free(&lent);
		assert_string_equal(reader_world_json(w->text, &lent),
				    "{\"metadata\":{" WHO "},\"status\":{\"phase\":\"Running\"}}");
	}
	assert_int_equal(purse.out, before + 10);
	/* a copy of a lent copy stays */
	assert_int_equal(informer_object_copy(inf, &lent, &kept), 0);
	assert_int_equal(object_copy_lent(inf, &kept, set, &lent), -EINVAL);
	informer_end(&snap);
	assert_int_equal(purse.out, before + 1);
	assert_string_equal(reader_world_json(w->text, &kept),
			    "{\"metadata\":{" WHO "},\"status\":{\"phase\":\"Running\"}}");
	informer_object_free(&kept);
	assert_int_equal(purse.out, before);
	path_set_free(inf, set);
	informer_detach(inf);
	assert_int_equal(purse.out, 0);
}

/* A failed allocation gives -ENOMEM and loses nothing. */
TEST(a_copy_that_gets_no_memory_says_so)
{
	struct purse purse = PURSE;
	struct informer *inf = purse_attach(&purse, w->fx->socket);
	struct informer_object object, copy;
	struct informer_resource *pods;
	struct informer_snapshot snap;
	char big[200000];
	size_t n, tries = 0;
	int r;

	/* large enough to need allocations for texts and names */
	n = (size_t)snprintf(big, sizeof(big),
			     "{\"metadata\":{\"name\":\"big\",\"namespace\":\"default\"},\"data\":{");
	for (int i = 0; i < 1500; i++)
		n += (size_t)snprintf(big + n, sizeof(big) - n,
				      "%s\"a-field-of-its-own-%d\":\"with some text %d\"", i ? "," : "", i,
				      i);
	snprintf(big + n, sizeof(big) - n, "}}");
	broker_fixture_put(w->fx, (const char *const[]){big, NULL});
	broker_fixture_wait_answer(inf);
	assert_int_equal(informer_resource_open(inf, "pods", &pods), 0);
	assert_int_equal(informer_begin(inf, &snap), 0);
	assert_int_equal(informer_get_z(&snap, pods, "default", "big", &object), 0);
	do {
		purse.left = tries;
		r = informer_object_copy(inf, &object, &copy);
	} while (r == -ENOMEM && ++tries < 100);
	assert_int_equal(r, 0);
	assert_true(tries > 3);
	assert_string_equal(reader_world_json(w->text, &copy), big);
	purse.left = SIZE_MAX;
	informer_object_free(&copy);
	informer_end(&snap);
	informer_detach(inf);
}

/* ---- of real size ---- */

static char *
file_text(const char *name)
{
	char path[PATH_MAX], *text = calloc(1, 1u << 20);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", pods_directory(), name);
	f = fopen(path, "re");
	if (!f || !text)
		abort();
	assert_true(fread(text, 1, (1u << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* Every real pod comes unchanged from its copy, and from a copy that keeps all by name. */
TEST(pods_survive_copying)
{
	struct informer_object object, copy;
	struct path_set *all, *none;
	struct informer_iter it;
	struct dirent *entry;
	int count = 0;
	DIR *directory = opendir(pods_directory());

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		char *text;

		if (!strstr(entry->d_name, ".json"))
			continue;
		text = file_text(entry->d_name);
		broker_fixture_put(w->fx, (const char *const[]){text, NULL});
		free(text);
	}
	closedir(directory);
	informer_end(&w->snap);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	assert_int_equal(
		path_set_compile(w->inf, LIST("[*]"), 1, LIST("no.such[*].path", "spec.nor.this"), 2, &all),
		0);
	assert_int_equal(
		path_set_compile(w->inf,
				 LIST("spec[*][*][*]", "metadata", "status[*]", "kind", "apiVersion", "spec"),
				 6, NULL, 0, &none),
		0);
	assert_int_equal(informer_list(&w->snap, w->pods, &it), 0);
	while (informer_next(&it, &object) > 0) {
		reader_world_json(w->text, &object);
		assert_int_equal(informer_object_copy(w->inf, &object, &copy), 0);
		assert_string_equal(reader_world_json(w->again, &copy), w->text);
		informer_object_free(&copy);
		assert_int_equal(object_copy_filtered(w->inf, &object, all, &copy), 0);
		assert_string_equal(reader_world_json(w->again, &copy), w->text);
		informer_object_free(&copy);
		if (!strstr(w->text, "\"text\"")) { /* not the pod with more than pods have */
			assert_int_equal(object_copy_filtered(w->inf, &object, none, &copy), 0);
			assert_string_equal(reader_world_json(w->again, &copy), w->text);
			informer_object_free(&copy);
		}
		count++;
	}
	assert_true(count > 30);
	path_set_free(w->inf, all);
	path_set_free(w->inf, none);
}
