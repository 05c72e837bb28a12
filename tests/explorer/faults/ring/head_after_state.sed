# reader-lib/events/ring.c
# Q2: head is loaded behind state and openings
/^	uint64_t head = atomic_load/{
h
d
}
/^	uint64_t openings = atomic_load/G
