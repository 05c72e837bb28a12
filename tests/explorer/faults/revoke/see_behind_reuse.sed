# writer/store/commit.c
# V2: what is visible is remembered behind the reuse of it
/^	arena_see(s->arena); /{
N
s/^\(.*\)\n\(.*\)$/\2\
\1/
}
