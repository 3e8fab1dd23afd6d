package main

import "github.com/podrank/podrank/judge/cluster/internal/verdict"

// result of a round.
type result string

const (
	took      result = "took"      // exactly the selected pods were deleted
	refused   result = "refused"   // rightly, and nothing was written
	gaveUp    result = "gave up"   // it was feasible, but the count is unchanged and the costs are put back
	described result = "described" // disturbed, and the exit status describes the state
	broken    result = "broken"    // what was not confirmed was done, or what was said is false, or something is left
	undone    result = "undone"    // interrupted, and `undo` left nothing behind
	unreached result = "unreached" // it ended before the disturbance could happen
)

// line is what the log says about a round.
type line struct {
	Seed     uint64 `json:"seed"`
	Mode     string `json:"mode"`
	Round    int    `json:"round"`
	Workload string `json:"workload"`
	Command  string `json:"command"`
	Expect   string `json:"expect"` // feasible or infeasible
	Exit     int    `json:"exit"`
	Result   result `json:"result"`
	Message  string `json:"message,omitempty"`

	// Of rounds with drawn disturbances.
	Disturbances []string      `json:"disturbances,omitempty"`
	Happened     []string      `json:"happened,omitempty"`
	Taken        verdict.Taken `json:"taken,omitzero"`
}
