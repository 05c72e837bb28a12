# SPDX-License-Identifier: Apache-2.0
# The unit tests of a room, tests/ROOM/*_test.c, are one cmocka program (tests/room.h). Scripts drive the real binaries: those of
# tests/e2e in `make test`, those of tests/long as well in `make test-long`.

# The rooms that have tests, and each one's program: tests/writer/store/*_test.c are build/tests/writer-store.
UNIT_SRC := $(wildcard $(addprefix tests/,shm-layout/*_test.c writer/*/*_test.c reader-lib/*_test.c reader-lib/*/*_test.c tools/*/*_test.c conversations/*_test.c fuzz/*_test.c))
ROOMS    := $(sort $(patsubst tests/%/,%,$(dir $(UNIT_SRC))))
# Under ThreadSanitizer: the rooms whose code runs in several threads or shares memory between processes, and no scripts. libuv closes
# descriptors by system calls that TSan does not see: whoever gets the number next would seem to race with it.
ifeq ($(SAN),thread)
ROOMS    := $(filter shm-layout writer/arena writer/serve reader-lib/% tools/serving tools/informer-sim conversations,$(ROOMS))
endif
room_program = $(B)/tests/$(subst /,-,$(1))
UNIT     := $(foreach r,$(ROOMS),$(call room_program,$(r)))
# what is installed is a plain build, never a sanitizer's
# the longest first
E2E      := $(filter-out $(if $(SAN),tests/e2e/install.sh),\
	$(shell awk '/^. Takes [0-9]+ s/ {print $$3, FILENAME}' tests/e2e/*.sh | sort -k1,1rn -k2 | cut -d' ' -f2))
PROG_SRC := $(wildcard tests/support/prog/*.c)
PROGS    := $(patsubst tests/support/prog/%.c,$(B)/tests/%,$(PROG_SRC))

TEST_OBJS := $(SUPPORT_OBJS) $(READER_OBJS) $(WRITER_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(SHM_OBJS)
TOOL_OBJS := $(SIM_OBJS) $(SERVING_OBJS) $(PRINTER_OBJS)
ifneq ($(SAN),thread)
TOOL_OBJS += $(filter-out %/main.o,$(CTL_OBJS)) $(CHANGE_OBJS) $(RUN_OBJS) $(GATEWAY_OBJS)
endif
# what only one room's tests share stands beside them
WORLD_OBJS := $(call objs,$(filter-out %_test.c,$(wildcard $(ROOMS:%=tests/%/*.c))))
# all objects but the tests: a program takes of it what it needs
$(B)/tests/rooms.a: $(sort $(TEST_OBJS) $(TOOL_OBJS) $(WORLD_OBJS))
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(AR) rcsT $@ $^
LINK_TEST = $(LINK) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(WRAPS:%=-Wl,--wrap=%) $(WRITER_LIBS) $(SIM_LIBS) $(TEST_LIBS)

define room
$(call room_program,$(1)): $(B)/obj/tests/room.o $(call objs,$(wildcard tests/$(1)/*_test.c)) $(B)/tests/rooms.a
	$$(call say,LINK,$$@)
	$$(Q)$$(LINK_TEST)
endef
$(foreach r,$(ROOMS),$(eval $(call room,$(r))))
# What a room's tests stand in for: calls that change an arena's file, private memory that runs out, hashes cut short, larger pages, objects
# that cannot be read.
$(B)/tests/writer-store: WRAPS = malloc realloc calloc index_value_hash object_key_hash crypto_shorthash
$(B)/tests/writer-resource: WRAPS = malloc realloc calloc
$(B)/tests/writer-cut: WRAPS = mmap munmap openat fchmod ftruncate posix_fallocate fallocate unlinkat renameat pread \
	index_value_hash object_key_hash
$(B)/tests/reader-lib-read: WRAPS = index_value_hash object_key_hash
$(B)/tests/tools-informer-run: WRAPS = informer_object_value
$(B)/tests/reader-lib-attach $(B)/tests/writer-arena: WRAPS = sysconf
# calls that cost what a test says (tests/writer/serve/given_cost.h), memory that runs out, and larger pages
SERVE_WRAPS := accept4 write epoll_ctl malloc realloc calloc reallocarray sysconf
$(B)/tests/writer-serve: WRAPS = $(SERVE_WRAPS)
# each target of tests/fuzz is a function of its own name, so that one program holds all of them
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(filter-out %_test.c,$(wildcard tests/fuzz/*.c)))
$(FUZZ_TARGETS:%=$(B)/obj/tests/fuzz/%.o): CPPFLAGS += -DLLVMFuzzerTestOneInput=fuzz_$(*F)
$(B)/obj/tests/fuzz/corpus_test.o $(B)/tidy/tests/fuzz/corpus_test.ok: CPPFLAGS += -DTARGETS='$(foreach t,$(FUZZ_TARGETS),TARGET($t))'
$(B)/obj/tests/fuzz/corpus_test.o: $(FUZZ_TARGETS:%=tests/fuzz/%.c)
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
EXPLORED_OBJS  := $(call explored_objs,$(filter-out tests/support/test_clock.c,$(wildcard $(EXPLORED_ROOMS:%=%/*.c))) tests/explorer/steps.c)
EXPLORER_OBJS  := $(patsubst %.c,$(B)/explorer/%.o,$(filter-out %_test.c %/steps.c,$(wildcard tests/explorer/*.c)))
EXPLORER_WRAPS := memcpy memmove memset memcmp malloc calloc realloc reallocarray strdup strndup free mmap munmap madvise fallocate close crypto_generichash_final \
	pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_cond_wait pthread_cond_timedwait \
	pthread_cond_signal pthread_cond_broadcast poll write clock_gettime timerfd_settime recvmsg shutdown epoll_ctl \
	uv_close uv_poll_start uv_timer_start uv_queue_work randombytes_buf
plain_flags     = $(filter-out -fsanitize=% -fno-sanitize-recover=% -O%,$(1))
COMPILE_EXPLORED = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(call plain_flags,$(OUR_CFLAGS) $(CFLAGS)) -O1 -fno-inline -fno-builtin \
	-fsanitize=thread -U__SANITIZE_THREAD__ -U_FORTIFY_SOURCE -DSHORTCUT_PLAIN -Wno-unknown-warning-option -Wno-tsan
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
	$(Q)$(AR) rcs $@ $^
$(B)/tests/explorer/%_test: $(B)/explored/tests/explorer/%_test.o $(B)/obj/tests/room.o $(EXPLORER_OBJS) $(B)/explored/rooms.a
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
$(FAULTY): $(B)/obj/tests/room.o $(EXPLORER_OBJS) $(B)/explored/rooms.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK_EXPLORED)

# preloaded by a process under test, so that it is no sanitizer's
PRELOADS := $(patsubst tests/support/preload/%.c,$(B)/tests/%.so,$(wildcard tests/support/preload/*.c))
# they define what FORTIFY makes macros of
$(PRELOADS) $(B)/obj/tests/support/preload/%.o $(B)/tidy/tests/support/preload/%.ok: CPPFLAGS += -U_FORTIFY_SOURCE
$(B)/tests/%.so: tests/support/preload/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(filter-out -fsanitize=% -fno-sanitize-recover=%,$(OUR_CFLAGS) $(CFLAGS)) -shared -o $@ $<

# Small faults, one at a time, each of which a test must find (tests/mutants). What it needs of the build: every object, those of the
# tests that are named apart.
MUTANT_LISTS := $(wildcard tests/mutants/*.list)
MUTANT_TESTS := $(sort $(shell sed -n 's/^test //p' $(MUTANT_LISTS)))
MUTATE = TRIALS=0 python3 tests/mutants/run.py --build $(B) --archive $(B)/tests/rooms.a --compile $(call quote,$(COMPILE)) --link $(call quote,$(LINK)) \
	--libs $(call quote,$(B)/obj/tests/room.o $(WRITER_LIBS) $(SIM_LIBS) $(TEST_LIBS)) $(if $(ONLY),--only $(call quote,$(ONLY))) $(if $(DRAW),--draw $(DRAW)) \
	--wraps $(call quote,writer/serve=$(SERVE_WRAPS)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(KEEP_GOING),--keep-going) $(if $(ANEW),--anew)
.PHONY: mutants
mutants: all $(B)/tests/rooms.a $(B)/obj/tests/room.o $(call objs,$(MUTANT_TESTS:%=tests/%_test.c)) $(PODS)
	$(Q)$(MUTATE) $(MUTANT_LISTS)

# Pods of real size, for tests and the bench: those in REAL_PODS, a folder of files, if it is set; else generated ones.
export REAL_PODS
PODS := $(if $(REAL_PODS),,$(B)/pods)
$(B)/pods: tests/support/make_pods.sh $(B)/informer-sim
	$(call say,PODS,$@)
	$(Q)sh $^ $@

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

.PHONY: tests explorer check test test-long long-check
tests: $(UNIT) $(PROGS) $(PRELOADS) $(B)/tests/informerd_next
explorer: $(EXPLORER)

ifeq ($(SAN),thread)
check: $(UNIT) $(PODS)
	$(Q)TSAN_OPTIONS="$$TSAN_OPTIONS ignore_noninstrumented_modules=1" sh tests/run.sh $(B) $(UNIT)
else
check: all tests $(PODS)
	$(Q)sh tests/run.sh $(B) $(E2E) $(UNIT)
endif
test: setup-test
	$(SUBMAKE) check

# The long half: all of `make test` with more rounds, the scripts that take minutes, the explorer, and the scripts on upstream's API server
# (tests/apiserver, skipped where Go is missing). A script that cannot run there says why in a line "# Not upstream: ...".
LONG     := $(sort $(wildcard tests/long/*.sh))
UPSTREAM := $(sort $(wildcard tests/upstream/*.sh)) \
	$(addprefix upstream:,$(shell grep -L '^# Not upstream: ' tests/e2e/*.sh tests/long/*.sh))
test-long: setup-test setup-fuzz
	$(SUBMAKE) long-check
long-check: all tests explorer $(PODS) $(B)/apiserver
	$(Q)python3 tests/long.py $(B) $(UNIT) $(EXPLORER) $(E2E) $(LONG) $(UPSTREAM)
# the scripts on upstream's API server alone
test-upstream: setup-test
	$(SUBMAKE) all tests $(PODS) $(B)/apiserver
	$(Q)sh tests/run.sh $(B) $(UPSTREAM)
.PHONY: apiserver test-upstream
apiserver: $(B)/apiserver
$(B)/apiserver: FORCE
	@mkdir -p $(@D)
	$(Q)sh tests/apiserver/build.sh $@ || [ $$? = 77 ]

# ---- fuzz: what a server, a file or a plugin sends, under libFuzzer (clang) ------------
# FUZZ_SECONDS for each of tests/fuzz/NAME.c, from tests/fuzz/corpus/NAME; what it finds stays in build-fuzz/corpus/NAME, and what
# breaks it in build-fuzz/NAME-crash-*. FUZZ=NAME: that one alone. The corpora alone are a room, tests/fuzz/corpus_test.c.
FUZZ_SECONDS ?= 10
FUZZ    ?= $(sort $(FUZZ_TARGETS))
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/tests/rooms.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK_TEST) -fsanitize=fuzzer -Wl,--defsym=LLVMFuzzerTestOneInput=fuzz_$*
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
# server (u: that alone), which is measured where `make apiserver` has built it; UPSTREAM_PODS=10000,50000: with how many pods, agents and
# events with the first. WIRE=json|protobuf: informerd's --wire in all rows but p, which has both. ONLY=gateway[:PART,...]: informer-gateway before
# that server, and its clients at the one and the other. ONLY=hostile: what honest readers notice of attacks on informerd.
BENCH_OBJS := $(call objs,$(wildcard tests/bench/*.c))

$(B)/bench/bench: $(BENCH_OBJS) $(WRITER_OBJS) $(SIM_OBJS) $(SERVING_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(PRINTER_OBJS) $(SHM_OBJS) $(B)/libinformer.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(WRITER_LIBS) $(SIM_LIBS) $(call pkg,--libs,lmdb)

.PHONY: bench
bench: all $(B)/bench/bench $(PODS)
	$(Q)QUICK=$(QUICK) ONLY=$(ONLY) WIRE=$(WIRE) UPSTREAM_PODS=$(UPSTREAM_PODS) sh tests/bench/run.sh $(B) $(or $(REAL_PODS),$(PODS))
