/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic example: print when a pod is added, updated or deleted. Once a minute a resync reports each pod
 * again.
 *
 *	cc pod-logger.c $(pkg-config --cflags --libs libinformer) -o pod-logger && ./pod-logger [NAMESPACE]
 */
#include <informer.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(const struct informer_object *pod, char name[256])
{
	const char *data = "";
	size_t length = 0;

	informer_object_name(pod, &data, &length);
	snprintf(name, 256, "%.*s", (int)length, data);
	return name;
}

static void on_add(void *context, const struct informer_object *pod, bool is_initial)
{
	char name[256];

	(void)context, (void)is_initial;
	printf("New Pod Added to Store: %s\n", name_of(pod, name));
}

static void on_update(void *context, const struct informer_object *old, const struct informer_object *pod)
{
	char before[256], after[256];

	(void)context;
	/* old is NULL if changes were coalesced; its name equals the new one */
	printf("%s Pod Updated to %s\n", name_of(old ? old : pod, before), name_of(pod, after));
}

static void on_delete(void *context, const struct informer_object *pod, bool final_state_known)
{
	char name[256];

	/* the name is known even if the final state is not */
	(void)context, (void)final_state_known;
	printf("Pod Deleted from Store: %s\n", name_of(pod, name));
}

static int fail(const char *what, int error)
{
	char why[512];

	informer_error_text(error, why, sizeof(why));
	fprintf(stderr, "pod-logger: %s: %s\n", what, why);
	return 1;
}

int main(int argc, char **argv)
{
	const struct informer_factory_options defaults = {
		.size = sizeof(defaults), .namespace_ = argc > 1 ? argv[1] : NULL, .resync_ms = 60 * 1000};
	const struct informer_handler_options handler = {
		.size = sizeof(handler), .on_add = on_add, .on_update = on_update, .on_delete = on_delete};
	struct informer_factory *factory;
	struct informer_shared *pods;
	struct informer *inf;
	sigset_t ends;
	int signal, r;

	/* block the signals before threads start, so that only sigwait() receives them */
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);

	if ((r = informer_attach(NULL, &inf)) < 0 ||
	    (r = informer_factory_new(inf, &defaults, &factory)) < 0)
		return fail("cannot attach", r);
	if ((r = informer_factory_for(factory, "pods", &pods)) < 0 ||
	    (r = informer_shared_add_handler(pods, &handler, NULL)) < 0 ||
	    (r = informer_factory_start(factory)) < 0 || (r = informer_run(inf)) < 0)
		return fail("cannot start", r);
	/* handlers go on waiting: informerd may start later, or cache pods later */
	if ((r = informer_factory_wait_synced(factory, 10000, NULL, NULL)) < 0)
		fail("not synced", r);

	sigwait(&ends, &signal);
	informer_factory_shutdown(factory);
	informer_detach(inf);
	return 0;
}
