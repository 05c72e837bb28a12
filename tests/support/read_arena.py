#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader in another language, written from shm-layout/LAYOUT.md alone: attaches at the broker's socket, pins, and prints.

    read_arena.py SOCKET list RESOURCE               every object, a JSON document a line
    read_arena.py SOCKET get RESOURCE NS NAME        one, through the identity trie
    read_arena.py SOCKET index RESOURCE INDEX VALUE  namespace/name of each object that has the value
"""
import json
import mmap
import socket
import struct
import sys

U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
ROOT, RESOURCE, NODE, OBJECT, VALUE, SHAPE, POSTINGS, COLLISION = range(1, 9)
LAYOUT = 1, 0
IMMEDIATE = 1 << 31
MASK = (1 << 64) - 1


class KeyHash:
    """The hash of names and index values (LAYOUT.md, HASH)."""

    def __init__(self, key):
        words = struct.unpack("<QQ", key)
        self.s = [(words[i % 2] + (i + 1) * 0x9E3779B97F4A7C15) & MASK for i in range(13)]

    @staticmethod
    def mix(a, b):
        return a * b >> 64 ^ a * b & MASK

    @staticmethod
    def word(p, at, size=8):
        return int.from_bytes(p[at : at + size], "little")

    def pair(self, p, at, i):
        return self.mix(self.word(p, at) ^ self.s[i], self.word(p, at + 8) ^ self.s[i + 1])

    def piece(self, p):
        n, s = len(p), self.s
        if n == 0:
            return self.mix(s[0], s[1])
        if n < 4:
            return self.mix((p[0] << 16 | p[n // 2] << 8 | p[n - 1]) ^ s[0], s[1])
        if n < 8:
            return self.mix(self.word(p, 0, 4) ^ s[0], self.word(p, n - 4, 4) ^ s[1])
        if n <= 16:
            return self.mix(self.word(p, 0) ^ s[0], self.word(p, n - 8) ^ s[1])
        if n <= 32:
            return self.pair(p, 0, 0) + self.pair(p, n - 16, 2) & MASK
        if n <= 64:
            return (self.pair(p, 0, 0) + self.pair(p, 16, 2) + self.pair(p, n - 32, 4) + self.pair(p, n - 16, 6)) & MASK
        h = 0
        for at in range(0, n - 64, 64):
            h = self.mix(h ^ s[8], self.piece(p[at : at + 64]))
        return self.mix(h ^ s[8], self.piece(p[-64:]))

    def value(self, v):
        return self.mix(self.piece(v) ^ self.s[9], len(v) ^ self.s[10])

    def name(self, ns, name):
        return self.mix(self.piece(ns) ^ self.s[11], self.piece(name) ^ (len(ns) << 32 | len(name)) ^ self.s[12])


def fnv_byte(name):
    h = 0x811C9DC5
    for c in name:
        h = (h ^ c) * 0x01000193 & 0xFFFFFFFF
    return h & 0xFF


class Arena:
    def __init__(self, path):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(path)
        s.send(struct.pack("<4sHHIIHHI64s", b"INF1", 1, 1, 16 + 72, 0, *LAYOUT, 0, b"read_arena.py"))
        packet, fds, _, _ = socket.recv_fds(s, 65536, 3)
        magic, _, kind, length, _ = struct.unpack_from("<4sHHII", packet)
        assert magic == b"INF1" and kind == 2 and length == len(packet), "refused: %r" % packet[24:]
        self.socket = s  # open as long as we read: its end gives the slot back
        head = mmap.mmap(fds[0], 8192, mmap.MAP_SHARED, mmap.PROT_READ)
        assert head[0:8] == b"INFARENA"
        assert U32.unpack_from(head, 12)[0] == 0x01020304
        assert (U16.unpack_from(head, 8)[0], U16.unpack_from(head, 10)[0]) == LAYOUT, "another layout"
        assert U64.unpack_from(head, 16)[0] == 0, "a feature that this reader does not know"
        assert U32.unpack_from(head, 384)[0] in (1, 2)
        self.hash = KeyHash(bytes(head[88:104]))
        self.slot = mmap.mmap(fds[1], 8192)
        # pin: R0 to R3. (Python has no fences; the interpreter's own locking does as one.)
        U64.pack_into(self.slot, 8, 1)
        U64.pack_into(self.slot, 64, 1)
        newest = U64.unpack_from(head, 264)[0]
        root = U64.unpack_from(head, 256)[0]
        self.committed = U64.unpack_from(head, 320)[0]
        self.m = mmap.mmap(fds[0], self.committed, mmap.MAP_SHARED, mmap.PROT_READ)
        self.root = root // 16
        at, _, _ = self.block(self.root, ROOT)
        self.epoch = U64.unpack_from(self.m, at + 32)[0]
        assert self.epoch >= newest, "an older root"
        U64.pack_into(self.slot, 64, self.epoch)

    def u32(self, at):
        return U32.unpack_from(self.m, at)[0]

    def block(self, ref, *types):
        """payload's offset, its length, aux"""
        at = ref * 16
        assert 0 < at and at + 16 <= self.committed
        type_length, aux = struct.unpack_from("<II", self.m, at + 8)
        length = type_length & 0x0FFFFFFF
        assert type_length >> 28 in types and at + 16 + length <= self.committed
        return at + 16, length, aux

    def type_of(self, ref):
        return self.u32(ref * 16 + 8) >> 28

    # ---- values

    def value(self, at, own=(None,) * 4):
        """the value at an offset, and the offset behind it"""
        m, tag = self.m, self.m[at]
        at += 1
        if tag in (0, 1, 2):
            return (None, False, True)[tag], at
        if tag in (3, 4, 5, 6):
            return own[tag - 3], at
        if 0x08 <= tag <= 0x0F:
            n = tag - 7
            return int.from_bytes(m[at:at + n], "little", signed=True), at + n
        if tag == 0x10:
            return U64.unpack_from(m, at)[0], at + 8
        if tag == 0x11:
            return struct.unpack_from("<d", m, at)[0], at + 8
        if tag >= 0x80:
            return tag - 0x80, at
        if tag >= 0x40:
            n = tag - 0x40
            return m[at:at + n].decode(), at + n
        if tag == 0x18:
            payload, _, _ = self.block(self.u32(at), VALUE)
            return self.value(payload, own)[0], at + 4
        if tag == 0x1E:
            return {}, at
        if tag == 0x1F:
            return [], at
        size = {0x12: 1, 0x13: 1, 0x14: 2, 0x15: 4, 0x16: 4, 0x1A: 2, 0x1B: 4, 0x1C: 2, 0x1D: 4}[tag]
        n = int.from_bytes(m[at:at + size], "little")
        at += size
        if tag in (0x12, 0x16):
            return json.loads(m[at:at + n].decode()), at + n
        if tag in (0x13, 0x14, 0x15):
            return m[at:at + n].decode(), at + n
        if tag in (0x1A, 0x1B):
            end, items = at + n, []
            while at < end:
                item, at = self.value(at, own)
                items.append(item)
            return items, end
        names = self.shape(self.u32(at))
        at += 4
        end, fields = at + n, {}
        for name in names:
            fields[name], at = self.value(at, own)
        assert at == end
        return fields, end

    def shape(self, ref):
        at, length, _ = self.block(ref, SHAPE)
        count = self.u32(at)
        refs = at + (4 + count + 3 & ~3)
        assert length == refs + 4 * count - at
        names = []
        for i in range(count):
            payload, _, _ = self.block(self.u32(refs + 4 * i), VALUE)
            names.append(self.value(payload)[0])
            assert self.m[at + 4 + i] == fnv_byte(names[-1].encode())
        return names

    def object(self, ref):
        at, length, _ = self.block(ref, OBJECT)
        ns_length, name_length, body = self.m[at + 30], U16.unpack_from(self.m, at + 32)[0], U16.unpack_from(self.m, at + 34)[0]
        uid_length, version_length = self.m[at + 36], self.m[at + 37]
        ns = self.m[at + 38:at + 38 + ns_length].decode()
        name = self.m[at + 38 + ns_length:at + 38 + ns_length + name_length].decode()
        version_at = at + body - version_length
        uid = self.m[version_at - uid_length:version_at].decode()
        document, end = self.value(at + body, (name, ns, uid, self.m[version_at:at + body].decode()))
        assert end == at + length
        return ns, name, self.u32(at + 24), document

    # ---- tries

    def get(self, link, key):
        while link and not link & IMMEDIATE and self.type_of(link) == NODE:
            at, _, shift = self.block(link, NODE)
            bitmap = U64.unpack_from(self.m, at)[0]
            digit = key >> shift & 63
            if not bitmap >> digit & 1:
                return 0
            link = self.u32(at + 8 + 4 * bin(bitmap & ((1 << digit) - 1)).count("1"))
        return link

    def leaves(self, link):
        if not link:
            return
        if link & IMMEDIATE or self.type_of(link) != NODE:
            yield link
            return
        at, _, _ = self.block(link, NODE)
        for i in range(bin(U64.unpack_from(self.m, at)[0]).count("1")):
            yield from self.leaves(self.u32(at + 8 + 4 * i))

    def entries(self, leaf):
        if leaf and not leaf & IMMEDIATE and self.type_of(leaf) == COLLISION:
            at, length, _ = self.block(leaf, COLLISION)
            return [self.u32(at + i) for i in range(0, length, 4)]
        return [leaf] if leaf else []

    # ---- resources

    def resource(self, name):
        at, _, _ = self.block(self.root, ROOT)
        for i in range(self.u32(at + 80)):
            r, _, _ = self.block(self.u32(at + 96 + 4 * i), RESOURCE)
            payload, _, _ = self.block(self.u32(r), VALUE)
            descriptor = self.value(payload)[0]
            if descriptor["resource"] == name:
                return r, descriptor
        sys.exit("no resource " + name)

    def by_ordinal(self, r, ordinal):
        ref = self.get(self.u32(r + 148), ordinal)
        found = self.object(ref)
        assert found[2] == ordinal
        return found

    def find(self, r, ns, name):
        for entry in self.entries(self.get(self.u32(r + 144), self.hash.name(ns.encode(), name.encode()))):
            found = self.by_ordinal(r, entry & ~IMMEDIATE)
            if found[:2] == (ns, name):
                return found
        return None

    def by_index(self, r, descriptor, index, value):
        number = [i["name"] for i in descriptor["indexes"]].index(index)
        definition = descriptor["indexes"][number]
        wanted = value.encode()[: definition.get("prefix")]  # the filed value
        for entry in self.entries(self.get(self.u32(r + 184 + 4 * number), self.hash.value(wanted))):
            if entry & IMMEDIATE:
                found = self.by_ordinal(r, entry & ~IMMEDIATE)
                if value in self.values(definition, found):
                    yield found
                continue
            at, length, _ = self.block(entry, POSTINGS)
            count, value_length = struct.unpack_from("<II", self.m, at)
            slots = count if count <= 128 else 1
            if self.m[at + 8 + 4 * slots:at + 8 + 4 * slots + value_length] != wanted:
                continue
            if count <= 128:
                ordinals = [self.u32(at + 8 + 4 * i) for i in range(count)]
            else:
                ordinals = [leaf & ~IMMEDIATE for leaf in self.leaves(self.u32(at + 8))]
            for ordinal in ordinals:
                found = self.by_ordinal(r, ordinal)
                if "prefix" not in definition or value in self.values(definition, found):
                    yield found

    @staticmethod
    def values(definition, found):
        ns, _, _, document = found
        for rule in definition["rules"]:
            if rule["as"] == "namespace":
                yield ns
                continue
            hits = [document]
            for step in rule["path"].replace("[*]", ".*").split("."):
                if step == "*":
                    hits = [x for h in hits if isinstance(h, list) for x in h]
                else:
                    hits = [h[step] for h in hits if isinstance(h, dict) and step in h]
            for hit in hits:
                if rule["as"] == "keyvalue":
                    yield from ("%s=%s" % pair for pair in hit.items())
                elif rule["as"] == "scheme":
                    yield hit.split("://", 1)[-1]
                else:
                    yield hit


def main():
    arena = Arena(sys.argv[1])
    r, descriptor = arena.resource(sys.argv[3])
    if sys.argv[2] == "list":
        for leaf in arena.leaves(arena.u32(r + 148)):
            print(json.dumps(arena.object(leaf)[3]))
    elif sys.argv[2] == "get":
        found = arena.find(r, sys.argv[4], sys.argv[5])
        print(json.dumps(found and found[3]))
    else:
        for ns, name, _, _ in arena.by_index(r, descriptor, sys.argv[4], sys.argv[5]):
            print(ns + "/" + name)


main()
