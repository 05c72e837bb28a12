// SPDX-License-Identifier: Apache-2.0

// Package synctest is testing/synctest's by its names, in real time: in its bubbles nobody reads what another process
// wrote.
package synctest

import (
	"testing"
	"time"
)

func Test(t *testing.T, f func(*testing.T)) { f(t) }

// Wait is short beside the seconds that the tests sleep.
func Wait() { time.Sleep(150 * time.Millisecond) }
