package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpuOf is the processor time of a process's living threads. It counts
// nanoseconds, where the clock of /proc/<pid>/stat counts hundredths.
func cpuOf(pid int) time.Duration {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	var sum time.Duration
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread ended
		}
		ns, _, _ := strings.Cut(string(b), " ")
		if n, err := strconv.ParseInt(ns, 10, 64); err == nil {
			sum += time.Duration(n)
		}
	}
	return sum
}

// memory is what a process holds, in MB of 1,000,000 bytes.
type memory struct{ Anon, RSS, Peak float64 }

func memoryOf(pid int) (memory, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	var m memory
	into := map[string]*float64{"RssAnon": &m.Anon, "VmRSS": &m.RSS, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		kb, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
		if p := into[key]; p != nil && err == nil {
			*p = kb * 1024 / 1e6
		}
	}
	return m, nil
}
