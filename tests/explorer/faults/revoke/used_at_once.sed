# writer/arena/arena_books.c
# V3: what a revoked reader sees is used again at once
s/^	if (burial_keeps(&b->burial, ref)) {$/	if (b->used_units == 0) {/
