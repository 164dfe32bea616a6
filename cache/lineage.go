package cache

import "os"

// Process is a process, told apart from a later one with the same id.
type Process struct {
	PID int `json:"pid"`
	// Birth is when it began, as the system counts it; "" where that is not known.
	Birth string `json:"birth,omitempty"`
}

// spawner is the parent of this process. It is asked for at once: when a parent
// has ended, another process takes its place.
var spawner = processOf(os.Getppid())

func processOf(pid int) Process {
	birth, _ := process(pid)
	return Process{pid, birth}
}

// maxAncestors is far above any lineage; a cycle of reused ids ends there.
const maxAncestors = 1000

// Lineage is the process that spawned this one, the one that spawned that, and
// so on. Where the system does not tell parents of others it has one entry.
func Lineage() []Process {
	var line []Process
	for p := spawner; p.PID > 0 && len(line) < maxAncestors; p = processOf(parentOf(p.PID)) {
		line = append(line, p)
	}
	return line
}

// Is reports whether two values mean one process, as far as is known.
func (p Process) Is(other Process) bool {
	return p.PID > 0 && p.PID == other.PID && (p.Birth == other.Birth || p.Birth == "" || other.Birth == "")
}

// runs reports whether it is alive.
func (p Process) runs() bool {
	if p.PID <= 0 {
		return false
	}
	birth, alive := process(p.PID)
	return alive && p.Is(Process{p.PID, birth})
}
