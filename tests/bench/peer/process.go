// SPDX-License-Identifier: Apache-2.0

package main

// What is asked of the kernel and of the runtime: memory, CPU time, a steady pace; and how figures are summed up.

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pssBytes of this process; -1 when it cannot be known.
func pssBytes() int64 {
	f, err := os.Open("/proc/self/smaps_rollup")
	if err != nil {
		return -1
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, is := strings.CutPrefix(lines.Text(), "Pss:"); is {
			var kilobytes int64
			fmt.Sscan(value, &kilobytes)
			return kilobytes * 1024
		}
	}
	return -1
}

// cpuSeconds of this process.
func cpuSeconds() float64 {
	var r unix.Rusage
	die(unix.Getrusage(unix.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// threadNs is this thread's CPU time, as our side takes it: busy machines do not count. The collector's threads do not either.
func threadNs() int64 {
	var t unix.Timespec
	die(unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t))
	return t.Nano()
}

// interruptions of this thread by the scheduler.
func interruptions() int64 {
	var r unix.Rusage
	die(unix.Getrusage(unix.RUSAGE_THREAD, &r))
	return r.Nivcsw
}

// heapBytes that are in use.
func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func giveMemoryBack() {
	runtime.GC()
	debug.FreeOSMemory()
}

// pace calls f(0), f(1), ... f(n-1) at rate a second (0: without pause) until stop says so, and catches up when it is late.
func pace(rate float64, n int, stop func() bool, f func(i int)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	die(unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0))
	start := time.Now()
	for i := 0; i < n && !stop(); i++ {
		due := time.Duration(0)
		if rate > 0 {
			due = time.Duration(float64(i) / rate * 1e9)
		}
		for early := due - time.Since(start); early > 0; early = due - time.Since(start) {
			t := unix.NsecToTimespec(int64(early))
			unix.Nanosleep(&t, nil)
		}
		f(i)
	}
}

func sorted(v []int64) []int64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s
}

// percentile p, 0 to 1, of sorted values; 0 without any.
func percentile(v []int64, p float64) int64 {
	if len(v) == 0 {
		return 0
	}
	return v[min(len(v)-1, int(float64(len(v))*p))]
}
