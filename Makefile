# informer: one cache of Kubernetes objects per node, in shared memory.
#
#   make            build everything into build/
#   make demo       watch it work (KEEP=1 leaves it running)
#   make test       set-up, build, all tests, again under ASan + UBSan
#   make help       the other targets

VERSION := 0.1.0
SOMAJOR := 0

B      ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
comma  := ,
V      ?=
Q      := $(if $(V),,@)
say     = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

CC     ?= cc
OPT    ?= -O2
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man

# ---- set-up ---------------------------------------------------------------
# Everything the build needs, as Debian packages; `make setup` installs what is
# missing, or says how.
PACKAGES := gcc pkg-config libcurl4-openssl-dev libcjson-dev libsodium-dev \
	libuv1-dev libyaml-dev libmicrohttpd-dev libcmocka-dev liblmdb-dev binutils jq curl
LINT_PACKAGES := clang clang-tidy cppcheck
MODULES  := libcurl libcjson libsodium libuv yaml-0.1 libmicrohttpd cmocka lmdb

.DEFAULT_GOAL := all
no_build_goals := setup setup-lint clean help demo
ifneq ($(filter-out $(no_build_goals),$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell pkg-config --exists $(MODULES) 2>/dev/null && command -v jq curl ld >/dev/null && echo ok),ok)
$(shell sh tools/setup.sh $(PACKAGES) >&2)
ifneq ($(shell pkg-config --exists $(MODULES) 2>/dev/null && echo ok),ok)
$(error the build needs the packages named above)
endif
endif
endif

pkg = $(shell pkg-config $(1) $(2))

# ---- flags ----------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wvla -Wformat=2
CPPFLAGS += -D_GNU_SOURCE -DINFORMER_VERSION='"$(VERSION)"' -I.
CFLAGS   += -std=gnu17 $(OPT) -g -fPIC -fvisibility=hidden -fno-omit-frame-pointer $(WARN)
CFLAGS   += $(call pkg,--cflags,$(MODULES))
# x86-64-v2: every x86 server since 2009; popcount is one instruction, and each step down a trie takes one
ifeq ($(shell uname -m),x86_64)
CFLAGS   += -march=x86-64-v2
endif
ifneq ($(SAN),)
CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all
LDFLAGS  += -fsanitize=$(SAN)
endif

SHM_LIBS    := $(call pkg,--libs,libsodium)
WRITER_LIBS := $(call pkg,--libs,libcurl libcjson libsodium libuv yaml-0.1) -lpthread -lm
TOOL_LIBS   := $(call pkg,--libs,libcjson libsodium) -lm
SIM_LIBS    := $(call pkg,--libs,libmicrohttpd libcjson libsodium) -lpthread -lm
TEST_LIBS   := $(call pkg,--libs,cmocka lmdb)

