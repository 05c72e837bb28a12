/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of kubectl's words, each with the words to type instead; see kubectl_words.h. */
#include "tools/informerctl/kubectl_words.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define READS_ONLY "that is for kubectl: informerctl shows what is cached, and changes nothing"
#define ASKS_INFORMERD                                                                                       \
	"that is informerd's: informerctl asks informerd and not the API server; see informerd --help"

struct kubectl_word {
	const char *word, *instead;
};

static const struct kubectl_word commands[] = {
	{"watch", "here it is informerctl get RESOURCE --watch"},
	{"list", "here it is informerctl get RESOURCE"},
	{"ls", "here it is informerctl get RESOURCE"},
	{"describe", "here it is informerctl get RESOURCE NAME -o yaml"},
	{"events",
	 "here it is informerctl changes RESOURCE; for the cluster's Event objects informerctl get events"},
	{"status", "here it is informerctl stat"},
	{"top", "here it is informerctl stat, of informerd itself; for pods and nodes that is for kubectl"},
	{"version", "here it is informerctl --version"},
	{"api-resources", "here it is informerctl stat: the resources that are cached"},
	{"config", ASKS_INFORMERD},
	{"cluster-info", "here it is informerctl stat"},
	{"logs", READS_ONLY},
	{"exec", READS_ONLY},
	{"attach", READS_ONLY},
	{"cp", READS_ONLY},
	{"port-forward", READS_ONLY},
	{"proxy", READS_ONLY},
	{"debug", READS_ONLY},
	{"apply", READS_ONLY},
	{"create", READS_ONLY},
	{"delete", READS_ONLY},
	{"edit", READS_ONLY},
	{"patch", READS_ONLY},
	{"replace", READS_ONLY},
	{"scale", READS_ONLY},
	{"autoscale", READS_ONLY},
	{"label", READS_ONLY},
	{"annotate", READS_ONLY},
	{"run", READS_ONLY},
	{"expose", READS_ONLY},
	{"rollout", READS_ONLY},
	{"set", READS_ONLY},
	{"drain", READS_ONLY},
	{"cordon", READS_ONLY},
	{"uncordon", READS_ONLY},
	{"taint", READS_ONLY},
	{"auth", READS_ONLY},
	{"certificate", READS_ONLY},
	{"diff", READS_ONLY},
	{"explain", READS_ONLY},
	{"kustomize", READS_ONLY},
	{"api-versions", READS_ONLY},
};

static const struct kubectl_word flags[] = {
	{"f", "objects come from informerd, not from files"},
	{"filename", "objects come from informerd, not from files"},
	{"k", "objects come from informerd, not from files"},
	{"kustomize", "objects come from informerd, not from files"},
	{"raw", READS_ONLY},
	{"subresource", READS_ONLY},
	{"chunk-size", "nothing is fetched in pieces here: leave it out"},
	{"limit", "nothing is fetched in pieces here: leave it out, or use head"},
	{"server-print", "tables are made here: leave it out"},
	{"template", "use -o json with jq: informerctl get pods -o json | jq -r '.items[].metadata.name'"},
	{"show-managed-fields",
	 "-o json and yaml show them if informerd keeps them: informerd --keep-managed-fields"},
	{"request-timeout", "nothing is asked over the network: leave it out"},
	{"kubeconfig", ASKS_INFORMERD},
	{"context", ASKS_INFORMERD},
	{"cluster", ASKS_INFORMERD},
	{"user", ASKS_INFORMERD},
	{"server", ASKS_INFORMERD},
	{"s", ASKS_INFORMERD},
	{"token", ASKS_INFORMERD},
	{"as", ASKS_INFORMERD},
	{"as-group", ASKS_INFORMERD},
	{"as-uid", ASKS_INFORMERD},
	{"certificate-authority", ASKS_INFORMERD},
	{"client-certificate", ASKS_INFORMERD},
	{"client-key", ASKS_INFORMERD},
	{"insecure-skip-tls-verify", ASKS_INFORMERD},
	{"tls-server-name", ASKS_INFORMERD},
};

