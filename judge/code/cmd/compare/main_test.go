package main

import "testing"

// The race can be run: what both choose is right, or check ends the test. Times are not for a test.
func TestRace(t *testing.T) {
	r := newRace(100)
	r.check()
	r.run()
}
