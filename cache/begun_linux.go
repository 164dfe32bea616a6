package cache

import (
	"bytes"
	"fmt"
	"os"
)

// begun reads the start time of a process, in clock ticks since the boot, and
// whether it has ended and only waits to be collected.
func begun(pid int) (birth string, zombie bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the program's name in brackets and may hold anything.
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := bytes.Fields(rest)
	if len(fields) < 20 {
		return "", false
	}
	return string(fields[19]), fields[0][0] == 'Z'
}
