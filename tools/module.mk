# SPDX-License-Identifier: Apache-2.0
# The demo's reader and the README's example: agents that link the library as anybody would.

$(B)/demo-reader: $(B)/obj/tools/demo/demo_reader.o $(B)/libinformer.a
	$(call say,LINK,$@)
	$(Q)$(LINK) -o $@ $^ $(SHM_LIBS)

$(B)/agent: tools/examples/agent.c $(B)/libinformer.a reader-lib/informer.h
	$(call say,LINK,$@)
	$(Q)$(LINK) -Wall -Wextra -Ireader-lib -o $@ $< $(B)/libinformer.a $(SHM_LIBS)

# the other examples, by the same rule
$(B)/pod-logger $(B)/event-loop: $(B)/%: tools/examples/%.c $(B)/libinformer.a reader-lib/informer.h
	$(call say,LINK,$@)
	$(Q)$(LINK) -Wall -Wextra -Ireader-lib -o $@ $< $(B)/libinformer.a $(SHM_LIBS) -lpthread

$(B)/rsyslog_helper: tools/examples/rsyslog_helper.c $(B)/libinformer.a reader-lib/informer.h
	$(call say,LINK,$@)
	$(Q)$(LINK) -Wall -Wextra -Ireader-lib -o $@ $< $(B)/libinformer.a $(SHM_LIBS) $(call pkg,--libs,libcjson) -lpthread

all: $(B)/rsyslog_helper $(B)/demo-reader $(B)/agent $(B)/pod-logger $(B)/event-loop

# The CSI driver is Go, for there is no small library of gRPC for C. It is neither installed nor packaged: its image is built by this.
.PHONY: csi
csi: $(B)/informer-csi
$(B)/informer-csi: $(wildcard tools/csi/*.go tools/csi/go.*)
	@mkdir -p $(@D)
	$(call say,GO,$@)
	$(Q)cd tools/csi && PATH=$$PATH:/usr/local/go/bin CGO_ENABLED=0 $(if $(CROSS),GOARCH=$(CROSS_ARCH)) GOTOOLCHAIN=local \
		go build -buildvcs=false -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(abspath $@) .

# Debian packages, in build/deb: of the sources that git knows, without the tests' results. With CROSS for that machine;
# qemu-user runs its informerctl, which writes the completion scripts.
DEB_PACKAGES := build-essential debhelper lintian $(if $(CROSS),crossbuild-essential-$(CROSS_ARCH) qemu-user)
DEB_CROSS    := $(if $(CROSS),--host-arch=$(CROSS_ARCH))
DEB_VERSION  ?= $(VERSION)
DEB_MAINTAINER ?= informer <informer@localhost>
DEB_TREE     := $(B)/deb/informer-$(DEB_VERSION)
.PHONY: deb setup-deb
setup-deb: setup
	$(Q)sh tools/setup.sh $(DEB_PACKAGES)
deb: setup-deb
	$(Q)rm -rf $(B)/deb && mkdir -p $(DEB_TREE)
	$(Q){ git ls-files -z 2>/dev/null || find . -path './build*' -prune -o -type f -print0; } | tar --null -T - -c | tar -x -C $(DEB_TREE)
	$(Q)cp -r tools/packaging/debian $(DEB_TREE)/debian
	$(Q)sed -i 's/@VERSION@/$(DEB_VERSION)/; s/@MAINTAINER@/$(DEB_MAINTAINER)/' $(addprefix $(DEB_TREE)/debian/,changelog control)
	$(call say,DEB,'$(DEB_TREE): dpkg-buildpackage (minutes)')
	$(Q)cd $(DEB_TREE) && MAKEFLAGS= dpkg-buildpackage -b $(DEB_CROSS) -us -uc -j$(CPUS) >../build.log 2>&1 || { tail -n 30 ../build.log >&2; exit 1; }
	$(Q)lintian --allow-root --fail-on error,warning --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog $(B)/deb/*.changes
	$(Q)ls -l $(B)/deb/*.deb
