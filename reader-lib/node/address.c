/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an IP address to the Pod, Service or Node that has it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "reader-lib/attach/snapshot.h"
#include "reader-lib/informer-node.h"
#include "reader-lib/read/private_home.h"

/*
 * Write an address as the API server does: IPv6 as RFC 5952 has it, IPv4-mapped IPv6 as IPv4. False: no
 * address.
 */
static bool
canonical(const char *ip, size_t length, char ret_text[INET6_ADDRSTRLEN])
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr v6;
	struct in_addr v4;

	if (length >= sizeof(text))
		return false;
	memcpy(text, ip, length);
	text[length] = '\0';
	if (inet_pton(AF_INET, text, &v4) == 1) { /* it has one spelling */
		memcpy(ret_text, text, length + 1);
		return true;
	}
	if (inet_pton(AF_INET6, text, &v6) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&v6))
		return inet_ntop(AF_INET, &v6.s6_addr[12], ret_text, INET6_ADDRSTRLEN) != NULL;
	return inet_ntop(AF_INET6, &v6, ret_text, INET6_ADDRSTRLEN) != NULL;
}

static bool
is_lacking(int r)
{
	return r == INFORMER_E_NOT_FOUND || r == INFORMER_E_NO_RESOURCE || r == INFORMER_E_NOT_READY;
}

/* The first object of a resource that has the address. */
static int
first_of(const struct informer_snapshot *snapshot, struct informer_resource *resource, const char *ip,
	 struct informer_object *ret)
{
	struct informer_iter it;
	int r = informer_by_index_z(snapshot, resource, "address", ip, &it);

	if (r == 0)
		r = informer_next(&it, ret);
	return r == 0 ? INFORMER_E_NOT_FOUND : r < 0 ? r : 0;
}

/* Keep the answer r of one step: go on if the step found nothing, but remember that a resource is there. */
static bool
ends_search(int r, int *answer)
{
	if (!is_lacking(r) || *answer != INFORMER_E_NOT_FOUND)
		*answer = r;
	return !is_lacking(r);
}

static int
search(const struct informer_snapshot *snapshot, struct informer_resource *const resources[3], const char *ip,
       struct informer_address *a)
{
	struct informer_resource *pods = resources[0], *services = resources[1], *nodes = resources[2];
	int answer = INFORMER_E_NO_RESOURCE;
	uint64_t sharing;

	a->kind = INFORMER_ADDRESS_POD;
	if (ends_search(informer_pod_by_ip(snapshot, pods, ip, strlen(ip), &a->object), &answer))
		return answer;
	a->kind = INFORMER_ADDRESS_SERVICE;
	if (ends_search(first_of(snapshot, services, ip, &a->object), &answer))
		return answer;
	a->kind = INFORMER_ADDRESS_NODE;
	if (ends_search(first_of(snapshot, nodes, ip, &a->object), &answer)) {
		if (answer == 0 &&
		    informer_count_by_index(snapshot, pods, "podIP", ip, strlen(ip), &sharing) == 0)
			a->host_pods = sharing;
		return answer;
	}
	a->kind = INFORMER_ADDRESS_POD;
	ends_search(informer_find(snapshot, pods, INFORMER_BY_IP, ip, strlen(ip), &a->object, &a->deleted),
		    &answer);
	return answer;
}

int
informer_by_address(const struct informer_snapshot *snapshot, const char *ip, size_t length,
		    struct informer_address *ret_address)
{
	static const char *const names[] = {"pods.v1", "services.v1", "nodes.v1"};
	struct informer_resource *resources[3];
	struct informer_address a = {0};
	char text[INET6_ADDRSTRLEN];
	int r = snapshot_usable(snapshot_of(snapshot));

	if (r < 0)
		return r;
	if (is_private_home(snapshot_of(snapshot)) || !ip || !ret_address ||
	    ret_address->size < sizeof(a.size) || !canonical(ip, length, text))
		return -EINVAL;
	for (size_t i = 0; i < 3 && r == 0; i++)
		r = informer_resource_open(snapshot_of(snapshot)->inf, names[i], &resources[i]);
	if (r == 0)
		r = search(snapshot, resources, text, &a);
	if (r < 0)
		return r;
	a.size = ret_address->size;
	memcpy(ret_address, &a, a.size < sizeof(a) ? a.size : sizeof(a));
	return 0;
}
