# SPDX-License-Identifier: Apache-2.0
# The unit tests of a room, tests/ROOM/*_test.c, are one cmocka program (tests/room.h). Scripts drive the real binaries: those of
# tests/e2e in `make test`, those of tests/long as well in `make test-long`.

# The rooms that have tests, and each one's program: tests/writer/store/*_test.c are build/tests/writer-store.
UNIT_SRC := $(wildcard $(addprefix tests/,shm-layout/*_test.c writer/*/*_test.c reader-lib/*_test.c reader-lib/*/*_test.c tools/*/*_test.c conversations/*_test.c))
ROOMS    := $(sort $(patsubst tests/%/,%,$(dir $(UNIT_SRC))))
room_program = $(B)/tests/$(subst /,-,$(1))
UNIT     := $(foreach r,$(ROOMS),$(call room_program,$(r)))
# what is installed is a plain build, never a sanitizer's
E2E      := $(filter-out $(if $(SAN),tests/e2e/install.sh),$(sort $(wildcard tests/e2e/*.sh)))
PROG_SRC := $(wildcard tests/support/prog/*.c)
PROGS    := $(patsubst tests/support/prog/%.c,$(B)/tests/%,$(PROG_SRC))

TEST_OBJS := $(SUPPORT_OBJS) $(READER_OBJS) $(WRITER_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(SHM_OBJS)
TOOL_OBJS := $(filter-out %/main.o,$(CTL_OBJS)) $(CHANGE_OBJS) $(RUN_OBJS) $(SIM_OBJS) $(GATEWAY_OBJS) $(SERVING_OBJS) $(PRINTER_OBJS)
# what only one room's tests share stands beside them
WORLD_OBJS := $(call objs,$(filter-out %_test.c,$(wildcard tests/tools/*/*.c tests/conversations/*.c tests/writer/*/*.c)))
# all objects but the tests: a program takes of it what it needs
$(B)/tests/rooms.a: $(sort $(TEST_OBJS) $(TOOL_OBJS) $(WORLD_OBJS))
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ar rcsT $@ $^
LINK_TEST = $(LINK) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(WRAPS:%=-Wl,--wrap=%) $(WRITER_LIBS) $(SIM_LIBS) $(TEST_LIBS)

