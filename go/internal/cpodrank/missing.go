//go:build !(cgo && (podrank_system || (linux && (amd64 || arm64))))

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