# ---- sources: each room's .c files ----------------------------------------
objs = $(patsubst %.c,$(B)/obj/%.o,$(1))
SHM_OBJS    := $(call objs,$(wildcard shm-layout/*.c))
READER_OBJS := $(call objs,$(wildcard reader-lib/*.c))
WRITER_OBJS := $(call objs,$(filter-out writer/main.c,$(wildcard writer/*.c writer/kube/*.c)))
CTL_OBJS    := $(call objs,$(wildcard tools/informerctl/*.c))
SIM_OBJS    := $(call objs,$(filter-out tools/informer-sim/main.c,$(wildcard tools/informer-sim/*.c)))
SUPPORT_OBJS:= $(call objs,$(wildcard tests/support/*.c))

-include $(wildcard shm-layout/module.mk reader-lib/module.mk writer/module.mk tools/module.mk)

all: $(B)/informerd $(B)/informerctl $(B)/informer-sim $(B)/libinformer.a $(B)/libinformer.so $(B)/libinformer.pc

$(B)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

$(B)/informerd: $(B)/obj/writer/main.o $(WRITER_OBJS) $(SHM_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(WRITER_LIBS)

$(B)/informerctl: $(CTL_OBJS) $(B)/libinformer.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

$(B)/informer-sim: $(B)/obj/tools/informer-sim/main.o $(SIM_OBJS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(SIM_LIBS)

# The static library is one object in which only informer_* is global, so that
# an agent that links it meets no other name of ours.
$(B)/libinformer.a: $(READER_OBJS) $(SHM_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@
	$(Q)ld -r -o $(B)/obj/libinformer.o $^
	$(Q)objcopy --localize-hidden $(B)/obj/libinformer.o
	$(Q)ar rcs $@ $(B)/obj/libinformer.o

SONAME := libinformer.so.$(SOMAJOR)
$(B)/libinformer.so.$(VERSION): $(READER_OBJS) $(SHM_OBJS) reader-lib/libinformer.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=reader-lib/libinformer.map \
		$(if $(SAN),,-Wl$(comma)-z$(comma)defs) -o $@ $(READER_OBJS) $(SHM_OBJS) $(SHM_LIBS)
$(B)/libinformer.so: $(B)/libinformer.so.$(VERSION)
	$(Q)ln -sf $(<F) $(B)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

$(B)/libinformer.pc: reader-lib/libinformer.pc.in Makefile
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|g; s|@VERSION@|$(VERSION)|g' $< >$@

include tests/module.mk

# ---- the other targets ----------------------------------------------------
.PHONY: all setup setup-lint demo test tsan lint bench install clean help
setup:
	$(Q)sh tools/setup.sh $(PACKAGES)
setup-lint:
	$(Q)sh tools/setup.sh $(PACKAGES) $(LINT_PACKAGES)

demo:
	$(Q)$(MAKE) --no-print-directory all
	$(Q)KEEP=$(KEEP) sh tools/demo/demo.sh $(B)

LINT_SRC = $(wildcard shm-layout/*.c reader-lib/*.c writer/*.c writer/kube/*.c tools/informerctl/*.c tools/informer-sim/*.c)
lint: setup-lint
	$(call say,LINT,"gcc -Werror + clang -Werror")
	$(Q)$(MAKE) --no-print-directory B=build-lint-gcc  CC=gcc   CFLAGS=-Werror all
	$(Q)$(MAKE) --no-print-directory B=build-lint-clang CC=clang CFLAGS=-Werror all
	$(call say,LINT,cppcheck)
	$(Q)cppcheck --quiet --std=c11 --inline-suppr --enable=warning,portability,performance --error-exitcode=1 \
		--suppressions-list=.cppcheck -D_GNU_SOURCE -I. $(LINT_SRC)
	$(call say,LINT,clang-tidy)
	$(Q)printf '%s\n' $(LINT_SRC) | xargs -P2 -n4 -I{} clang-tidy --quiet --warnings-as-errors='*' {} -- \
		-std=gnu17 -DINFORMER_VERSION='"$(VERSION)"' -D_GNU_SOURCE -I. $(call pkg,--cflags,$(MODULES)) 2>/dev/null

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 755 $(B)/informerd $(DESTDIR)$(PREFIX)/sbin/
	install -m 755 $(B)/informerctl $(B)/informer-sim $(DESTDIR)$(PREFIX)/bin/
	install -m 644 reader-lib/informer.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(B)/libinformer.a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(B)/libinformer.so.$(VERSION) $(DESTDIR)$(LIBDIR)/
	ln -sf libinformer.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libinformer.so
	install -m 644 $(B)/libinformer.pc $(DESTDIR)$(LIBDIR)/pkgconfig/
	for s in 1 3 7 8; do install -d $(DESTDIR)$(MANDIR)/man$$s; \
		for f in writer/man/*.$$s reader-lib/man/*.$$s tools/man/*.$$s; do \
			[ -e $$f ] && install -m 644 $$f $(DESTDIR)$(MANDIR)/man$$s/; done; done; true

clean:
	rm -rf build build-*

help:
	@echo 'make            build everything into build/'
	@echo 'make demo       a cluster without a cluster: sim, daemon, two readers, kills  (KEEP=1 leaves it running)'
	@echo 'make test       set-up, build, all tests, again under ASan + UBSan'
	@echo 'make tsan       the shared-memory protocol under ThreadSanitizer'
	@echo 'make lint       gcc and clang with -Werror, clang-tidy, cppcheck'
	@echo 'make bench      measure, beside LMDB, cJSON and client-go (where Go is present); build/bench.json, build/bench.svg'
	@echo 'make install    DESTDIR= PREFIX=/usr/local'
	@echo 'make clean'
