/* SPDX-License-Identifier: Apache-2.0 */
/* informerctl rbac: prints the ServiceAccount, roles and bindings that the running informerd needs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/rbac_manifest.h"

#define DEFAULT_NAMESPACE "informer"

/* The command line. */
struct request {
	struct cli_args args;
	const char *name, *namespace_;
	bool gateway;
};

static const struct flag flags[] = {
	{"name", 0, "NAME", "of the ServiceAccount, the roles and the bindings (default: informerd)",
	 FLAG_TEXT(struct request, name)},
	{"namespace", 'n', "NS",
	 "the ServiceAccount's, which exists (default: " DEFAULT_NAMESPACE ", which is printed as well)",
	 FLAG_TEXT(struct request, namespace_)},
	{"gateway", 0, NULL, "also what informer-gateway needs to review tokens and access",
	 FLAG_ON(struct request, gateway)},
	CLI_START_FLAG(""),
	CLI_FLAGS,
};

/* Returns -1, or the exit code after a message. */
static int
write_manifest(const struct request *request, const char *report, size_t length, struct text *out)
{
	const struct rbac_account account = {
		.name = request->name,
		.namespace_ = request->namespace_ ? request->namespace_ : DEFAULT_NAMESPACE,
		.create_namespace = !request->namespace_,
		.gateway = request->gateway,
	};
	cJSON *tree = cJSON_ParseWithLength(report, length);
	int r = rbac_manifest_write(tree, &account, out);

	cJSON_Delete(tree);
	if (r == -EINVAL) {
		cli_fail(
			"informerd does not know its resources yet; informerctl stat says what it waits for");
		return EXIT_CONDITION;
	}
	if (r < 0)
		return cli_fail("%s", strerror(-r));
	if (r == 0)
		return -1;
	cli_fail("%d of informerd's resources have no rule, as informerd does not know their API group yet; "
		 "see informerctl stat, and try again",
		 r);
	return EXIT_CONDITION;
}

static int
print(const struct request *request, struct informer *inf)
{
	struct text out = TEXT_INIT(1);
	char *report;
	size_t length;
	int finish, r = cli_ask(inf, &request->args, &report, &length);

	if (r >= 0)
		return r;
	r = write_manifest(request, report, length, &out);
	informer_free(inf, report);
	finish = cli_finish(&out);
	text_done(&out);
	return r < 0 || finish ? finish : r;
}

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.name = "informerd"};
	struct cli_args *args = &request.args;
	struct informer *inf = NULL;
	int r = cli_parse_flags(command, argc, argv, args);

	if (r < 0) {
		inf = cli_attach(args, 0);
		r = inf ? print(&request, inf) : EXIT_USAGE;
	}
	informer_detach(inf);
	free(args->items);
	return r;
}

const struct cli_command command_rbac = {
	.name = "rbac",
	.summary = "the RBAC objects that informerd needs, for kubectl",
	.usage = "informerctl rbac [--name NAME] [-n NS] [--gateway] | kubectl apply -f -",
	.details =
		"A ServiceAccount, roles with list and watch of what informerd is configured to cache, and "
		"bindings.\n"
		"It works while the API server forbids everything. Exit code 1: a resource is not resolved "
		"yet.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
