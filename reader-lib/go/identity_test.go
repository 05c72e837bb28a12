// SPDX-License-Identifier: Apache-2.0

package informer

import "testing"

func TestIdentities(t *testing.T) {
	const uuid = "01234567-89ab-cdef-0123-456789abcdef"
	if got := identityOf([]byte(uuid)).String(); got != uuid {
		t.Error("a UUID comes back as", got)
	}
	for _, other := range []string{"", "a", "01234567-89AB-cdef-0123-456789abcdef", "01234567x89ab-cdef-0123-456789abcdef",
		"0123456789ab-cdef-0123-456789abcdef-", "g1234567-89ab-cdef-0123-456789abcdef"} {
		id := identityOf([]byte(other))
		if id.String() != "" || id == identityOf([]byte(uuid)) || id != identityOf([]byte(other)) {
			t.Error(other, "is", id)
		}
		if (id == identity{}) != (other == "") {
			t.Error(other, "is none")
		}
	}
}
