/* SPDX-License-Identifier: Apache-2.0 */
/* Which RV a list shows, where its pages end, and the bytes of each form. */
#include "tests/tools/serving/played_store.h"

#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/list_measure.h"
#include "tools/serving/doc.h"
#include "tools/serving/proto_document.h"

/* An answer, read to its end. */
struct answer {
	int r; /* of opening */
	struct ask ask;
	struct api_buf text;
	char token[512];
	uint64_t items, bytes; /* as measured; a Table has no bytes */
};

static struct answer
list_with(struct world *w, const char *namespace_, const char *query, const char *accept, bool as_events,
	  size_t block)
{
	struct answer a = {.ask = ask_for(w, namespace_, query, accept)};
	_cleanup_(api_query_done) struct api_query parsed = {0};
	struct api_list *list = NULL;
	char bytes[4096];
	ssize_t n;

	a.r = api_query_parse(&a.ask.api, &parsed);
	if (a.r == 0)
		a.r = api_list_open(&a.ask.api, &parsed, &w->store, as_events, &list);
	if (a.r < 0)
		return a;
	if (block == 0) {
		block = sizeof(bytes);
		sim_list_measure(list, &a.items, &a.bytes);
	}
	api_buf_puts(&a.text, "");
	while ((n = api_list_read(list, bytes, block)) != 0)
		if (n > 0)
			api_buf_put(&a.text, bytes, (size_t)n);
		else
			assert_int_equal(n, -EAGAIN);
	if (sim_list_token(list))
		snprintf(a.token, sizeof(a.token), "%s", sim_list_token(list));
	api_list_close(list);
	return a;
}

static struct answer
list_of(struct world *w, const char *query)
{
	return list_with(w, NULL, query, NULL, false, 0);
}

static void
done(struct answer *a)
{
	api_buf_done(&a->text);
	api_status_done(&a->ask.api.status);
}

#define ANSWER _cleanup_(done) struct answer

/* "RV: name name ... +left" of a list in JSON; "CODE message" of a failure. */
static const char *
brief(struct answer *a)
{
	static char text[1024];
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_freep) char *rv = NULL;
	_cleanup_(api_buf_done) struct api_buf buf = {0};
	const struct api_node *meta, *items;
	struct api_doc_error error;

	if (a->r < 0) {
		snprintf(text, sizeof(text), "%d %.120s", a->ask.api.status.code, a->ask.api.status.message);
		return text;
	}
	assert_int_equal(api_doc_parse(&doc, a->text.data, a->text.len, NULL, &error), 0);
	meta = api_get(doc.root, "metadata");
	rv = api_text_dup(api_get(meta, "resourceVersion"));
	api_buf_printf(&buf, "%s:", rv);
	items = api_get(doc.root, "items");
	for (const struct api_node *item = items->child; item; item = item->next) {
		_cleanup_(api_freep) char *name = api_text_dup(sim_path(item, "metadata.name"));

		api_buf_printf(&buf, " %s", name);
	}
	if (api_get(meta, "remainingItemCount"))
		api_buf_printf(&buf, " +%.*s", (int)api_get(meta, "remainingItemCount")->text_len,
			       api_get(meta, "remainingItemCount")->text);
	snprintf(text, sizeof(text), "%s", buf.data);
	return text;
}

static void
expect(struct world *w, const char *namespace_, const char *query, const char *want)
{
	struct answer a = list_with(w, namespace_, query, NULL, false, 0);

	assert_string_equal(brief(&a), want);
	if (a.r == 0)
		assert_int_equal(a.bytes, a.text.len);
	done(&a);
}

static int
setup(void **state)
{
	struct world *w = world_new();

	put_pod(w, "shop", "a", "web", "n1");
	put_pod(w, "shop", "b", "db", "n2");
	put_pod(w, "shop", "c", "web", "n1");
	put_pod(w, "other", "z", "web", "n2");
	*state = w;
	return 0;
}

#define TEST(name) TEST_CASE_OF(struct world *w, setup, world_tear_down, name)

/* Objects come in order of their keys, which include the namespace. Selectors choose among them. */
TEST(objects_come_in_order_of_keys)
{
	expect(w, NULL, "", "104: z a b c");
	expect(w, "shop", "", "104: a b c");
	expect(w, "sho", "", "104:");
	expect(w, NULL, "labelSelector=app=web", "104: z a c");
	expect(w, "shop", "fieldSelector=spec.nodeName=n2", "104: b");
}

