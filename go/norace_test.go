//go:build !race

package podrank

const raceEnabled = false
