/* SPDX-License-Identifier: Apache-2.0 */
/* From an ID, a cgroup and a process to the container, in a snapshot. */
#include "reader-lib/informer-node.h"
#include "tests/room.h"
#include "tests/support/kind_fixture.h"
#include "tests/support/reader_world.h"
#include "tests/support/temp_dir.h"

#define UID "6f2c0001-1111-4222-8333-444455556666"
#define ID(digit) digit "a0123456789012345678901234567890123456789012345678901234567890" digit
#define WEB_ID ID("1")
#define OLD_ID ID("2")
#define INIT_ID ID("3")
#define DEBUG_ID ID("4")
#define SANDBOX ID("5")

/* A Pod with a container that runs for the third time, an init container, and one to debug. */
static const char pod[] =
	"{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\",\"uid\":\"" UID "\"},\"status\":{"
	"\"containerStatuses\":[{\"name\":\"side\",\"restartCount\":0,\"state\":{\"waiting\":{}}},"
	"{\"name\":\"web\",\"containerID\":\"containerd://" WEB_ID "\",\"restartCount\":2,"
	"\"image\":\"registry/web:1\",\"imageID\":\"sha256:77\",\"state\":{\"running\":{}},"
	"\"lastState\":{\"terminated\":{\"containerID\":\"containerd://" OLD_ID "\"}}}],"
	"\"initContainerStatuses\":[{\"name\":\"set-up\",\"containerID\":\"cri-o://" INIT_ID "\","
	"\"restartCount\":0,\"image\":\"registry/set-up:1\",\"state\":{\"terminated\":{}}}],"
	"\"ephemeralContainerStatuses\":[{\"name\":\"debug\",\"containerID\":\"docker://" DEBUG_ID "\"}]}}";

static const struct kind_fixture workers = {
	.group = "example.org",
	.resource = "workers",
	.kind = "Worker",
	.indexes = "{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]},"
		   "{\"name\":\"containerID\",\"prefix\":12,\"rules\":["
		   "{\"path\":\"status.containerStatuses[*].containerID\",\"as\":\"scheme\"},"
		   "{\"path\":\"status.initContainerStatuses[*].containerID\",\"as\":\"scheme\"},"
		   "{\"path\":\"status.ephemeralContainerStatuses[*].containerID\",\"as\":\"scheme\"}]}",
	.objects = {pod},
};

static int
set_up(void **state)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct reader_world *w;

	kind_fixture_add(fx, &workers);
	broker_fixture_start(fx);
	*state = w = reader_world_over(fx, "workers", INFORMER_VERIFY);
	assert_int_equal(informer_begin(w->inf, &w->snap), 0);
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

/* "NAME KIND STATE RESTARTS[ previous][ deleted]", or the error's name. */
static const char *
said(int r, const struct informer_container *c)
{
	static const char *const kinds[] = {"unknown", "regular", "init", "ephemeral"};
	static const char *const states[] = {"none", "waiting", "running", "terminated"};
	static char text[256];
	const char *data;
	size_t length;

	if (r < 0)
		return informer_error_name(r);
	assert_int_equal(informer_object_name(&c->pod, &data, &length), 0);
	assert_memory_equal(data, "web-0", length);
	snprintf(text, sizeof(text), "%.*s %s %s %u%s%s", (int)c->name.length, c->name.data, kinds[c->kind],
		 states[c->state], c->restart_count, c->previous ? " previous" : "",
		 c->deleted ? " deleted" : "");
	return text;
}

static const char *
of_id(struct reader_world *w, const char *id)
{
	struct informer_container c = {.size = sizeof(c)};

	return said(informer_container_of_id(&w->snap, w->pods, id, strlen(id), &c), &c);
}

/* By the first characters of an ID; the answer must have this whole ID. */
static const char *
of_prefix(struct reader_world *w, const char *text, size_t length, const char *id)
{
	struct informer_container c = {.size = sizeof(c)};
	int r = informer_container_of_id(&w->snap, w->pods, text, length, &c);

	if (r == 0)
		assert_string_equal(c.id, id);
	return said(r, &c);
}

static const char *
of_cgroup(struct reader_world *w, const char *path)
{
	struct informer_container c = {.size = sizeof(c)};

	return said(informer_container_of_cgroup(&w->snap, w->pods, path, strlen(path), &c), &c);
}

TEST(an_id_gives_its_container)
{
	assert_string_equal(of_id(w, WEB_ID), "web regular running 2");
	assert_string_equal(of_id(w, "containerd://" WEB_ID), "web regular running 2");
	assert_string_equal(of_id(w, INIT_ID), "set-up init terminated 0");
	assert_string_equal(of_id(w, DEBUG_ID), "debug ephemeral none 0");
	assert_string_equal(of_id(w, SANDBOX), "INFORMER_E_NOT_FOUND");
	assert_string_equal(of_id(w, ""), "INFORMER_E_NOT_FOUND");
}

