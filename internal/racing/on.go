//go:build race

package racing

// On is whether the race detector runs.
const On = true
