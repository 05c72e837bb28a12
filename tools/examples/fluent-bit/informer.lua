-- SPDX-License-Identifier: Apache-2.0
--
-- A Lua filter for Fluent Bit: labels the records of containers from the node's cache. A record gets
--
--	kubernetes = {pod_name, namespace_name, container_name, workload = "Deployment/web"}
--
-- also if its Pod was deleted a short while ago. Install it, run informerd --preset node-agent, and configure:
--
--	[INPUT]
--	    name tail
--	    tag  kube.*
--	    path /var/log/containers/*.log
--	[FILTER]
--	    name   lua
--	    match  kube.*
--	    script informer.lua
--	    call   cb_filter
--
-- The container is known by the tag, or by the record's container_id or cgroup. From the environment:
-- INFORMER_SOCKET, and INFORMER_WAIT_MS: how long the first record of an unknown container waits (200).
local ffi = require("ffi")

ffi.cdef [[
struct object { const void *snapshot, *object; uint32_t ref, entry; };
struct text { const char *data; size_t length; };
/* Of structs that begin with their size, the fields after the last one that is read here are left out. */
struct container {
	size_t size;
	struct object pod;
	bool deleted; int kind; bool previous; int state; uint32_t restart_count;
	struct text name;
};
struct workload {
	size_t size;
	bool cached, from_names;
	struct object object;
	struct text group, version, kind, ns, name;
};
struct snapshot { uint64_t content[10]; };
struct moment { uint64_t generation, content[6]; };
struct timespec { long sec, nsec; };

int clock_gettime(int clock, struct timespec *ret);
int informer_attach(const void *options, void **ret_informer);
int informer_resource_open(void *informer, const char *name, void **ret_resource);
int informer_begin(void *informer, struct snapshot *ret);
void informer_end(struct snapshot *);
int informer_snapshot_moment(const struct snapshot *, struct moment *ret);
int informer_wait_commit(void *informer, const struct moment *seen, int timeout_ms);
int informer_container_of_id(const struct snapshot *, void *pods, const char *id, size_t, struct container *ret);
int informer_container_of_cgroup(const struct snapshot *, void *pods, const char *path, size_t, struct container *ret);
int informer_find(const struct snapshot *, void *pods, int by, const char *value, size_t, struct object *ret, bool *);
int informer_workload(const struct object *, struct workload *ret);
int informer_object_name(const struct object *, const char **ret, size_t *ret_length);
int informer_object_namespace(const struct object *, const char **ret, size_t *ret_length);
]]
local C, lib = ffi.C, ffi.load("libinformer.so.0")
local WAIT_MS = tonumber(os.getenv("INFORMER_WAIT_MS") or 200)
local CLOCK_MONOTONIC, BY_KEY, UNKNOWN_MAX = 1, 0, 4096
local unknown, unknown_count = {}, 0 -- containers that were waited for in vain

local handle = ffi.new("void *[2]") -- the informer, and its pods
assert(lib.informer_attach(nil, handle) == 0)
assert(lib.informer_resource_open(handle[0], "pods", handle + 1) == 0)

local function now_ms()
	local t = ffi.new("struct timespec")
	C.clock_gettime(CLOCK_MONOTONIC, t)
	return tonumber(t.sec) * 1000 + tonumber(t.nsec) / 1000000
end

local function text(t) return ffi.string(t.data, t.length) end

local function text_of(getter, object)
	local data, length = ffi.new("const char *[1]"), ffi.new("size_t[1]")
	return getter(object, data, length) == 0 and ffi.string(data[0], length[0]) or ""
end

-- Looks into the newest snapshot, whose moment is set. key: an ID or a cgroup; file: the names in the tag, or nil.
local function look(key, file, moment)
	local snap, c = ffi.new("struct snapshot"), ffi.new("struct container", ffi.sizeof("struct container"))
	local w = ffi.new("struct workload", ffi.sizeof("struct workload"))
	if lib.informer_begin(handle[0], snap) < 0 then return nil end
	lib.informer_snapshot_moment(snap, moment)
	local find = key:sub(1, 1) == "/" and lib.informer_container_of_cgroup or lib.informer_container_of_id
	local r, container = find(snap, handle[1], key, #key, c), file and file.container_name
	if r == 0 and c.name.length > 0 then
		container = text(c.name)
	elseif r < 0 and file then -- the kubelet reports a new container's ID about a second after its start
		local name = file.ns .. "/" .. file.pod_name
		r = lib.informer_find(snap, handle[1], BY_KEY, name, #name, c.pod, nil)
	end
	local labels = r == 0 and lib.informer_workload(c.pod, w) == 0 and {
		pod_name = text_of(lib.informer_object_name, c.pod), container_name = container,
		namespace_name = text_of(lib.informer_object_namespace, c.pod),
		workload = text(w.kind) .. "/" .. text(w.name)}
	lib.informer_end(snap)
	return labels
end

function cb_filter(tag, timestamp, record)
	local pod, ns, container, id = tag:match("([^_/]+)_([^_]+)_(.+)-(%x+)%.log$")
	local file = pod and {pod_name = pod:gsub("^.*var%.log%.containers%.", ""), ns = ns, container_name = container}
	local key, moment = id or record.container_id or record.cgroup, ffi.new("struct moment")
	if not key then return 0, timestamp, record end
	local deadline = now_ms() + (unknown[key] and 0 or WAIT_MS)
	local labels = look(key, file, moment)
	local left = deadline - now_ms()
	while not labels and left >= 1 do
		lib.informer_wait_commit(handle[0], moment.generation ~= 0 and moment or nil, left)
		labels, left = look(key, file, moment), deadline - now_ms()
	end
	if labels then
		record.kubernetes = labels
		return 2, timestamp, record
	end
	if unknown_count >= UNKNOWN_MAX then unknown, unknown_count = {}, 0 end
	if not unknown[key] then unknown[key], unknown_count = true, unknown_count + 1 end
	return 0, timestamp, record
end
