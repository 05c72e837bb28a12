# SPDX-License-Identifier: Apache-2.0
# informer: one cache of Kubernetes objects per node, in shared memory.
#
#   make            build everything into build/
#   make demo       watch it work (KEEP=1 leaves it running)
#   make test       set-up, build, the tests of each change (minutes)
#   make help       the other targets

VERSION := 0.1.0
SOMAJOR := 0

# CROSS=aarch64-linux-gnu- builds for another machine, into build-arm64: the triple is gcc's, CROSS_ARCH is Debian's name of the machine.
CROSS  ?=
CROSS_ARCH := $(subst x86_64,amd64,$(subst aarch64,arm64,$(firstword $(subst -, ,$(CROSS)))))
QEMU   ?= qemu-$(firstword $(subst -, ,$(CROSS)))
B      ?= build$(if $(CROSS),-$(CROSS_ARCH))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma  := ,
V      ?=
Q      := $(if $(V),,@)
# one line a step; V=1 shows the commands instead, make -s nothing
say     = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-7s %s\n' $(1) $(2))

# What make itself presets is no choice of whoever typed make.
tool    = $(if $(filter default undefined,$(origin $(1))),$(2),$($(1)))
CC     := $(call tool,CC,$(if $(CROSS),$(CROSS)gcc,cc))
AR     := $(call tool,AR,$(CROSS)ar)
LD     := $(call tool,LD,$(CROSS)ld)
OBJCOPY ?= $(CROSS)objcopy
PKG_CONFIG ?= $(CROSS)pkg-config
# under sanitizers half the time of -O2 to compile, and reports that name more callers
OPT    ?= $(if $(SAN),-O1,-O2)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man

# Targets that start a build of their own use every processor, unless a -j was given.
CPUS   := $(shell nproc 2>/dev/null || echo 2)
SUBMAKE = +$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(CPUS))

# ---- set-up ---------------------------------------------------------------
# What the build needs, as Debian packages: `make setup` installs what is missing,
# or says how, and demo and test begin with it. Other systems name their packages
# otherwise: there the modules and commands are what is looked for.
# For another machine its libraries are installed beside this one's (multiarch), and qemu-user to run tests.
of_target = $(if $(CROSS),$(addsuffix :$(CROSS_ARCH),$(1)),$(1))
PACKAGES := $(if $(CROSS),gcc-$(subst _,-,$(CROSS:%-=%)),gcc binutils) \
	$(call of_target,pkg-config libcurl4-openssl-dev libcjson-dev libsodium-dev \
	libuv1-dev libyaml-dev libmicrohttpd-dev libgnutls28-dev zlib1g-dev)
