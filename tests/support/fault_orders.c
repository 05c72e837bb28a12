/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fault_proxy's orders line by line, keeps those in force, and writes the record. */
#include "tests/support/fault_orders.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/time_ns.h"

static FILE *record;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the variables below, and the record */
static unsigned upstream_port;
static bool upstream_tls;
static gnutls_certificate_credentials_t server_credentials; /* old ones are kept: a connection may use them */
static struct fault strike, on_list;
static unsigned strikes, lists_left;
static struct fault instead; /* while instead_until */
static char instead_verb[16];
static uint64_t instead_until;

static _Atomic uint64_t slow_until, frozen_until, refuse_until;

uint64_t
fault_now_ms(void)
{
	return time_ns(CLOCK_MONOTONIC) / 1000000;
}

void
fault_sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}, NULL);
}

bool
fault_orders_begin(const char *record_path)
{
	record = fopen(record_path, "ae");
	return record;
}

void
fault_say(const char *format, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	fprintf(record, "%llu ", (unsigned long long)fault_now_ms());
	va_start(args, format);
	vfprintf(record, format, args);
	va_end(args);
	fputc('\n', record);
	fflush(record);
	pthread_mutex_unlock(&lock);
}

bool
fault_is_slow(void)
{
	return atomic_load(&slow_until) > fault_now_ms();
}

bool
fault_is_frozen(void)
{
	return atomic_load(&frozen_until) > fault_now_ms();
}

bool
fault_is_refusing(void)
{
	return atomic_load(&refuse_until) > fault_now_ms();
}

unsigned
fault_upstream(bool *ret_tls)
{
	unsigned port;

	pthread_mutex_lock(&lock);
	port = upstream_port;
	*ret_tls = upstream_tls;
	pthread_mutex_unlock(&lock);
	return port;
}

gnutls_certificate_credentials_t
fault_certificates(void)
{
	gnutls_certificate_credentials_t credentials;

	pthread_mutex_lock(&lock);
	credentials = server_credentials;
	pthread_mutex_unlock(&lock);
	return credentials;
}

/* True for requests whose answer must be complete: lists, in any form. */
static bool
makes_whole(const char *verb)
{
	return strcmp(verb, "LIST") == 0 || strcmp(verb, "PAGE") == 0 || strcmp(verb, "WATCHLIST") == 0;
}

unsigned
fault_meet(const char *verb, struct fault *ret_fault, unsigned *ret_strikes)
{
	unsigned code = 0;

	pthread_mutex_lock(&lock);
	*ret_fault = (struct fault){FAULT_NONE, 0, 0};
	*ret_strikes = strikes;
	if (instead_until > fault_now_ms() && (!*instead_verb || strcmp(instead_verb, verb) == 0))
		code = instead.code;
	if (code == 0 && lists_left > 0 && makes_whole(verb)) {
		lists_left--;
		*ret_fault = on_list;
		if (on_list.kind == FAULT_ANSWER)
			code = on_list.code;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

bool
fault_struck(unsigned *seen, struct fault *ret_fault)
{
	bool struck;

	pthread_mutex_lock(&lock);
	struck = *seen != strikes;
	*seen = strikes;
	if (struck)
		*ret_fault = strike;
	pthread_mutex_unlock(&lock);
	return struck;
}

static bool
read_fault(const char *text, struct fault *ret)
{
	static const char *const words[] = {
		[FAULT_CUT] = "cut",         [FAULT_MID_FRAME] = "mid-frame", [FAULT_TRUNCATE] = "truncate",
		[FAULT_INVALID] = "invalid", [FAULT_ERROR_EVENT] = "error",   [FAULT_ANSWER] = "answer"};
	char word[32] = "";

	*ret = (struct fault){FAULT_NONE, 0, 0};
	sscanf(text, "%31s %u", word, &ret->code);
	for (unsigned i = FAULT_CUT; i <= FAULT_ANSWER; i++)
		if (strcmp(word, words[i]) == 0)
			ret->kind = i;
	return ret->kind != FAULT_NONE;
}

static void
use_certificates(const char *dir)
{
	gnutls_certificate_credentials_t fresh;
	char cert[512], key[512], ca[512];

	snprintf(cert, sizeof(cert), "%s/server.crt", dir);
	snprintf(key, sizeof(key), "%s/server.key", dir);
	snprintf(ca, sizeof(ca), "%s/ca.crt", dir);
	if (gnutls_certificate_allocate_credentials(&fresh) < 0 ||
	    gnutls_certificate_set_x509_key_file(fresh, cert, key, GNUTLS_X509_FMT_PEM) < 0 ||
	    gnutls_certificate_set_x509_trust_file(fresh, ca, GNUTLS_X509_FMT_PEM) <= 0) {
		fprintf(stderr, "fault_proxy: no certificates in %s\n", dir);
		exit(1);
	}
	pthread_mutex_lock(&lock);
	server_credentials = fresh;
	pthread_mutex_unlock(&lock);
}

static void
use_upstream(const char *order)
{
	char tls[8] = "";

	pthread_mutex_lock(&lock);
	sscanf(order, "upstream %u %7s", &upstream_port, tls);
	upstream_tls = *tls;
	pthread_mutex_unlock(&lock);
}

bool
fault_orders_obey(const char *order)
{
	unsigned n = 0, code = 0;
	unsigned long after = 0;
	char verb[16] = "";
	struct fault fault;
	int at = 0;

	if (strncmp(order, "note ", 5) == 0) {
		fault_say("NOTE %s", order + 5);
	} else if (strncmp(order, "certificates ", 13) == 0) {
		use_certificates(order + 13);
	} else if (strncmp(order, "upstream ", 9) == 0) {
		use_upstream(order);
	} else if (sscanf(order, "refuse %u", &n) == 1) {
		atomic_store(&refuse_until, fault_now_ms() + n);
	} else if (sscanf(order, "slow %u", &n) == 1) {
		atomic_store(&slow_until, fault_now_ms() + n);
	} else if (sscanf(order, "freeze %u", &n) == 1) {
		atomic_store(&frozen_until, fault_now_ms() + n);
	} else if (sscanf(order, "answer %u %u %15s", &code, &n, verb) >= 2) {
		pthread_mutex_lock(&lock);
		instead.code = code;
		instead_until = fault_now_ms() + n;
		snprintf(instead_verb, sizeof(instead_verb), "%s", verb);
		pthread_mutex_unlock(&lock);
	} else if (sscanf(order, "list %u %lu %n", &n, &after, &at) == 2 && at > 0 &&
		   read_fault(order + at, &fault)) {
		fault.after = after;
		pthread_mutex_lock(&lock);
		on_list = fault;
		lists_left = n;
		pthread_mutex_unlock(&lock);
	} else if (read_fault(order, &fault) && fault.kind != FAULT_ANSWER) {
		pthread_mutex_lock(&lock);
		strike = fault;
		strikes++;
		pthread_mutex_unlock(&lock);
	} else {
		return false;
	}
	return true;
}
