/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/room.h"
#include "tools/informerctl/whois_question.h"

#define DIGITS_32 "0123456789abcdef0123456789abcdef"

TEST_CASE(a_word_says_by_its_form_what_it_is)
{
	static const struct {
		const char *word;
		enum whois_question question;
	} cases[] = {
		{"1", WHOIS_PID},
		{"4194304", WHOIS_PID},
		{"10.0.0.1", WHOIS_IP},
		{"::1", WHOIS_IP},
		{"fd00::10:1", WHOIS_IP},
		{"::ffff:10.0.0.1", WHOIS_IP},
		{"/kubepods/pod1", WHOIS_CGROUP},
		{"0::/", WHOIS_CGROUP},
		{"kubepods/burstable", WHOIS_CGROUP},
		{DIGITS_32 DIGITS_32, WHOIS_CONTAINER},
		{"containerd://x", WHOIS_CONTAINER},
		{"0123456789ab", WHOIS_CONTAINER},
		{"123456789012", WHOIS_CONTAINER},
		{DIGITS_32 "0", WHOIS_CONTAINER},
		{DIGITS_32, WHOIS_UID},
		{"6f2c0001-1111-4222-8333-444455556666", WHOIS_UID},
		{"", WHOIS_UNCLEAR},
		{"web-0", WHOIS_UNCLEAR},
		{"-1", WHOIS_UNCLEAR},
		{"256.0.0.1", WHOIS_UNCLEAR},
		{"12345678901", WHOIS_UNCLEAR},
		{"0123456789aB", WHOIS_UNCLEAR},
		{DIGITS_32 DIGITS_32 "0", WHOIS_UNCLEAR},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (whois_question_of(cases[i].word) != cases[i].question)
			fail_msg("'%s': %d", cases[i].word, (int)whois_question_of(cases[i].word));
}
