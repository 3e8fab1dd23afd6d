//go:build !(cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64))))

package cpodrank

// Select returns ErrMissing.
func Select([]Record, Options, []uint32, []Scratch) (int, error) { return 0, ErrMissing }

// Settle returns ErrMissing.
func Settle([]Record, Options, int, []uint32, []uint64) (certain, contested int, err error) {
	return 0, 0, ErrMissing
}

// Spread returns ErrMissing.
func Spread(_, _ []Record, _ Options, _, _ []uint32) error { return ErrMissing }

// Steer returns ErrMissing.
func Steer([]Record, Options, []uint8, []int32, []Blocked) (Steered, error) {
	return Steered{}, ErrMissing
}

// Explain returns ErrMissing.
func Explain(_, _ *Record, _ Options, _ *[MaxRows]Row) (int, error) { return 0, ErrMissing }

// Upstream returns ErrMissing.
func Upstream(_, _ *Record, _ Options) (before int, rule uint8, err error) { return 0, 0, ErrMissing }

// RuleName returns "".
func RuleName(uint8) string { return "" }

// Version returns "".
func Version() string { return "" }

// Plan returns ErrMissing.
func Plan(_, _, _ uint32, _, _ bool) (creations, deletions uint32, err error) {
	return 0, 0, ErrMissing
}

// BeginSlowStart returns ErrMissing.
func BeginSlowStart(uint32) (SlowStart, error) { return SlowStart{}, ErrMissing }

// ReportSlowStart returns ErrMissing.
func ReportSlowStart(*SlowStart, uint32) error { return ErrMissing }

// ExpectCreations returns ErrMissing.
func ExpectCreations(*Expectations, uint32, int64) error { return ErrMissing }

// ExpectDeletions returns ErrMissing.
func ExpectDeletions(*Expectations, []PodKey, []PodKey, int64) error { return ErrMissing }

// CreationsObserved returns ErrMissing.
func CreationsObserved(*Expectations, uint32) error { return ErrMissing }

// DeletionObserved returns ErrMissing.
func DeletionObserved(*Expectations, []PodKey, PodKey) (bool, error) { return false, ErrMissing }

// Satisfied returns ErrMissing.
func Satisfied(*Expectations, int64) (bool, error) { return false, ErrMissing }

// Availability returns ErrMissing.
func Availability([]Record, uint32, int64) (ready, available int, lookAgain uint64, err error) {
	return 0, 0, 0, ErrMissing
}

// ParsePercent returns ErrMissing.
func ParsePercent(string) (uint32, error) { return 0, ErrMissing }

// SetAnnotations returns ErrMissing.
func SetAnnotations(_ *ReplicaSet, _, _ string) error { return ErrMissing }

// NextDeployment returns ErrMissing.
func NextDeployment(*Deployment, []ReplicaSet, []Change) (Step, error) { return Step{}, ErrMissing }

// ReasonName returns "".
func ReasonName(uint8) string { return "" }

// NextJob returns ErrMissing.
func NextJob(*Job, []Record, []int64, []uint32, []Outcome) (JobStep, error) {
	return JobStep{}, ErrMissing
}

// JobIndex returns ErrMissing.
func JobIndex(string) (int64, error) { return -1, ErrMissing }

// NextDaemonSet returns ErrMissing.
func NextDaemonSet(*DaemonSet, []uint8, []DaemonPod, []uint32, []Outcome) (DaemonStep, error) {
	return DaemonStep{}, ErrMissing
}

// JobReasonName returns "".
func JobReasonName(uint8) string { return "" }

// DaemonReasonName returns "".
func DaemonReasonName(uint8) string { return "" }
