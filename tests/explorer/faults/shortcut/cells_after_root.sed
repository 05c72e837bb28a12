# writer/store/commit.c
# C1: the cells are stored behind the root
/^	for (unsigned i = 0; i < s->resource_count; i++)$/{
N
/shortcut_apply/{
h
d
}
}
/header->root, ref_offset(root), memory_order_release/G
