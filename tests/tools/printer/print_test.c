/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table rows as Kubernetes prints them. The pods are the cases of Kubernetes' printers test, and further ones
 * that its code distinguishes. Each case is a test.
 */
#include "tests/room.h"
#include "tools/printer/age.h"
#include "tools/printer/print.h"

#define NOW "2026-03-01T12:00:00Z"

/* json: with ' for ", an object without its name. cells: those after the name, joined by '|'. */
struct row {
	const char *sentence;
	const char *json;
	const char *cells;
	const struct printer *printer;
	bool wide;
};

#define READY(name) "{'name':'" name "','ready':true,'restartCount':0,'state':{'running':{}}}"
#define ENDED(name, code, reason)                                                                            \
	"{'name':'" name "','ready':false,'restartCount':0,'state':{'terminated':{'exitCode':" #code         \
	",'reason':'" reason "'}}}"
#define WAITS(name, reason)                                                                                  \
	"{'name':'" name "','ready':false,'restartCount':0,'state':{'waiting':{'reason':'" reason "'}}}"
#define TWO "'containers':[{'name':'a'},{'name':'b'}]"
#define ONE "'containers':[{'name':'a'}]"
#define SIDECAR "'initContainers':[{'name':'s','restartPolicy':'Always'}]"
#define POD(spec, status)                                                                                    \
	"{'metadata':{'creationTimestamp':'2026-03-01T10:00:00Z'},'spec':{" spec "},'status':{" status "}}"
#define DELETED(phase_and_more)                                                                              \
	"{'metadata':{'deletionTimestamp':'2026-03-01T11:00:00Z'},'spec':{" ONE                              \
	"},'status':{" phase_and_more "}}"

