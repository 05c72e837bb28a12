# reader-lib/events/wait.c
# A1: armed is set behind the look
/^		arm(inf);$/{
h
d
}
/^		r = condition.met(inf, condition.what, &why);$/G
