/* SPDX-License-Identifier: Apache-2.0 */
/* Which answers have their length told ahead; that it is right, tools/serving/api_list tests. */
#include "tests/tools/serving/played_store.h"

#include "tools/informer-sim/list_measure.h"

/* What the watch cache answers comes in chunks, what storage answers with its length. */
TEST_CASE(which_answers_are_the_watch_caches)
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
