/* SPDX-License-Identifier: Apache-2.0 */
/* Which answers announce their length. That the length is right is tested by tools/serving/api_list. */
#include "tests/tools/serving/played_store.h"

#include "tools/informer-sim/list_measure.h"

/* Answers of the watch cache come in chunks, answers of storage with their length. */
TEST_CASE(answers_of_storage_announce_their_length)
{
	struct world *w = world_new();
	static const struct {
		const char *query;
		bool cached;
	} rows[] = {{"", false},
		    {"limit=1", false},
		    {"resourceVersion=0", true},
		    {"resourceVersion=0&limit=1", true},
		    {"resourceVersion=104", true},
		    {"resourceVersion=104&limit=1", false},
		    {"resourceVersion=104&resourceVersionMatch=Exact", false},
		    {"resourceVersion=104&resourceVersionMatch=NotOlderThan", true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ask ask = ask_for(w, NULL, rows[i].query, NULL);
		struct api_query query;

		assert_int_equal(api_query_parse(&ask.api, &query), 0);
		assert_int_equal(sim_list_is_cached(&query), rows[i].cached);
		api_query_done(&query);
	}
	world_free(w);
}
