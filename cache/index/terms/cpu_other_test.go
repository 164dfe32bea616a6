//go:build !unix

package terms

import "time"

// cpuTime is not known here.
func cpuTime() time.Duration { return 0 }
