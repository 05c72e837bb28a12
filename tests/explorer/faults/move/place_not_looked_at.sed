# reader-lib/attach/snapshot.c
# R1': the mapping is current, and its slot is elsewhere than the cell
s/mapping_place(m) == slot)) {$/slot)) {/
