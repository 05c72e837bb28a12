// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTheArenaIsMappedAtAMultipleOf2MiB(t *testing.T) {
	real(t)
	maps, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	found := 0
	for line := range strings.Lines(string(maps)) {
		if !strings.Contains(line, "informer") || !strings.Contains(line, " r--s ") {
			continue
		}
		start, _, _ := strings.Cut(line, "-")
		at, err := strconv.ParseUint(start, 16, 64)
		must(t, err)
		if at%(2<<20) != 0 {
			t.Error("not aligned:", line)
		}
		found++
	}
	if found == 0 {
		t.Error("no arena in", string(maps))
	}
}
