# writer/serve/broker_drop.c
# D: the slot is given up at once
s/^	if (c->state == CLIENT_ATTACHED) {$/	if (c->state != CLIENT_ATTACHED) {/