define room
$(call room_program,$(1)): $(B)/obj/tests/room.o $(call objs,$(wildcard tests/$(1)/*_test.c)) $(B)/tests/rooms.a
	$$(call say,LINK,$$@)
	$$(Q)$$(LINK_TEST)
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))
# What a room's tests stand in for: calls that change an arena's file, private memory that runs out, hashes cut short.
$(B)/tests/writer-store: WRAPS = malloc realloc calloc key_hash key_hash_name crypto_shorthash
$(B)/tests/writer-cut: WRAPS = mmap munmap openat fchmod ftruncate posix_fallocate fallocate unlinkat renameat pread \
	trie_edit_seal store_release_held key_hash key_hash_name
$(B)/tests/reader-lib-read: WRAPS = key_hash key_hash_name
# it takes the records in as they are
$(B)/obj/tests/tools/serving/proto_encode_test.o: tests/tools/serving/golden.records

$(PROGS): $(B)/tests/%: $(B)/obj/tests/support/prog/%.o $(B)/tests/rooms.a
	$(call say,LINK,$@)
	$(Q)$(LINK_TEST)

# The explorer's programs: what they drive is compiled once more, so that each access to memory is a call, and linked with
# what tests/explorer has for these. Never a sanitizer's build.
EXPLORED_ROOMS := shm-layout reader-lib/base reader-lib/attach reader-lib/read reader-lib/events writer/base writer/arena \
	writer/decode writer/store writer/serve tools/schema tools/flags tests/support
explored_objs   = $(patsubst %.c,$(B)/explored/%.o,$(1))
EXPLORED_OBJS  := $(call explored_objs,$(wildcard $(EXPLORED_ROOMS:%=%/*.c)) tests/explorer/steps.c)
EXPLORER_OBJS  := $(patsubst %.c,$(B)/explorer/%.o,$(filter-out %_test.c %/steps.c,$(wildcard tests/explorer/*.c)))
EXPLORER_WRAPS := memcpy memmove memset memcmp malloc calloc realloc reallocarray strdup strndup free mmap munmap madvise fallocate close crypto_generichash_final \
	pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_cond_wait pthread_cond_timedwait \
	pthread_cond_signal pthread_cond_broadcast poll syscall clock_gettime timerfd_settime recvmsg shutdown epoll_ctl \
	uv_close uv_poll_start uv_timer_start uv_queue_work randombytes_buf
plain_flags     = $(filter-out -fsanitize=% -fno-sanitize-recover=% -O%,$(1))
COMPILE_EXPLORED = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(call plain_flags,$(OUR_CFLAGS) $(CFLAGS)) -O1 -fno-inline -fno-builtin \
	-fsanitize=thread -U__SANITIZE_THREAD__ -DSHORTCUT_PLAIN -Wno-unknown-warning-option -Wno-tsan
# in this order: what stands in an object itself is not taken from the archive
LINK_EXPLORED = $(CC) $(call plain_flags,$(OUR_LDFLAGS) $(LDFLAGS)) $(EXPLORER_WRAPS:%=-Wl,--wrap=%) -o $@ \
	$(filter %.o,$^) $(filter %.a,$^) $(WRITER_LIBS) $(TEST_LIBS)
$(B)/explored/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,explored $<)
	$(Q)$(COMPILE_EXPLORED) -MMD -MP -c -o $@ $<
$(B)/explorer/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(call plain_flags,$(OUR_CFLAGS) $(CFLAGS)) -O2 -MMD -MP -c -o $@ $<
-include $(shell find $(B)/explored $(B)/explorer -name '*.d' 2>/dev/null)
# an archive: a program takes of it what it needs
$(B)/explored/rooms.a: $(EXPLORED_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ar rcs $@ $^
$(B)/tests/explorer/%_test: $(B)/explored/tests/explorer/%_test.o $(EXPLORER_OBJS) $(B)/explored/rooms.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK_EXPLORED)

# A fault put into a source: tests/explorer/faults/PROGRAM/NAME.sed, whose first line names the source and whose second says what it
# is. The program PROGRAM_NAME is PROGRAM_test with that source changed, and passes when it finds it.
define explored_fault
$(B)/explored/faults/$(1)/$(2).c: tests/explorer/faults/$(1)/$(2).sed $(3)
	@mkdir -p $$(@D)
	$$(Q)sed -f $$^ >$$@
	$$(Q)! cmp -s $$@ $(3) || { echo "$$<: changes nothing in $(3) any more" >&2; rm $$@; exit 1; }
	$$(Q)printf 'extern const char explorer_source_fault[];\nconst char explorer_source_fault[] = "%s";\n' \
		"$$$$(sed -n '2s/^# //p' $$<)" >>$$@
$(B)/explored/faults/$(1)/$(2).o: $(B)/explored/faults/$(1)/$(2).c
	$$(call say,CC,explored $(1): $(2))
	$$(Q)$$(COMPILE_EXPLORED) -iquote $$(dir $(3)) -MMD -MP -c -o $$@ $$<
$(B)/tests/explorer/$(1)_$(2): $(B)/explored/tests/explorer/$(1)_test.o $(B)/explored/faults/$(1)/$(2).o
endef
FAULTS := $(wildcard tests/explorer/faults/*/*.sed)
fault_program = $(notdir $(patsubst %/,%,$(dir $(1))))
$(foreach f,$(FAULTS),$(eval $(call explored_fault,$(call fault_program,$(f)),$(basename $(notdir $(f))),$(shell sed -n '1s/^# //p' $(f)))))
FAULTY := $(foreach f,$(FAULTS),$(B)/tests/explorer/$(call fault_program,$(f))_$(basename $(notdir $(f))))
EXPLORER := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/explorer/*_test.c)) $(FAULTY)
$(FAULTY): $(EXPLORER_OBJS) $(B)/explored/rooms.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK_EXPLORED)

# preloaded by a process under test, so that it is no sanitizer's
PRELOADS := $(patsubst tests/support/preload/%.c,$(B)/tests/%.so,$(wildcard tests/support/preload/*.c))
$(B)/tests/%.so: tests/support/preload/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(OUR_CFLAGS) $(CFLAGS)) -shared -o $@ $<

# Small faults, one at a time, each of which a test must find (tests/mutants). What it needs of the build: every object, those of the
# tests that are named apart.
MUTANT_LISTS := $(wildcard tests/mutants/*.list)
MUTANT_TESTS := $(sort $(shell sed -n 's/^test //p' $(MUTANT_LISTS)))
$(B)/mutants/rooms.a: $(sort $(TEST_OBJS) $(TOOL_OBJS) $(TALK_OBJS) $(GATEWAY_TEST_OBJS))
	@mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)ar rcsT $@ $^
MUTATE = python3 tests/mutants/run.py --build $(B) --archive $(B)/mutants/rooms.a --compile $(call quote,$(COMPILE)) --link $(call quote,$(LINK)) \
	--libs $(call quote,$(WRITER_LIBS) $(SIM_LIBS) $(TEST_LIBS)) $(if $(ONLY),--only $(call quote,$(ONLY))) $(if $(DRAW),--draw $(DRAW)) \
	$(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(KEEP_GOING),--keep-going) $(if $(ANEW),--anew)
.PHONY: mutants
mutants: all $(B)/mutants/rooms.a $(call objs,$(MUTANT_TESTS:%=tests/%_test.c)) $(PODS)
	$(Q)$(MUTATE) $(MUTANT_LISTS)

# Pods of real size, for tests and the bench: those in REAL_PODS, a folder of files, if it is set; else generated ones.
export REAL_PODS
PODS := $(if $(REAL_PODS),,$(B)/pods)
$(B)/pods: tests/support/make_pods.sh $(B)/informer-sim
	$(call say,PODS,$@)
	$(Q)sh $^ $@

.PHONY: tests check unit e2e
# informerd of another release, for the sources that know of which they are
NEXT_SRC  := $(shell grep -l INFORMER_VERSION writer/*.c writer/*/*.c)
NEXT_OBJS := $(NEXT_SRC:%.c=$(B)/next/%.o)
$(B)/next/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,next $<)
	$(Q)$(COMPILE) -UINFORMER_VERSION -DINFORMER_VERSION='"9999.0.0"' -MMD -MP -c -o $@ $<