TEST(the_answer_has_the_image_and_the_id)
{
	struct informer_container c = {.size = sizeof(c)};

	assert_int_equal(
		informer_container_of_id(&w->snap, w->pods, "x://" WEB_ID, strlen("x://" WEB_ID), &c), 0);
	assert_text(0, c.image.data, c.image.length, "registry/web:1");
	assert_text(0, c.image_id.data, c.image_id.length, "sha256:77");
	assert_string_equal(c.id, WEB_ID);
	assert_int_equal(c.size, sizeof(c));
}

TEST(a_cgroup_gives_its_container)
{
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/" WEB_ID), "web regular running 2");
	assert_string_equal(
		of_cgroup(w, "0::/kubepods.slice/kubepods-pod" UID ".slice/crio-" INIT_ID ".scope\n"),
		"set-up init terminated 0");
	/* without the Pod's UID */
	assert_string_equal(of_cgroup(w, "/docker/" WEB_ID), "web regular running 2");
	/* a UID that is not cached, and a container that is */
	assert_string_equal(of_cgroup(w, "/kubepods/pod0f2c0001-1111-4222-8333-444455556666/" WEB_ID),
			    "web regular running 2");
}

/* A container's last run is known by its ID as long as the status has it. */
TEST(a_cgroup_of_the_last_run_gives_the_container)
{
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/" OLD_ID),
			    "web regular terminated 2 previous");
}

TEST(a_cgroup_without_a_known_container_gives_the_pod)
{
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID), " unknown none 0");
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/" SANDBOX), " unknown none 0");
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/crio-conmon-" WEB_ID), " unknown none 0");
}

/* Of clusters within one another, the one that this cache is of; a node that is a container is none. */
TEST(nested_cgroups_give_what_is_cached)
{
	assert_string_equal(of_cgroup(w, "/docker/" SANDBOX "/kubelet/kubepods/pod" UID "/" WEB_ID),
			    "web regular running 2");
	assert_string_equal(of_cgroup(w, "/kubepods/pod0f2c0001-1111-4222-8333-444455556666/" SANDBOX
					 "/kubepods/pod" UID "/" WEB_ID),
			    "web regular running 2");
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/" WEB_ID
					 "/kubepods/pod0f2c0001-1111-4222-8333-444455556666/" SANDBOX),
			    "web regular running 2");
}

/* A process of the node itself is told from a Pod's that is not cached. */
TEST(a_cgroup_of_no_pod_is_another_error_than_an_unknown_pod)
{
	char text[128];

	assert_string_equal(of_cgroup(w, "0::/system.slice/sshd.service"), "INFORMER_E_TYPE");
	assert_true(informer_error_text(INFORMER_E_TYPE, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "no Pod and no container"));
	assert_string_equal(of_cgroup(w, "/kubepods/pod0f2c0001-1111-4222-8333-444455556666/" SANDBOX),
			    "INFORMER_E_NOT_FOUND");
}

/* From 12 characters on, until they are the whole ID. */
TEST(a_prefix_of_an_id_gives_its_container)
{
	static const char web[] = "containerd://" WEB_ID;

	for (size_t length = 12; length <= 64; length++) {
		assert_string_equal(of_prefix(w, WEB_ID, length, WEB_ID), "web regular running 2");
		assert_string_equal(of_prefix(w, web, length + strlen("containerd://"), WEB_ID),
				    "web regular running 2");
	}
	assert_string_equal(of_prefix(w, INIT_ID, 12, INIT_ID), "set-up init terminated 0");
	assert_string_equal(of_prefix(w, DEBUG_ID, 63, DEBUG_ID), "debug ephemeral none 0");
	assert_string_equal(of_prefix(w, WEB_ID, 11, ""), "INFORMER_E_NOT_FOUND");
	assert_string_equal(of_prefix(w, SANDBOX, 12, ""), "INFORMER_E_NOT_FOUND");
	assert_string_equal(of_prefix(w, "1a01234567891", 13, ""), "INFORMER_E_NOT_FOUND");
	/* the last run is known by its Pod alone */
	assert_string_equal(of_prefix(w, OLD_ID, 12, ""), "INFORMER_E_NOT_FOUND");
}

/* A Pod web-0 in this namespace with the container "twin". */
static void
put_twin(struct reader_world *w, const char *ns, const char *id)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"%s\",\"uid\":\"u-%s\"},\"status\":{"
		 "\"containerStatuses\":[{\"name\":\"twin\",\"containerID\":\"containerd://%s\"}]}}",
		 ns, ns, id);
	broker_fixture_put(w->fx, (const char *const[]){text, NULL});
	reader_world_renew(w);
}

static void
delete_twin(struct reader_world *w, const char *ns)
{
	broker_fixture_delete(w->fx, ns, "web-0");
	reader_world_renew(w);
}

/* IDs that begin as WEB_ID: 20 characters alike; one is a whole ID of 14. */
#define TWIN_ID "1a012345678901234567f"
#define SHORT_ID "1a012345678901"