/* The RV that is shown follows upstream's table of resourceVersion, match and limit. */
TEST(the_rv_that_is_shown_follows_upstreams_table)
{
	put_pod(w, "shop", "d", NULL, NULL);
	expect(w, "shop", "resourceVersion=0", "105: a b c d");
	expect(w, "shop", "resourceVersion=102", "105: a b c d"); /* not before it */
	expect(w, "shop", "resourceVersion=102&resourceVersionMatch=NotOlderThan", "105: a b c d");
	expect(w, "shop", "resourceVersion=102&resourceVersionMatch=Exact", "102: a b");
	expect(w, "shop", "resourceVersion=102&limit=1", "102: a +1"); /* with a limit, exactly it */
	expect(w, "shop", "resourceVersion=102&limit=1&resourceVersionMatch=NotOlderThan", "105: a +3");
	expect(w, "shop", "resourceVersion=0&limit=1", "105: a b c d"); /* the watch cache knows no limit */
	expect(w, "shop", "resourceVersion=106&resourceVersionMatch=Exact",
	       "504 Timeout: Too large resource version: 106, current: 105");
	w->floor = 103;
	expect(w, "shop", "resourceVersion=102&resourceVersionMatch=Exact",
	       "410 The resourceVersion for the provided list is too old.");
}

/* Every page shows the first page's RV, whatever changes meanwhile, and tells how many objects are left. */
TEST(pages_show_one_state)
{
	ANSWER first = list_of(w, "limit=2"), second = {0}, third = {0};
	char query[600];

	assert_string_equal(brief(&first), "104: z a +2");
	put_pod(w, "shop", "bb", NULL, NULL);
	delete_pod(w, "shop/c");
	snprintf(query, sizeof(query), "limit=1&continue=%s", first.token);
	second = list_of(w, query);
	assert_string_equal(brief(&second), "104: b +1");
	snprintf(query, sizeof(query), "limit=1&continue=%s", second.token);
	third = list_of(w, query);
	assert_string_equal(brief(&third), "104: c");
	assert_string_equal(third.token, "");
}

/* A page of a selected list does not tell how many objects are left. */
TEST(a_selections_page_does_not_tell_what_is_left)
{
	ANSWER page = list_with(w, "shop", "limit=1&labelSelector=app=web", NULL, false, 0);

	assert_string_equal(brief(&page), "104: a");
	assert_string_not_equal(page.token, "");
	expect(w, "shop", "limit=2&labelSelector=app=web", "104: a c");
}

/* A token whose state is gone gives 410, with a new token that goes on with the current state. */
TEST(an_expired_token_says_how_to_go_on)
{
	char query[600] = "limit=1";
	ANSWER first = list_with(w, "shop", query, NULL, false, 0);

	put_pod(w, "shop", "b2", NULL, NULL);
	w->floor = 105;
	snprintf(query, sizeof(query), "limit=2&continue=%s", first.token);
	ANSWER second = list_with(w, "shop", query, NULL, false, 0);
	assert_int_equal(second.r, -EINVAL);
	assert_int_equal(second.ask.api.status.code, 410);
	snprintf(query, sizeof(query), "limit=2&continue=%s", second.ask.api.status.next_token);
	ANSWER third = list_with(w, "shop", query, NULL, false, 0);
	assert_string_equal(brief(&third), "105: b b2 +1");
}

TEST(a_malformed_token_is_refused)
{
	expect(w, NULL, "continue=%25",
	       "400 invalid continue token: continue key is not valid: illegal base64 data");
	expect(w, NULL, "continue=e30",
	       "400 invalid continue token: continue key is not valid: server does not recognize this "
	       "encoded version");
	expect(w, NULL, "continue=e30&resourceVersion=5",
	       "400 specifying resource version is not allowed when using continue");
}

TEST(before_the_first_list_it_is_429)
{
	w->unsynced = true;
	expect(w, NULL, "", "429 storage is (re)initializing");
	expect(w, NULL, "resourceVersion=5&limit=2", "429 storage is (re)initializing");
	w->unsynced = false;
}

TEST(a_plain_list_is_upstreams_bytes)
{
	ANSWER a = list_with(w, "other", "", NULL, false, 0);

	assert_int_equal(a.items, 1);
	assert_non_null(strstr(a.text.data,
			       "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
			       "\"resourceVersion\":\"104\"},\"items\":[{\"metadata\":{\"name\":\"z\""));
	assert_string_equal(a.text.data + a.text.len - 4, "}]}\n");
}

