/* SPDX-License-Identifier: Apache-2.0 */
/* Well-known resources, as Kubernetes 1.25 and later have them; see well_known.h. */
#include "writer/kube/well_known.h"

/* The short names follow the singular. */
#define ROW(g, v, r, k, s, in_namespace, ...)                                                                \
	{                                                                                                    \
		.group = g, .version = v, .resource = r, .kind = k, .singular = s,                           \
		.short_names = (char *[]){__VA_ARGS__},                                                      \
		.n_short_names = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *),                           \
		.namespaced = in_namespace, .can_list = true, .can_watch = true                              \
	}
#define NAMESPACED(g, v, r, k, s, ...) ROW(g, v, r, k, s, true, __VA_ARGS__)
#define CLUSTER(g, v, r, k, s, ...) ROW(g, v, r, k, s, false, __VA_ARGS__)

const struct kube_resource well_known[] = {
	NAMESPACED("", "v1", "configmaps", "ConfigMap", "configmap", "cm"),
	NAMESPACED("", "v1", "endpoints", "Endpoints", "endpoints", "ep"),
	NAMESPACED("", "v1", "events", "Event", "event", "ev"),
	NAMESPACED("", "v1", "limitranges", "LimitRange", "limitrange", "limits"),
	CLUSTER("", "v1", "namespaces", "Namespace", "namespace", "ns"),
	CLUSTER("", "v1", "nodes", "Node", "node", "no"),
	NAMESPACED("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "persistentvolumeclaim",
		   "pvc"),
	CLUSTER("", "v1", "persistentvolumes", "PersistentVolume", "persistentvolume", "pv"),
	NAMESPACED("", "v1", "pods", "Pod", "pod", "po"),
	NAMESPACED("", "v1", "podtemplates", "PodTemplate", "podtemplate"),
	NAMESPACED("", "v1", "replicationcontrollers", "ReplicationController", "replicationcontroller",
		   "rc"),
	NAMESPACED("", "v1", "resourcequotas", "ResourceQuota", "resourcequota", "quota"),
	NAMESPACED("", "v1", "secrets", "Secret", "secret"),
	NAMESPACED("", "v1", "serviceaccounts", "ServiceAccount", "serviceaccount", "sa"),
	NAMESPACED("", "v1", "services", "Service", "service", "svc"),
	NAMESPACED("apps", "v1", "controllerrevisions", "ControllerRevision", "controllerrevision"),
	NAMESPACED("apps", "v1", "daemonsets", "DaemonSet", "daemonset", "ds"),
	NAMESPACED("apps", "v1", "deployments", "Deployment", "deployment", "deploy"),
	NAMESPACED("apps", "v1", "replicasets", "ReplicaSet", "replicaset", "rs"),
	NAMESPACED("apps", "v1", "statefulsets", "StatefulSet", "statefulset", "sts"),
	NAMESPACED("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
		   "horizontalpodautoscaler", "hpa"),
	NAMESPACED("batch", "v1", "cronjobs", "CronJob", "cronjob", "cj"),
	NAMESPACED("batch", "v1", "jobs", "Job", "job"),
	NAMESPACED("coordination.k8s.io", "v1", "leases", "Lease", "lease"),
	NAMESPACED("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", "endpointslice"),
	NAMESPACED("events.k8s.io", "v1", "events", "Event", "event", "ev"),
	CLUSTER("networking.k8s.io", "v1", "ingressclasses", "IngressClass", "ingressclass"),
	NAMESPACED("networking.k8s.io", "v1", "ingresses", "Ingress", "ingress", "ing"),
	NAMESPACED("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "networkpolicy", "netpol"),
	NAMESPACED("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", "poddisruptionbudget",
		   "pdb"),
	CLUSTER("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding",
		"clusterrolebinding"),
	CLUSTER("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", "clusterrole"),
	NAMESPACED("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", "rolebinding"),
	NAMESPACED("rbac.authorization.k8s.io", "v1", "roles", "Role", "role"),
	CLUSTER("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", "priorityclass", "pc"),
	CLUSTER("storage.k8s.io", "v1", "csidrivers", "CSIDriver", "csidriver"),
	CLUSTER("storage.k8s.io", "v1", "csinodes", "CSINode", "csinode"),
	CLUSTER("storage.k8s.io", "v1", "storageclasses", "StorageClass", "storageclass", "sc"),
	CLUSTER("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", "volumeattachment"),
	CLUSTER("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
		"customresourcedefinition", "crd", "crds"),
};
const size_t n_well_known = sizeof(well_known) / sizeof(*well_known);
