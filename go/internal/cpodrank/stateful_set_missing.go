//go:build !(cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64))))

package cpodrank

// Ordinal returns ErrMissing.
func Ordinal(_, _ string) (int32, error) { return 0, ErrMissing }

// NextStatefulSet returns ErrMissing.
func NextStatefulSet(*StatefulSet, []Member, []MemberOutcome) error { return ErrMissing }

// MemberReasonName returns "".
func MemberReasonName(uint8) string { return "" }
