/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/informerctl/whois_question.h"

#include <arpa/inet.h>
#include <string.h>

#include "reader-lib/informer-node.h"

#define PID_DIGITS_MAX 10u
#define CONTAINER_DIGITS 64u
#define STATIC_UID_DIGITS 32u
#define UID_LENGTH 36u

enum whois_question
whois_question_of(const char *word)
{
	size_t length = strlen(word), hex = strspn(word, "0123456789abcdef");
	unsigned char address[sizeof(struct in6_addr)];

	if (length == 0)
		return WHOIS_UNCLEAR;
	if (length <= PID_DIGITS_MAX && strspn(word, "0123456789") == length)
		return WHOIS_PID;
	if (inet_pton(AF_INET, word, address) == 1 || inet_pton(AF_INET6, word, address) == 1)
		return WHOIS_IP;
	if (strstr(word, "://"))
		return WHOIS_CONTAINER;
	if (strchr(word, '/'))
		return WHOIS_CGROUP;
	if (length == STATIC_UID_DIGITS && hex == length)
		return WHOIS_UID;
	if (length >= INFORMER_CONTAINER_PREFIX_MIN && length <= CONTAINER_DIGITS && hex == length)
		return WHOIS_CONTAINER;
	if (length == UID_LENGTH && strspn(word, "0123456789abcdef-") == length)
		return WHOIS_UID;
	return WHOIS_UNCLEAR;
}