TEST(a_metadata_list_has_metadata_alone)
{
	ANSWER a = list_with(w, "shop", "", AS_METADATA_LIST, false, 0);

	assert_string_equal(brief(&a), "104: a b c");
	assert_int_equal(a.bytes, a.text.len);
	assert_non_null(strstr(a.text.data,
			       "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\""));
	assert_non_null(strstr(
		a.text.data,
		"[{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{"));
	assert_null(strstr(a.text.data, "nodeName"));
}

/* A Table has its columns once and a row for each object. Its length is not announced: ages change. */
TEST(a_table_has_a_row_for_each)
{
	ANSWER a = list_with(w, "shop", "", AS_TABLE, false, 0);
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_doc_error error;

	assert_int_equal(a.items, 3);
	assert_int_equal(a.bytes, 0);
	assert_int_equal(api_doc_parse(&doc, a.text.data, a.text.len, NULL, &error), 0);
	assert_int_equal(sim_count(api_get(doc.root, "rows")), 3);
	assert_true(sim_count(api_get(doc.root, "columnDefinitions")) > 3);
}

/* In protobuf the length field equals the length of the rest. */
TEST(protobuf_begins_with_its_length)
{
	ANSWER a = list_with(w, "shop", "", API_PROTOBUF_TYPE, false, 0);
	ANSWER paged = list_with(w, "shop", "limit=2", API_PROTOBUF_TYPE, false, 7);
	const unsigned char *at = memmem(a.text.data, a.text.len, "PodList\x12", 8);
	size_t length = 0;

	assert_memory_equal(a.text.data, "k8s", 4);
	assert_int_equal(a.bytes, a.text.len);
	assert_non_null(at);
	at += 8;
	for (unsigned shift = 0;; shift += 7) {
		length |= (size_t)(*at & 0x7f) << shift;
		if (*at++ < 0x80)
			break;
	}
	assert_int_equal((const char *)at + length + API_PROTO_TRAILER_LENGTH - a.text.data, a.text.len);
	assert_non_null(memmem(paged.text.data, paged.text.len, paged.token, strlen(paged.token)));
}

/* A list is the same however small the pieces in which it is read. */
TEST(a_list_is_the_same_in_pieces_of_any_size)
{
	static const char *const accepts[] = {NULL, AS_METADATA_LIST, API_PROTOBUF_TYPE};

	for (unsigned i = 0; i < 3; i++) {
		ANSWER whole = list_with(w, NULL, "limit=3", accepts[i], false, 0);

		for (size_t block = 1; block < 40; block += 6) {
			ANSWER cut = list_with(w, NULL, "limit=3", accepts[i], false, block);

			assert_int_equal(cut.text.len, whole.text.len);
			assert_memory_equal(cut.text.data, whole.text.data, whole.text.len);
		}
	}
}

/* No call visits more than a stride of objects, selected or not. */
TEST(no_call_takes_long)
{
	struct ask ask = ask_for(w, NULL, "labelSelector=app=none-at-all", NULL);
	struct api_list *list;
	struct api_query query;
	unsigned waits = 0;
	char bytes[512];
	ssize_t n;

	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%u", i);
		put_pod(w, "shop", name, "db", NULL);
	}
	assert_int_equal(api_query_parse(&ask.api, &query), 0);
	assert_int_equal(api_list_open(&ask.api, &query, &w->store, false, &list), 0);
	do {
		unsigned before = w->handed;

		n = api_list_read(list, bytes, sizeof(bytes));
		assert_in_range(w->handed - before, 0, API_LIST_STRIDE);
		waits += n == -EAGAIN;
	} while (n != 0);
	assert_int_equal(waits, 2); /* the first call gives the head, the fourth and last the tail */
	api_list_close(list);
	api_query_done(&query);
}

/* As a watch's initial events a list is a line for each object, and the bookmark after them. */
TEST(a_list_can_begin_a_watch)
{
	ANSWER a = list_with(w, "shop", "allowWatchBookmarks=true&labelSelector=app=web", NULL, true, 0);
	unsigned lines = 0;

	assert_int_equal(a.bytes, a.text.len);
	for (const char *c = a.text.data; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 3);
	assert_memory_equal(a.text.data, "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\"", 38);
	assert_non_null(strstr(a.text.data, "{\"type\":\"BOOKMARK\""));
	assert_non_null(strstr(a.text.data, "\"k8s.io/initial-events-end\":\"true\""));
}