#define WITH_JQ "use -o json with jq: informerctl get pods -A -o json | jq -r '.items[].metadata.name'"
static const struct kubectl_word outputs[] = {
	{"jsonpath", WITH_JQ},
	{"jsonpath-file", WITH_JQ},
	{"jsonpath-as-json", WITH_JQ},
	{"go-template", WITH_JQ},
	{"go-template-file", WITH_JQ},
	{"template", WITH_JQ},
	{"templatefile", WITH_JQ},
	{"custom-columns", "use -o json with jq: informerctl get pods -A -o json | jq -r '.items[] | "
			   "[.metadata.name, .spec.nodeName] | @tsv'"},
	{"custom-columns-file", "use -o json with jq: informerctl get pods -A -o json | jq -r '.items[] | "
				"[.metadata.name, .spec.nodeName] | @tsv'"},
	{"kyaml", "there is yaml"},
};

/* Resources of the API server, with the group where the name alone is no core resource's. */
static const struct {
	const char *short_name, *singular, *name;
} resources[] = {
	{"", "controllerrevision", "controllerrevisions.apps"},
	{"", "endpointslice", "endpointslices.discovery.k8s.io"},
	{"", "ingressclass", "ingressclasses.networking.k8s.io"},
	{"", "job", "jobs.batch"},
	{"", "lease", "leases.coordination.k8s.io"},
	{"", "podtemplate", "podtemplates"},
	{"", "role", "roles.rbac.authorization.k8s.io"},
	{"", "secret", "secrets"},
	{"cj", "cronjob", "cronjobs.batch"},
	{"cm", "configmap", "configmaps"},
	{"crd", "customresourcedefinition", "customresourcedefinitions.apiextensions.k8s.io"},
	{"csr", "certificatesigningrequest", "certificatesigningrequests.certificates.k8s.io"},
	{"deploy", "deployment", "deployments.apps"},
	{"ds", "daemonset", "daemonsets.apps"},
	{"ep", "endpoints", "endpoints"},
	{"ev", "event", "events"},
	{"hpa", "horizontalpodautoscaler", "horizontalpodautoscalers.autoscaling"},
	{"ing", "ingress", "ingresses.networking.k8s.io"},
	{"limits", "limitrange", "limitranges"},
	{"netpol", "networkpolicy", "networkpolicies.networking.k8s.io"},
	{"no", "node", "nodes"},
	{"ns", "namespace", "namespaces"},
	{"pc", "priorityclass", "priorityclasses.scheduling.k8s.io"},
	{"pdb", "poddisruptionbudget", "poddisruptionbudgets.policy"},
	{"po", "pod", "pods"},
	{"pv", "persistentvolume", "persistentvolumes"},
	{"pvc", "persistentvolumeclaim", "persistentvolumeclaims"},
	{"quota", "resourcequota", "resourcequotas"},
	{"rc", "replicationcontroller", "replicationcontrollers"},
	{"rs", "replicaset", "replicasets.apps"},
	{"sa", "serviceaccount", "serviceaccounts"},
	{"sc", "storageclass", "storageclasses.storage.k8s.io"},
	{"sts", "statefulset", "statefulsets.apps"},
	{"svc", "service", "services"},
};

const char *
kubectl_word_resource(const char *word)
{
	for (size_t i = 0; *word && i < sizeof(resources) / sizeof(*resources); i++) {
		const char *name = resources[i].name;
		size_t plural = strcspn(name, ".");

		if (strcmp(word, resources[i].short_name) == 0 || strcmp(word, resources[i].singular) == 0 ||
		    strcmp(word, name) == 0 || (strlen(word) == plural && memcmp(word, name, plural) == 0))
			return name;
	}
	return NULL;
}

const char *
kubectl_word_singular(const char *short_name)
{
	for (size_t i = 0; *short_name && i < sizeof(resources) / sizeof(*resources); i++)
		if (strcasecmp(short_name, resources[i].short_name) == 0)
			return resources[i].singular;
	return NULL;
}

static const char *
look_up(const struct kubectl_word *words, size_t count, const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < count; i++)
		if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0)
			return words[i].instead;
	return NULL;
}
#define LOOK_UP(words, word) look_up(words, sizeof(words) / sizeof(*(words)), word)

const char *
kubectl_word_command(const char *word)
{
	return LOOK_UP(commands, word);
}

const char *
kubectl_word_flag(const char *name)
{
	return LOOK_UP(flags, name);
}

const char *
kubectl_word_output(const char *format)
{
	return LOOK_UP(outputs, format);
}