-include $(NEXT_OBJS:.o=.d)
$(B)/tests/informerd_next: $(NEXT_OBJS) $(filter-out $(call objs,$(NEXT_SRC)),$(WRITER_OBJS)) $(FLAG_OBJS) $(SCHEMA_OBJS) $(SHM_OBJS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(WRITER_LIBS)

tests: $(UNIT) $(PROGS) $(PRELOADS) $(B)/tests/informerd_next
unit: all tests $(PODS)
	$(Q)sh tests/run.sh $(B) $(UNIT)
check: all tests $(PODS)
	$(Q)sh tests/run.sh $(B) $(E2E) $(UNIT)
# Built-in kinds come in protobuf, and once more, with sanitizers, in JSON: both syntaxes for the time of one.
test: setup-test
	$(SUBMAKE) check
	$(SUBMAKE) WIRE=json B=$(B)-address-undefined SAN=address,undefined check

# The same, plain, on a machine whose processors are all busy, N=3 times over. DRAW=SEED: a fifth of the scripts, drawn by SEED.
test-busy: setup-test
	$(SUBMAKE) busy-check
busy-check: all tests $(PODS)
	$(Q)sh tests/busy.sh $(B) $(E2E) $(if $(DRAW),,$(UNIT))
.PHONY: test-busy busy-check

# What `check` runs for some seconds, for DURATION=3600; the figures are shown as they come.
.PHONY: soak
soak: all $(PROGS)
	$(Q)B=$(B) DURATION=$(or $(DURATION),3600) bash tests/long/soak.sh

# The protocols between processes, as threads of one: what ThreadSanitizer can follow.
TSAN_TESTS := shm-layout/slot writer/arena/pins writer/serve/broker reader-lib/attach/handle reader-lib/attach/snapshot reader-lib/read/lookup reader-lib/events/wait reader-lib/events/run \
	reader-lib/workqueue/workqueue reader-lib/workqueue/workqueue_threads reader-lib/workqueue/work_line reader-lib/read/copy reader-lib/factory/private_index reader-lib/factory/factory tools/informer-sim/object_store tools/serving/shared_frame
TSAN_TESTS += conversations/conversations conversations/herd
TSAN_TESTS += writer/serve/broker_subscribe reader-lib/events/handler reader-lib/events/feed reader-lib/events/on_demand
tsan: setup-test
	$(SUBMAKE) B=$(B)-thread SAN=thread tsan-check
.PHONY: tsan-check
tsan-check: $(TSAN_TESTS:%=$(B)/tests/%_test) $(PODS)
	$(Q)sh tests/run.sh $(B) $(filter-out $(PODS),$^)

# ---- upstream's own API server: tests/apiserver, which needs Go; where that is not to be had the scripts are skipped ----
# The same scripts as against informer-sim, smaller where a real server is slower, and those of its own, which compare both. Not these:
#   bad_*.sh        a server that answers nonsense, or none that matters (but bad_moment.sh: killed at any moment of a LIST)
#   sim_*.sh        informer-sim's own flags, faults and pages, and at once what it answers when they act; what it answers otherwise is
#                   compared with upstream by same_answers.sh and same_for_kubectl.sh (but sim_changes.sh: it needs no flag)
#   connect_other_cluster.sh  informer-sim is another cluster after each start, and hides which one by a fault
#   chaos.sh        comes by itself, with figures of its own
#   wire_switch.sh  goes by what informer-sim's journal says of the syntax; wire.sh is its like on a real server
#   writer_killed_amid_list.sh  has 30,000 pods, which a real server takes minutes to be given
#   writer_address_space.sh, writer_stuck_reader.sh  need thousands of changes a second, also on a busy machine
#   gateway_relay.sh    does not hold there: after another gateway of the relay the nodes list pods once at it, for its history begins behind them
#   gateway_kubectl.sh  nodes -o wide differ there; gateway_same_for_kubectl.sh compares the rest with a real server
#   soak.sh         needs churn that keeps the number of pods, for what is to be flat
#   the rest        builds, installs, shows, fuzzes: no server
APISERVER_E2E_NOT := $(filter-out %/bad_moment.sh %/sim_changes.sh,$(wildcard tests/e2e/bad_*.sh tests/e2e/sim_*.sh)) \
	$(addprefix tests/e2e/,chaos.sh connect_other_cluster.sh demo.sh fuzz_decoder.sh gateway_early.sh gateway_kubectl.sh gateway_relay.sh gateway_rsyslog.sh install.sh layout_in_python.sh set_up.sh small_machine.sh soak.sh structure.sh \
	wire_switch.sh writer_address_space.sh writer_killed_amid_list.sh writer_stuck_reader.sh)
APISERVER_E2E := $(filter-out $(APISERVER_E2E_NOT),$(E2E)) $(sort $(wildcard tests/upstream/*.sh))
test-apiserver: setup-test
	$(SUBMAKE) apiserver-check
apiserver: $(B)/apiserver
$(B)/apiserver: FORCE
	@mkdir -p $(@D)
	$(Q)sh tests/apiserver/build.sh $@ || [ $$? = 77 ]
apiserver-check: all tests $(PODS) $(B)/apiserver
	$(Q)SERVER=apiserver CHANGES=3000 RATE=500 REPLICAS=8 sh tests/run.sh $(B) $(APISERVER_E2E)
	$(Q)SERVER=apiserver sh tests/run.sh $(B) tests/long/chaos.sh
.PHONY: test-apiserver apiserver apiserver-check

# ---- fuzz: what a server, a file or a plugin sends, under libFuzzer (clang) ------------
# FUZZ_SECONDS for each of tests/fuzz/NAME.c, from tests/fuzz/corpus/NAME; what it finds stays in build-fuzz/corpus/NAME,
# and what breaks it in build-fuzz/NAME-crash-*. FUZZ=NAME: that one alone.
FUZZ_SECONDS ?= 10
FUZZ    ?= $(sort $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
# one is linked with all rooms' objects, as tests are
FUZZ_OBJS := $(TEST_OBJS) $(RUN_OBJS) $(SIM_OBJS) $(GATEWAY_OBJS) $(SERVING_OBJS) $(PRINTER_OBJS) $(CHANGE_OBJS)
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_OBJS)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(WRITER_LIBS) $(SIM_LIBS) $(TEST_LIBS)
# libFuzzer and its sanitizers are a package of their own
FUZZ_PACKAGES := clang libclang-rt-dev
can_fuzz = echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' \
	| clang -x c - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null
.PHONY: fuzz fuzz-run setup-fuzz
setup-fuzz: setup
	$(Q)($(can_fuzz)) || sh tools/setup.sh $(FUZZ_PACKAGES)
fuzz: setup-fuzz
	$(SUBMAKE) B=build-fuzz CC=clang SAN=address,undefined CFLAGS='$(CFLAGS) -fsanitize=fuzzer-no-link' fuzz-run
fuzz-run: $(FUZZ:%=$(B)/fuzz/%)
	$(Q)passed=0; for f in $(FUZZ); do \
		mkdir -p $(B)/corpus/$$f; \
		$(B)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=8192 -verbosity=0 \
			-artifact_prefix=$(B)/$$f- $(B)/corpus/$$f tests/fuzz/corpus/$$f </dev/null >$(B)/$$f.log 2>&1 \
			|| { cat $(B)/$$f.log; echo "FAIL  fuzz $$f"; echo "$$passed passed, 1 failed, 0 skipped"; exit 1; }; \
		printf 'ok    fuzz %s (%s inputs kept)\n' $$f $$(ls $(B)/corpus/$$f | wc -l); \
		passed=$$((passed + 1)); \
	done; echo "$$passed passed, 0 failed, 0 skipped"

# ---- bench: figures beside LMDB, cJSON and client-go (where Go is present) --------
# QUICK=1: few rounds, rough figures. ONLY=lbdpes: lookups, bytes, decode, lists (i: their apply alone), events (v, f, a: from the server, fan-out,
# agents), initial sync beside client-go's, what the server hears and sends for 1, 4 and 8 agents (t: that alone), and both on upstream's API
# server (u: that alone), which is measured where `make test-apiserver` has built it; UPSTREAM_PODS=10000,50000: with how many pods, agents and
# events with the first. WIRE=json|protobuf: informerd's --wire in all rows but p, which has both. ONLY=gateway[:PART,...]: informer-gateway before
# that server, and its clients at the one and the other.
BENCH_OBJS := $(call objs,$(wildcard tests/bench/*.c))

$(B)/bench/bench: $(BENCH_OBJS) $(WRITER_OBJS) $(SIM_OBJS) $(SERVING_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(PRINTER_OBJS) $(SHM_OBJS) $(B)/libinformer.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(WRITER_LIBS) $(SIM_LIBS) $(call pkg,--libs,lmdb)

.PHONY: bench
bench: all $(B)/bench/bench $(PODS)
	$(Q)QUICK=$(QUICK) ONLY=$(ONLY) WIRE=$(WIRE) UPSTREAM_PODS=$(UPSTREAM_PODS) sh tests/bench/run.sh $(B) $(or $(REAL_PODS),$(PODS))
