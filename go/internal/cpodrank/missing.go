//go:build !(cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64))))

package cpodrank

// Select is not there.
func Select([]Record, Options, []uint32, []Scratch) (int, error) { return 0, ErrMissing }

// Settle is not there.
func Settle([]Record, Options, int, []uint32, []uint64) (certain, contested int, err error) {
	return 0, 0, ErrMissing
}

// Explain is not there.
func Explain(_, _ *Record, _ Options, _ *[MaxRows]Row) (int, error) { return 0, ErrMissing }

// Upstream is not there.
func Upstream(_, _ *Record, _ Options) (before int, rule uint8, err error) { return 0, 0, ErrMissing }

// RuleName is not there.
func RuleName(uint8) string { return "" }

// Version is not there.
func Version() string { return "" }

// Plan is not there.
func Plan(_, _, _ uint32, _, _ bool) (creations, deletions uint32, err error) {
	return 0, 0, ErrMissing
}

// BeginSlowStart is not there.
func BeginSlowStart(uint32) (SlowStart, error) { return SlowStart{}, ErrMissing }

// ReportSlowStart is not there.
func ReportSlowStart(*SlowStart, uint32) error { return ErrMissing }

// ExpectCreations is not there.
func ExpectCreations(*Expectations, uint32, int64) error { return ErrMissing }

// ExpectDeletions is not there.
func ExpectDeletions(*Expectations, []PodKey, []PodKey, int64) error { return ErrMissing }

// CreationsObserved is not there.
func CreationsObserved(*Expectations, uint32) error { return ErrMissing }

// DeletionObserved is not there.
func DeletionObserved(*Expectations, []PodKey, PodKey) (bool, error) { return false, ErrMissing }

// Satisfied is not there.
func Satisfied(*Expectations, int64) (bool, error) { return false, ErrMissing }

// Availability is not there.
func Availability([]Record, uint32, int64) (ready, available int, lookAgain uint64, err error) {
	return 0, 0, 0, ErrMissing
}

// ParsePercent is not there.
func ParsePercent(string) (uint32, error) { return 0, ErrMissing }

// SetAnnotations is not there.
func SetAnnotations(_ *ReplicaSet, _, _ string) error { return ErrMissing }

// NextDeployment is not there.
func NextDeployment(*Deployment, []ReplicaSet, []Change) (Step, error) { return Step{}, ErrMissing }

// ReasonName is not there.
func ReasonName(uint8) string { return "" }
