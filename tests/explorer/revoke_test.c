/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader is revoked while it begins, looks up, reads and ends. Meanwhile commits replace what it reads,
 * bury it, punch it, and reuse its places once the reader has let go (PROTOCOLS.md, Revoke). A call is right,
 * or says EXPIRED or NOT_READY. Only zeros are written over what the reader reads.
 */
#include "reader-lib/attach/snapshot.h"
#include "tests/explorer/explorer.h"
#include "tests/explorer/steps.h"
#include "tests/room.h"
#include "writer/serve/broker_internal.h"

#define LARGE_BYTES 9000 /* more than two pages */
#define LARGE_PATH "metadata.annotations.large"

static struct informer_resource *pods;
static struct informer_path *large_path;
static uint64_t seq_of_first;

static void
revoke_it(void)
{
	struct client *client = pair.writer->broker->clients;

	steps_replace("first", 2);
	store_revoke(pair.store, client->slot);
	client_hang_up(client);
	steps_replace("first", 3);
	steps_replace("first", 4);
	/* a reader that has let go by now loses the slot, and its places may be reused */
	explorer_ring();
	store_reclaim(pair.store);
	steps_replace("first", 5);
}

static bool
has_expired(const struct informer_snapshot *snap)
{
	struct informer_moment moment;
	int r = informer_snapshot_moment(snap, &moment);

	explorer_claim(r == 0 || r == INFORMER_E_EXPIRED, "moment says %s", informer_error_name(r));
	return r == INFORMER_E_EXPIRED;
}

/* What was read is right, or the snapshot has expired; then lent memory may be zero. */
static void
look(const struct informer_snapshot *snap)
{
	uint64_t expected = snapshot_of(snap)->root->seq - seq_of_first + 1;
	const char *version = "", *large = NULL;
	struct informer_object o;
	char got = 0, middle = 0;
	size_t length;
	int r = informer_get_z(snap, pods, "default", "first", &o);

	if (r == 0)
		r = informer_object_resource_version(&o, &version, &length);
	if (r == 0)
		got = version[0];
	if (r == 0)
		r = informer_get_string(&o, large_path, &large, &length);
	if (r == 0)
		middle = large[length / 2];
	if (has_expired(snap))
		return;
	explorer_claim(r == (expected == 1 ? 0 : INFORMER_E_NOT_FOUND), "a read says %s",
		       informer_error_name(r));
	explorer_claim(got == (char)('0' + expected), "version %c in the root of %u", got ? got : '-',
		       (unsigned)expected);
	explorer_claim(expected != 1 || middle == 'x', "a byte of it is %#x", (unsigned)middle);
}

static void
read_once(void)
{
	struct informer_snapshot snap;
	int r = informer_begin(pair.inf, &snap);

	if (r == INFORMER_E_NOT_READY)
		return;
	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	look(&snap);
	informer_end(&snap);
}

static const struct explorer_program revoking = {
	.name = "read and revoke",
	.threads = {{"reader", read_once}, {"writer", revoke_it}},
	.preemptions = 2,
	.old_values = 1,
};

/* A pod of version 1, one part of which has pages of its own. */
static int
put_large(void)
{
	static char text[LARGE_BYTES + 512], filler[LARGE_BYTES + 1];

	memset(filler, 'x', LARGE_BYTES);
	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"first\",\"namespace\":\"default\",\"uid\":\"u\",\"annotations\":"
		 "{\"large\":\"%s\"},\"resourceVersion\":\"1\"}}",
		 filler);
	return store_fixture_put(pair.writer->store, text) < 0 ? -1 : store_commit(pair.store);
}

static int
set_up(void **state)
{
	struct informer_snapshot snap;

	(void)state;
	pair_begin();
	steps_put_many();
	if (put_large() < 0 || informer_resource_open(pair.inf, "pods", &pods) < 0 ||
	    informer_path_compile(pair.inf, LARGE_PATH, strlen(LARGE_PATH), &large_path) < 0 ||
	    informer_begin(pair.inf, &snap) < 0)
		return -1;
	seq_of_first = snapshot_of(&snap)->root->seq;
	look(&snap);
	informer_end(&snap);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	informer_path_free(large_path);
	pair_end();
	return 0;
}

#define TEST(name) TEST_CASE_IN(set_up, tear_down, name)

TEST_GOOD(what_a_revoked_reader_sees_is_right_or_zero, revoking)

TEST_FOUND(weaker_orders_are_found, revoking,
	   {"V1 dropped", "slot_close", NULL, EXPLORER_STORE, 0, EXPLORER_DROP},
	   {"R2'' dropped", "slot_is_closed", "open_snapshot", EXPLORER_LOAD, 0, EXPLORER_REPEAT},
	   {"S2' dropped", "slot_is_closed", "shortcut_by_key", EXPLORER_LOAD, 0, EXPLORER_REPEAT},
	   {"R3' dropped", "slot_is_closed", "snapshot_validate", EXPLORER_LOAD, 0, EXPLORER_REPEAT})