TEST(a_prefix_of_several_ids_is_ambiguous)
{
	char text[256];

	put_twin(w, "twin", TWIN_ID);
	assert_string_equal(of_prefix(w, WEB_ID, 12, ""), "INFORMER_E_AMBIGUOUS");
	informer_error_text(INFORMER_E_AMBIGUOUS, text, sizeof(text));
	assert_non_null(strstr(text, "'1a0123456789' is ambiguous"));
	assert_non_null(strstr(text, WEB_ID));
	assert_non_null(strstr(text, TWIN_ID));
	assert_string_equal(of_prefix(w, WEB_ID, 20, ""), "INFORMER_E_AMBIGUOUS");
	assert_string_equal(of_prefix(w, WEB_ID, 21, WEB_ID), "web regular running 2");
	assert_string_equal(of_prefix(w, TWIN_ID, strlen(TWIN_ID), TWIN_ID), "twin regular none 0");
	assert_string_equal(of_prefix(w, WEB_ID, 64, WEB_ID), "web regular running 2");
}

/* The same container in two Pods, as a mirror Pod that was made anew, is one container. */
TEST(one_id_in_two_pods_is_not_ambiguous)
{
	put_twin(w, "twin", WEB_ID);
	assert_string_not_equal(of_prefix(w, WEB_ID, 12, WEB_ID), "INFORMER_E_AMBIGUOUS");
}

/* A container whose whole ID was asked for comes before those whose IDs begin so, also if it is deleted. */
TEST(a_whole_id_comes_before_longer_ones)
{
	put_twin(w, "twin", TWIN_ID);
	put_twin(w, "short", SHORT_ID);
	assert_string_equal(of_prefix(w, WEB_ID, 14, SHORT_ID), "twin regular none 0");
	delete_twin(w, "short");
	assert_string_equal(of_prefix(w, WEB_ID, 14, SHORT_ID), "twin regular none 0 deleted");
	assert_string_equal(of_prefix(w, WEB_ID, 13, ""), "INFORMER_E_AMBIGUOUS");
}

/* Deleted containers are searched if no present one has the prefix. */
TEST(a_prefix_finds_present_pods_before_deleted_ones)
{
	put_twin(w, "twin", TWIN_ID);
	delete_twin(w, "twin");
	assert_string_equal(of_prefix(w, WEB_ID, 12, WEB_ID), "web regular running 2");
	assert_string_equal(of_prefix(w, TWIN_ID, 21, TWIN_ID), "twin regular none 0 deleted");
	delete_twin(w, "default");
	assert_string_equal(of_prefix(w, WEB_ID, 12, ""), "INFORMER_E_AMBIGUOUS");
	assert_string_equal(of_prefix(w, WEB_ID, 21, WEB_ID), "web regular running 2 deleted");
	assert_string_equal(of_prefix(w, INIT_ID, 12, INIT_ID), "set-up init terminated 0 deleted");
	assert_string_equal(of_prefix(w, WEB_ID, 11, ""), "INFORMER_E_NOT_FOUND");
	/* made anew, as a mirror Pod, and deleted again */
	put_twin(w, "other", INIT_ID);
	delete_twin(w, "other");
	assert_string_equal(of_prefix(w, INIT_ID, 12, INIT_ID), "twin regular none 0 deleted");
}

static void
delete_pod(struct broker_fixture *fx, void *context)
{
	(void)context;
	assert_int_equal(store_fixture_delete(fx->store, "default", "web-0"), 0);
	assert_int_equal(store_commit(fx->store->store), 0);
}

TEST(a_deleted_pods_container_is_found)
{
	broker_fixture_do(w->fx, delete_pod, NULL);
	reader_world_renew(w);
	assert_string_equal(of_id(w, WEB_ID), "web regular running 2 deleted");
	assert_string_equal(of_cgroup(w, "/kubepods/pod" UID "/" WEB_ID), "web regular running 2 deleted");
}

TEST(a_process_gives_its_container)
{
	struct informer_container c = {.size = sizeof(c)};
	char *proc;

	temp_dir_setup((void **)&proc);
	temp_file(proc, "7/cgroup", "0::/kubepods/pod" UID "/" WEB_ID "\n");
	setenv("HOST_PROC", proc, 1);
	assert_string_equal(said(informer_container_of_pid(&w->snap, w->pods, 7, 0, &c), &c),
			    "web regular running 2");
	assert_string_equal(c.id, WEB_ID);
	assert_int_equal(informer_container_of_pid(&w->snap, w->pods, 8, 0, &c), -ESRCH);
	temp_dir_teardown((void **)&proc);
}

/* An older program has a shorter struct: no byte behind it is written. */
TEST(a_shorter_struct_is_filled_as_far_as_it_goes)
{
	struct informer_container c;

	memset(&c, 0x5a, sizeof(c));
	c.size = offsetof(struct informer_container, restart_count);
	assert_int_equal(informer_container_of_id(&w->snap, w->pods, WEB_ID, strlen(WEB_ID), &c), 0);
	assert_int_equal(c.state, INFORMER_CONTAINER_RUNNING);
	assert_int_equal(c.restart_count, 0x5a5a5a5a);
	c.size = 0;
	assert_int_equal(informer_container_of_id(&w->snap, w->pods, WEB_ID, strlen(WEB_ID), &c), -EINVAL);
}
