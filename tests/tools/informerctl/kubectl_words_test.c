/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/room.h"
#include "tools/informerctl/kubectl_words.h"

TEST_CASE(a_resource_is_found_by_each_name_that_kubectl_takes)
{
	static const char *const words[] = {"deploy", "deployment", "deployments", "deployments.apps"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_string_equal(kubectl_word_resource(words[i]), "deployments.apps");
	assert_string_equal(kubectl_word_resource("ns"), "namespaces");
	assert_string_equal(kubectl_word_resource("secret"), "secrets");
	assert_string_equal(kubectl_word_resource("endpoints"), "endpoints");
}

TEST_CASE(another_word_is_no_resource)
{
	static const char *const words[] = {"", "deploys", "deployments.example.com", "widgets", "nod", "s"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (kubectl_word_resource(words[i]))
			fail_msg("'%s': %s", words[i], kubectl_word_resource(words[i]));
}