static const struct row rows[] = {
	{"all containers ready is Running",
	 POD(TWO, "'phase':'Running','containerStatuses':[" READY("a") "," READY("b") "]"),
	 "2/2|Running|0|120m", &print_pod, false},
	{"a container that is not ready does not count",
	 POD(TWO, "'phase':'Running','containerStatuses':[" READY("a") ",{'name':'b','restartCount':3}]"),
	 "1/2|Running|3|120m", &print_pod, false},
	{"no status at all shows the phase", POD(TWO, "'phase':'Pending'"), "0/2|Pending|0|120m", &print_pod,
	 false},
	{"status.reason stands before the phase", POD(TWO, "'phase':'Failed','reason':'Evicted'"),
	 "0/2|Evicted|0|120m", &print_pod, false},
	{"a crash loop is told by its waiting reason",
	 POD(ONE, "'phase':'Running','containerStatuses':[" WAITS("a", "CrashLoopBackOff") "]"),
	 "0/1|CrashLoopBackOff|0|120m", &print_pod, false},
	{"an image that cannot be pulled is told",
	 POD(TWO,
	     "'phase':'Pending','containerStatuses':[" READY("a") "," WAITS("b", "ImagePullBackOff") "]"),
	 "1/2|ImagePullBackOff|0|120m", &print_pod, false},
	{"the first container's reason wins",
	 POD(TWO, "'phase':'Running','containerStatuses':[" WAITS("a", "ErrImagePull") "," WAITS(
			  "b", "CrashLoopBackOff") "]"),
	 "0/2|ErrImagePull|0|120m", &print_pod, false},
	{"a container that ended is Completed",
	 POD(ONE, "'phase':'Succeeded','containerStatuses':[" ENDED("a", 0, "Completed") "]"),
	 "0/1|Completed|0|120m", &print_pod, false},
	{"a container that failed is Error",
	 POD(ONE, "'phase':'Failed','containerStatuses':[" ENDED("a", 1, "Error") "]"), "0/1|Error|0|120m",
	 &print_pod, false},
	{"an end without a reason shows the exit code",
	 POD(ONE, "'phase':'Failed','containerStatuses':[" ENDED("a", 7, "") "]"), "0/1|ExitCode:7|0|120m",
	 &print_pod, false},
	{"an end without a reason shows the signal first",
	 POD(ONE,
	     "'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':137,'signal':9}}}]"),
	 "0/1|Signal:9|0|120m", &print_pod, false},
	{"one completed beside one running and ready pod is Running",
	 POD(TWO,
	     "'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[" ENDED(
		     "a", 0, "Completed") "," READY("b") "]"),
	 "1/2|Running|0|120m", &print_pod, false},
	{"one completed beside one running in a pod that is not ready is NotReady",
	 POD(TWO,
	     "'phase':'Running','conditions':[{'type':'Ready','status':'False'}],'containerStatuses':[" ENDED(
		     "a", 0, "Completed") "," READY("b") "]"),
	 "1/2|NotReady|0|120m", &print_pod, false},
	{"init containers are counted while they run",
	 POD(
		 ONE ",'initContainers':[{'name':'i'},{'name':'j'}]",
		 "'phase':'Pending','initContainerStatuses':[" ENDED(
			 "i", 0, "Completed") ",{'name':'j','state':{'running':{}}}],'containerStatuses':"
					      "[" WAITS("a", "PodInitializing") "]"),
	 "0/1|Init:1/2|0|120m", &print_pod, false},
	{"an init container that waits for its turn is a count",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Pending','initContainerStatuses':[" WAITS("i", "PodInitializing") "]"),
	 "0/1|Init:0/1|0|120m", &print_pod, false},
	{"an init container's failure is told",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Pending','initContainerStatuses':[" ENDED("i", 1, "Error") "]"),
	 "0/1|Init:Error|0|120m", &print_pod, false},
	{"an init container's crash loop is told",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Pending','initContainerStatuses':[" WAITS("i", "CrashLoopBackOff") "]"),
	 "0/1|Init:CrashLoopBackOff|0|120m", &print_pod, false},
	{"an init container's exit code is told when there is no reason",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Pending','initContainerStatuses':[" ENDED("i", 3, "") "]"),
	 "0/1|Init:ExitCode:3|0|120m", &print_pod, false},
	{"an init container's signal is told when there is no reason",
	 POD(ONE ",'initContainers':[{'name':'i'}]", "'phase':'Pending','initContainerStatuses':[{'name':'i',"
						     "'state':{'terminated':{'exitCode':1,'signal':15}}}]"),
	 "0/1|Init:Signal:15|0|120m", &print_pod, false},
	{"while initializing the init containers' restarts are counted",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Pending','initContainerStatuses':[{'name':'i','restartCount':4,'state':{'running':{}}}"
	     "],'containerStatuses':[{'name':'a','restartCount':9}]"),
	 "0/1|Init:0/1|4|120m", &print_pod, false},
	{"once initialized their restarts are forgotten",
	 POD(ONE ",'initContainers':[{'name':'i'}]",
	     "'phase':'Running','initContainerStatuses':[{'name':'i','restartCount':4,'state':{'terminated':{"
	     "'exitCode':0}}}],'containerStatuses':[" READY("a") "]"),
	 "1/1|Running|0|120m", &print_pod, false},
	{"a sidecar that runs counts as a container",
	 POD(ONE "," SIDECAR,
	     "'phase':'Running','initContainerStatuses':[{'name':'s','started':true,'ready':true,'"
	     "restartCount':2,'state':{'running':{}}}],'containerStatuses':[" READY("a") "]"),
	 "2/2|Running|2|120m", &print_pod, false},
	{"a sidecar that is not ready counts in the total alone",
	 POD(ONE "," SIDECAR,
	     "'phase':'Running','initContainerStatuses':[{'name':'s','started':true,'ready':false,'"
	     "restartCount':0,'state':{'running':{}}}],'containerStatuses':[" READY("a") "]"),
	 "1/2|Running|0|120m", &print_pod, false},
	{"a sidecar that has not started holds the pod up",
	 POD(ONE "," SIDECAR, "'phase':'Pending','initContainerStatuses':[{'name':'s','started':false,'state'"
			      ":{'running':{}}}]"),
	 "0/2|Init:0/1|0|120m", &print_pod, false},
	{"a sidecar that fails in an initialized pod is told beside ready containers",
	 POD(ONE "," SIDECAR,
	     "'phase':'Running','conditions':[{'type':'Initialized','status':'True'}],'initContainerStatuses'"
	     ":[{'name':'s','started':false,'restartCount':5,'state':{'waiting':{'reason':'CrashLoopBackOff'}"
	     "}}],'containerStatuses':[" READY("a") "]"),
	 "1/2|Init:CrashLoopBackOff|5|120m", &print_pod, false},
	{"restarts tell when the last one was",
	 POD(ONE, "'phase':'Running','containerStatuses':[{'name':'a','ready':true,'restartCount':3,'"
		  "lastState':{'terminated':{'finishedAt':'2026-03-01T11:55:00Z'}},'state':{'running':{}}}]"),
	 "1/1|Running|3 (5m ago)|120m", &print_pod, false},
	{"the latest of the restarts counts",
	 POD(TWO, "'phase':'Running','containerStatuses':[{'restartCount':1,'lastState':{'terminated':{'"
		  "finishedAt':'2026-03-01T11:59:50Z'}}},{'restartCount':2,'lastState':{'terminated':{'"
		  "finishedAt':'2026-03-01T10:00:00Z'}}}]"),
	 "0/2|Running|3 (10s ago)|120m", &print_pod, false},
	{"a gated pod is told",
	 POD(ONE, "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'"
		  "SchedulingGated'}]"),
	 "0/1|SchedulingGated|0|120m", &print_pod, false},
	{"a pod that is being deleted is Terminating", DELETED("'phase':'Running'"),
	 "0/1|Terminating|0|<unknown>", &print_pod, false},
	{"a finished pod that is being deleted keeps its word", DELETED("'phase':'Failed'"),
	 "0/1|Failed|0|<unknown>", &print_pod, false},
	{"a deleted pod on a lost node is Unknown", DELETED("'phase':'Running','reason':'NodeLost'"),
	 "0/1|Unknown|0|<unknown>", &print_pod, false},
	{"an empty object breaks nothing", "{}", "0/0||0|<unknown>", &print_pod, false},
	{"fields of wrong kinds break nothing",
	 "{'metadata':[],'spec':{'containers':'x','initContainers':{}},'status':{'phase':3,'"
	 "containerStatuses':[1,null],'initContainerStatuses':['x']}}",
	 "0/0|Init:0/0|0|<unknown>", &print_pod, false},
	{"wide tells address and node",
	 POD(ONE ",'nodeName':'n1'", "'phase':'Running','podIPs':[{'ip':'10.0.0.1'},{'ip':'fd00::1'}]"),
	 "0/1|Running|0|120m|10.0.0.1|n1|<none>|<none>", &print_pod, true},
	{"wide tells readiness gates that are met",
	 POD(ONE ",'readinessGates':[{'conditionType':'x/a'},{'conditionType':'x/b'}]",
	     "'phase':'Running','nominatedNodeName':'n2','conditions':[{'type':'x/"
	     "a','status':'True'},{'type':'x/b','status':'False'}]"),
	 "0/1|Running|0|120m|<none>|<none>|n2|1/2", &print_pod, true},

	{"a service shows its ports",
	 "{'metadata':{},'spec':{'type':'NodePort','clusterIPs':['10.9.8.7','fd00::1'],'ports':[{'port':80,'"
	 "protocol':'TCP'},{'port':53,'nodePort':30053,'protocol':'UDP'}]}}",
	 "NodePort|10.9.8.7|<none>|80/TCP,53:30053/UDP|<unknown>", &print_service, false},
	{"a headless service without ports",
	 "{'spec':{'type':'ClusterIP','clusterIPs':['None'],'selector':{'b':'2','a':'1'}}}",
	 "ClusterIP|None|<none>|<none>|<unknown>|a=1,b=2", &print_service, true},
	{"a balancer that has no address yet is pending",
	 "{'spec':{'type':'LoadBalancer','clusterIPs':['10.0.0.1']}}",
	 "LoadBalancer|10.0.0.1|<pending>|<none>|<unknown>", &print_service, false},
	{"a balancer's addresses are cut short",
	 "{'spec':{'type':'LoadBalancer','clusterIPs':['10.0.0.1']},'status':{'loadBalancer':{'ingress':[{'"
	 "hostname':'long.example.com.'},{'ip':'9.9.9.9'}]}}}",
	 "LoadBalancer|10.0.0.1|9.9.9.9,long....|<none>|<unknown>", &print_service, false},
	{"a balancer's and own external addresses are joined",
	 "{'spec':{'type':'LoadBalancer','clusterIPs':['10.0.0.1'],'externalIPs':['8.8.8.8']},'status':{'"
	 "loadBalancer':{'ingress':[{'ip':'9.9.9.9'},{'ip':'9.9.9.9'}]}}}",
	 "LoadBalancer|10.0.0.1|9.9.9.9,8.8.8.8|<none>|<unknown>", &print_service, false},
	{"an external name stands for the address",
	 "{'spec':{'type':'ExternalName','externalName':'db.example.com'}}",
	 "ExternalName|<none>|db.example.com|<none>|<unknown>", &print_service, false},

	{"a node shows readiness and roles",
	 "{'metadata':{'labels':{'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/"
	 "control-plane':'','kubernetes.io/"
	 "role':'worker'}},'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'"
	 "True'}],'nodeInfo':{'kubeletVersion':'v1.32.0'}}}",
	 "Ready,SchedulingDisabled|control-plane,worker|<unknown>|v1.32.0", &print_node, false},
	{"a node whose kubelet is silent is NotReady",
	 "{'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}", "NotReady|<none>|<unknown>|",
	 &print_node, false},
	{"a node without conditions is Unknown",
	 "{'status':{'addresses':[{'type':'InternalIP','address':'10.0.0.2'}]}}",
	 "Unknown|<none>|<unknown>||10.0.0.2|<none>|<unknown>|<unknown>|<unknown>", &print_node, true},

	{"a deployment shows how far it is",
	 "{'spec':{'replicas':3,'template':{'spec':{'containers':[{'name':'a','image':'x:1'},{'name':'b','"
	 "image':'y'}]}},'selector':{'matchLabels':{'z':'1'},'matchExpressions':[{'key':'t','operator':'In','"
	 "values':['b','a']},{'key':'c','operator':'DoesNotExist'},{'key':'d','operator':'Exists'}]}},'"
	 "status':{'readyReplicas':1,'updatedReplicas':2,'availableReplicas':1}}",
	 "1/3|2|1|<unknown>|a,b|x:1,y|!c,d,t in (a,b),z=1", &print_deployment, true},
};
#define ROWS (sizeof(rows) / sizeof(*rows))