DEMO_PACKAGES := jq curl
TEST_PACKAGES := $(DEMO_PACKAGES) $(call of_target,libcmocka-dev liblmdb-dev) $(if $(CROSS),qemu-user)
# without one of these `make test` says so and goes on, and the tests that miss it say SKIP
MORE_TEST_PACKAGES := g++ python3 strace openssl procps locales rsyslog rsyslog-kubernetes
LINT_PACKAGES := clang clang-tidy cppcheck python3
MODULES      := libcurl libcjson libsodium libuv yaml-0.1 libmicrohttpd gnutls zlib
TEST_MODULES := cmocka lmdb
has_modules   = $(PKG_CONFIG) --exists $(1) 2>/dev/null
has_commands  = for c in $(1); do command -v $$c || exit 1; done >/dev/null
can_build = $(call has_modules,$(MODULES)) && $(call has_commands,$(LD) $(OBJCOPY) $(if $(CROSS),$(firstword $(CC))))
can_test  = $(call has_modules,$(TEST_MODULES)) && $(call has_commands,jq curl $(if $(CROSS),$(QEMU)))
can_test_more = for c in g++ python3 strace openssl ps; do command -v $$c || exit 1; done >/dev/null && \
	PATH=$$PATH:/usr/sbin && command -v rsyslogd >/dev/null && ls /usr/lib*/rsyslog/mmkubernetes.so /usr/lib/*/rsyslog/mmkubernetes.so 2>/dev/null | grep -q . && \
	{ [ -e /usr/share/i18n/locales/de_DE ] || locale -a 2>/dev/null | grep -qx de_DE.utf8; }

.DEFAULT_GOAL := all
no_build_goals := setup setup-demo setup-test setup-lint setup-fuzz setup-deb deb csi clean uninstall help demo test test-long test-upstream lint fuzz
build_goals := $(filter-out $(no_build_goals),$(or $(MAKECMDGOALS),all))
ifneq ($(build_goals),)
# what is built beside the product is built with what tests need
ifneq ($(shell $(if $(filter-out all install install-strip,$(build_goals)),($(can_test)) &&) $(can_build) && echo ok),ok)
$(error packages are missing: "make setup$(if $(filter-out all install install-strip,$(build_goals)),-test)$(if $(CROSS), CROSS=$(CROSS))" installs them, or says which)
endif
endif

pkg = $(shell $(PKG_CONFIG) $(1) $(2) 2>/dev/null)

# ---- flags ----------------------------------------------------------------
# CPPFLAGS, CFLAGS and LDFLAGS belong to whoever types make: they come last and take nothing away. WERROR=1: warnings are errors.
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wvla -Wformat=2 $(if $(WERROR),-Werror)
OUR_CPPFLAGS := -D_GNU_SOURCE -DINFORMER_VERSION='"$(VERSION)"' -I. $(call pkg,--cflags,$(MODULES))
OUR_CFLAGS   := -std=gnu17 $(OPT) -g$(if $(SAN),1) -fPIC -fvisibility=hidden -fno-omit-frame-pointer $(WARN)
OUR_LDFLAGS  := -pie -Wl,-z,relro,-z,now
ifneq ($(SAN),)
OUR_CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all
OUR_LDFLAGS  += -fsanitize=$(SAN)
else # glibc's checks of lengths; a compiler may have chosen a level of its own
OUR_CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
OUR_CFLAGS   += -fstack-protector-strong -fstack-clash-protection
endif
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS)
LINK    = $(CC) $(OUR_LDFLAGS) $(LDFLAGS)

SHM_LIBS    := $(call pkg,--libs,libsodium)
WRITER_LIBS := $(call pkg,--libs,libcurl libcjson libsodium libuv yaml-0.1 libmicrohttpd) -lpthread -lm
TOOL_LIBS   := $(call pkg,--libs,libcjson libsodium yaml-0.1) -lm
RUN_LIBS    := $(call pkg,--libs,libcjson libsodium yaml-0.1) -lm
SIM_LIBS    := $(call pkg,--libs,libmicrohttpd gnutls libcjson libsodium zlib) -lpthread -lm
GATEWAY_LIBS:= $(call pkg,--libs,libcurl libcjson libsodium libuv yaml-0.1 libmicrohttpd gnutls zlib) -lpthread -lm
TEST_LIBS   := $(call pkg,--libs,cmocka lmdb)

# ---- sources: each room's .c files ----------------------------------------
objs = $(patsubst %.c,$(B)/obj/%.o,$(1))
SHM_OBJS    := $(call objs,$(wildcard shm-layout/*.c))
READER_OBJS := $(call objs,$(wildcard reader-lib/*/*.c))
WRITER_OBJS := $(call objs,$(wildcard writer/*/*.c))
PRINTER_OBJS:= $(call objs,$(wildcard tools/printer/*.c))
CTL_OBJS    := $(call objs,$(wildcard tools/informerctl/*.c))
CHANGE_OBJS := $(call objs,$(wildcard tools/change/*.c))
FLAG_OBJS   := $(call objs,$(wildcard tools/flags/*.c))
SCHEMA_OBJS := $(call objs,$(wildcard tools/schema/*.c))
SERVING_OBJS:= $(call objs,$(wildcard tools/serving/*.c))
GATEWAY_OBJS:= $(call objs,$(filter-out tools/informer-gateway/main.c,$(wildcard tools/informer-gateway/*.c tools/informer-gateway/*/*.c)))
RUN_OBJS    := $(call objs,$(filter-out tools/informer-run/main.c,$(wildcard tools/informer-run/*.c)))
SIM_OBJS    := $(call objs,$(filter-out tools/informer-sim/main.c,$(wildcard tools/informer-sim/*.c)))
SUPPORT_OBJS:= $(call objs,$(wildcard tests/support/*.c))

include tools/module.mk

PROGRAMS := informerd informerctl informer-run informer-sim informer-gateway
all: $(PROGRAMS:%=$(B)/%) $(B)/libinformer.a $(B)/libinformer.so $(B)/libinformer.pc

# Other flags are another build: what was compiled with others is compiled again.
FORCE:
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(COMPILE) $(LINK)) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
quote = '$(subst ','\'',$(1))'

.SECONDARY:
$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
# it takes the text in as it is
$(B)/obj/tools/schema/proto_schema.o: tools/schema/kubernetes.schema

$(B)/informerd: $(B)/obj/writer/main.o $(WRITER_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(SHM_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(WRITER_LIBS)

$(B)/informerctl: $(CTL_OBJS) $(CHANGE_OBJS) $(FLAG_OBJS) $(PRINTER_OBJS) $(SHM_OBJS) $(B)/libinformer.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(TOOL_LIBS)

$(B)/informer-run: $(B)/obj/tools/informer-run/main.o $(RUN_OBJS) $(CHANGE_OBJS) $(FLAG_OBJS) $(call objs,tools/printer/text.c) \
		$(B)/libinformer.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(RUN_LIBS)

$(B)/informer-sim: $(B)/obj/tools/informer-sim/main.o $(SIM_OBJS) $(SERVING_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) $(PRINTER_OBJS)
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(SIM_LIBS)

# of the writer: its base, and its client of the API server
$(B)/informer-gateway: $(B)/obj/tools/informer-gateway/main.o $(GATEWAY_OBJS) $(SERVING_OBJS) $(FLAG_OBJS) $(SCHEMA_OBJS) \
		$(PRINTER_OBJS) $(call objs,$(wildcard writer/base/*.c writer/kube/*.c)) $(SHM_OBJS) $(B)/libinformer.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(GATEWAY_LIBS)

# The static library is one object in which only informer_* is global, so that
# an agent that links it meets no other name of ours.
$(B)/libinformer.a: $(READER_OBJS) $(SHM_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)$(LD) -r -o $(B)/obj/libinformer.o $^
	$(Q)$(OBJCOPY) --localize-hidden $(B)/obj/libinformer.o
	$(Q)$(AR) rcs $@ $(B)/obj/libinformer.o

SONAME := libinformer.so.$(SOMAJOR)
$(B)/libinformer.so.$(VERSION): $(READER_OBJS) $(SHM_OBJS) reader-lib/libinformer.map
	$(call say,LINK,$@)
	$(Q)$(filter-out -pie,$(LINK)) -shared -Wl,-soname,$(SONAME) -Wl,-z,nodelete -Wl,--version-script=reader-lib/libinformer.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(READER_OBJS) $(SHM_OBJS) $(SHM_LIBS)
$(B)/libinformer.so: $(B)/libinformer.so.$(VERSION)
	$(Q)ln -sf $(<F) $(B)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

# FORCE: `make install PREFIX=` may name another place than the build did
$(B)/libinformer.pc: reader-lib/libinformer.pc.in FORCE
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@VERSION@|$(VERSION)|g' $< >$@

include tests/module.mk

# ---- the other targets ----------------------------------------------------
.PHONY: all objects setup setup-demo setup-test setup-lint demo lint tidy bench install install-strip uninstall clean help FORCE
setup:
	$(Q)($(can_build)) || sh tools/setup.sh $(PACKAGES)
setup-demo: setup
	$(Q)($(call has_commands,jq curl)) || sh tools/setup.sh $(DEMO_PACKAGES)
setup-test: setup
	$(Q)($(can_test)) || sh tools/setup.sh $(TEST_PACKAGES)
	$(Q)($(can_test_more)) || sh tools/setup.sh $(MORE_TEST_PACKAGES) || echo 'set-up: tests that need these are skipped' >&2
setup-lint: setup-test
	$(Q)(for c in gcc $(LINT_PACKAGES); do command -v $$c || exit 1; done) >/dev/null || sh tools/setup.sh gcc $(LINT_PACKAGES)

demo: setup-demo
	$(SUBMAKE) all
	$(Q)KEEP=$(KEEP) sh tools/demo/demo.sh $(B)

# All sources, the tests too: what gcc, clang, cppcheck and clang-tidy say, and whether the rooms stand as tests/structure/rooms has them.
# One line a step when that is nothing. What cppcheck and clang-tidy found clean is remembered by its content, in LINT_CACHE: only what
# changed since, or includes what changed, is looked at again. DEEP=1: clang's analyzer goes more ways through a function, which takes four
# times as long (tests/long/all_lint.sh). LINT_GCC=build: where gcc's objects are, or come to be.
LINT_GCC ?= build-lint-gcc
LINT_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/informer-lint
# cppcheck's own cache does not look at its configuration
CPPCHECK_CACHE = $(LINT_CACHE)/cppcheck-$(shell cat .cppcheck .cppcheck.cfg | sha256sum | cut -c 1-16)
lint: setup-lint
	$(call say,LINT,'gcc -Werror')
	$(SUBMAKE) -s WERROR=1 B=$(LINT_GCC) CC=gcc objects
	$(call say,LINT,'structure')
	$(Q)python3 tests/structure/check.py --objects $(LINT_GCC)/obj
	$(Q)python3 tests/structure/names.py
	$(call say,LINT,'clang -Werror')
	$(SUBMAKE) -s WERROR=1 B=build-lint-clang CC=clang objects
	$(call say,LINT,'cppcheck')
	$(Q)mkdir -p $(CPPCHECK_CACHE)
	$(Q)cppcheck --quiet -j$(CPUS) --std=c11 --inline-suppr --enable=warning,portability,performance --error-exitcode=1 \
		--cppcheck-build-dir=$(CPPCHECK_CACHE) \
		--library=.cppcheck.cfg --suppressions-list=.cppcheck -D_GNU_SOURCE -DINFORMER_VERSION='""' -I. $(LINT_SRC)
	$(call say,LINT,'clang-tidy')
	$(SUBMAKE) -s --output-sync --keep-going WERROR=1 B=build-lint-clang CC=clang tidy

LINT_SRC := $(sort $(wildcard shm-layout/*.c reader-lib/*/*.c writer/*.c writer/*/*.c tools/*/*.c tools/*/*/*.c tests/*.c tests/*/*.c tests/*/*/*.c))
objects: $(call objs,$(LINT_SRC))
# the examples include the library's header as users do
$(B)/obj/tools/examples/%.o $(B)/tidy/tools/examples/%.ok: OUR_CPPFLAGS += -Ireader-lib
tidy: $(LINT_SRC:%.c=$(B)/tidy/%.ok)
SHALLOW := $(if $(DEEP),,-Xclang -analyzer-config -Xclang max-nodes=20000)
TIDY = clang-tidy --quiet --warnings-as-errors='*' $< -- $(OUR_CPPFLAGS) $(CPPFLAGS) -std=gnu17 $(SHALLOW)
# after the object, whose dependencies say what it is made of
$(B)/tidy/%.ok: %.c $(B)/obj/%.o .clang-tidy
	@mkdir -p $(@D) $(LINT_CACHE)/tidy
	$(Q)key=$$({ clang-tidy --version; echo $(call quote,$(TIDY)); \
			cat .clang-tidy $$(sed 's/^[^ ]*: //; /:$$/d; s/\\$$//' $(B)/obj/$*.d); } | sha256sum | cut -d ' ' -f 1); \
		if [ ! -e $(LINT_CACHE)/tidy/$$key ]; then \
			$(TIDY) >$@.log 2>&1 || { grep -v 'warnings* generated' $@.log >&2; exit 1; }; \
			touch $(LINT_CACHE)/tidy/$$key; \
		fi; touch $@

# What is installed; $(call installed,put) and $(call installed,take) do that to MODE FILES DIRECTORY.
define installed
$(call $(1),755,$(PROGRAMS:%=$(B)/%),$(PREFIX)/bin)
$(call $(1),644,reader-lib/informer.h $(wildcard reader-lib/informer-*.h),$(PREFIX)/include)
$(call $(1),755,$(B)/libinformer.so.$(VERSION),$(LIBDIR))
$(call $(1),644,$(B)/libinformer.a,$(LIBDIR))
$(call $(1),644,tools/schema/kubernetes.schema,$(PREFIX)/share/informer)
$(call $(1),644,$(wildcard tools/monitoring/*),$(PREFIX)/share/informer/monitoring)
$(call $(1),644,$(B)/libinformer.pc,$(LIBDIR)/pkgconfig)
$(foreach s,1 3 5 7 8,$(call $(1),644,$(wildcard */man/*.$(s)),$(MANDIR)/man$(s))$(newline))
endef
put  = $(Q)install -d $(DESTDIR)$(3) && install $(if $(filter 755,$(1)),$(STRIP)) -m $(1) $(2) $(DESTDIR)$(3)/
take = $(Q)rm -f $(addprefix $(DESTDIR)$(3)/,$(notdir $(2)))
install: all
	$(call installed,put)
	$(Q)ln -sf libinformer.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	$(Q)ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libinformer.so
	$(if $(DESTDIR),,$(Q)ldconfig 2>/dev/null || true)
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
install-strip: STRIP = -s --strip-program=$(CROSS)strip
install-strip: install
uninstall:
	$(call installed,take)
	$(Q)rm -f $(DESTDIR)$(LIBDIR)/$(SONAME) $(DESTDIR)$(LIBDIR)/libinformer.so
	$(Q)rmdir $(DESTDIR)$(PREFIX)/share/informer/monitoring $(DESTDIR)$(PREFIX)/share/informer 2>/dev/null || true
	$(if $(DESTDIR),,$(Q)ldconfig 2>/dev/null || true)
define newline


endef

clean:
	rm -rf build build-*

help:
	@echo 'make            build everything into build/'
	@echo 'make demo       a cluster without a cluster: sync, lookups, events, kills, memory  (KEEP=1 leaves it running)'
	@echo 'make test       set-up, build and the tests of each change: two minutes in an empty clone, one in a built tree, on two processors'
	@echo '                ONLY=PART of a script'\''s name, or of a unit test'\''s ROOM/FILE/TEST; SEED= draws other dice'
	@echo '                SAN=address,undefined the same under sanitizers; SAN=thread the unit tests of what shares memory'
	@echo 'make test-long  everything else, hours: chaos, kills, soak, upstream'\''s API server (Go), explorer, mutants, fuzzing, sanitizers'
	@echo '                ONLY=; SEED= repeats what it drew; MINUTES=N a slice of so many minutes; the table is also in build/long.json'
	@echo 'make test-upstream  of it the scripts on upstream'\''s own API server, which it builds with Go (ONLY=)'
	@echo 'make mutants    small faults put into the sources, one at a time: a test must turn red for each (tests/mutants)'
	@echo '                ONLY=PART of a name or file; DRAW=N of them, by SEED=; KEEP_GOING=1 after one that survives; JOBS=; ANEW=1'
	@echo 'make fuzz       what comes from outside under libFuzzer (clang), FUZZ_SECONDS=10 each'
	@echo 'make lint       gcc and clang with -Werror, clang-tidy, cppcheck; rooms, circles, columns (tests/structure)'
	@echo 'make bench      measure, beside LMDB, cJSON and client-go (where Go is present); build/bench.json'
	@echo '                REAL_PODS=DIR of pods, a file each, else generated ones (tests read them, too)'
	@echo '                QUICK=1 rough figures; ONLY=lbdpes by letters: lookups, bytes, decode, lists (i: applied), events, initial sync;'
	@echo '                ONLY=gateway: informer-gateway beside upstream'\''s API server; ONLY=gateway:PART,… of list, get, watch, node, herd'
	@echo 'make install    install-strip, uninstall: DESTDIR= PREFIX=/usr/local'
	@echo 'make deb        Debian packages of informerd, libinformer, the tools and the gateway, into build/deb (DEB_VERSION=)'
	@echo 'make csi        the CSI driver, into build/informer-csi; it needs Go, which make setup does not install'
	@echo 'make CROSS=aarch64-linux-gnu-   the same for arm64 into build-arm64, also setup, tests, install and deb; tests/long/arm64.sh runs its tests'
	@echo 'make clean'
