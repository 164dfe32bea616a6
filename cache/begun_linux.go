package cache

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// begun reads the start time of a process, in clock ticks since the boot, and
// whether it has ended and only waits to be collected.
func begun(pid int) (birth string, zombie bool) {
	fields := statOf(pid)
	if fields == nil {
		return "", false
	}
	return string(fields[19]), fields[0][0] == 'Z'
}

// parentOf is the process that spawned another one, or 0.
func parentOf(pid int) int {
	fields := statOf(pid)
	if fields == nil {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// statOf is /proc/pid/stat from its third field on; nil if there is none.
func statOf(pid int) [][]byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The second field is the program's name in brackets and may hold anything.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if len(fields) < 20 {
		return nil
	}
	return fields
}