static char *
with_quotes(const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; *at; at++)
		if (*at == '\'')
			*at = '"';
	return copy;
}

static void
row_is_printed(void **state)
{
	const struct row *row = *state;
	char *json = with_quotes(row->json), line[1024] = "";
	cJSON *object = cJSON_Parse(json);
	struct cells cells = CELLS_INIT;
	struct print_options options = {.wide = row->wide};
	size_t columns = 0;

	assert_non_null(object);
	assert_true(age_parse((struct field_text){NOW, strlen(NOW)}, &options.now_ns));
	row->printer->print(field_of_cjson(object), &options, &cells);
	for (size_t i = 0; i < row->printer->column_count; i++)
		columns += row->wide || !row->printer->columns[i].wide;
	assert_int_equal(cells.count, columns);
	for (size_t i = 1; i < cells.count; i++) {
		struct field_text cell = cells_at(&cells, i);
		size_t at = strlen(line);

		snprintf(line + at, sizeof(line) - at, "%s%.*s", i > 1 ? "|" : "", (int)cell.length,
			 cell.data);
	}
	assert_string_equal(line, row->cells);
	cells_done(&cells);
	cJSON_Delete(object);
	free(json);
}

/* A resource without its own printer has NAME and AGE. The same name in another group is another resource. */
static void
unknown_resources_have_name_and_age(void **state)
{
	const struct printer *any = print_find((struct field_text){"example.com", 11},
					       (struct field_text){"pods", 4});

	(void)state;
	assert_int_equal(any->column_count, 2);
	assert_string_equal(any->columns[1].name, "Age");
	assert_ptr_equal(print_find((struct field_text){"", 0}, (struct field_text){"pods", 4}), &print_pod);
}

__attribute__((constructor)) static void
add_tests(void)
{
	static struct CMUnitTest tests[ROWS + 1];
	static struct test_group group = {__FILE__, tests, ROWS + 1, NULL, NULL, NULL};

	for (size_t i = 0; i < ROWS; i++)
		tests[i] = (struct CMUnitTest){rows[i].sentence, row_is_printed, NULL, NULL,
					       (void *)(uintptr_t)&rows[i]};
	tests[ROWS] = (struct CMUnitTest)cmocka_unit_test(unknown_resources_have_name_and_age);
	test_group_add(&group);
}
