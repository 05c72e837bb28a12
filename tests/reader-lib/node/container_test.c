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
		   "{\"name\":\"containerID\",\"rules\":["
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
