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
