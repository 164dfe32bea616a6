package doctor

import "syscall"

// dataless reads the flag that macOS sets on files whose content is in a cloud.
func dataless(st *syscall.Stat_t) bool {
	const flag = 0x40000000 // SF_DATALESS
	return st.Flags&flag != 0
}
