package plain

import (
	"testing"

	"github.com/podrank/podrank/go/internal/core"
)

// With 2^20 pods that are alike, in 2^12 lists each, a share needs more than 32 bits: the lowest are dropped, and the
// error is that of the share.
func TestSharesOfAMillionPods(t *testing.T) {
	for _, c := range []struct {
		numerator, denominator uint64
		want                   core.Probability
	}{
		{3, 4096, core.Probability{Deleted: 3, Samples: 4096, StdErrorPpm: 422}},
		{1<<32 - 1, 1<<32 - 1, core.Probability{Deleted: 1<<32 - 1, Samples: 1<<32 - 1, StdErrorPpm: 732}},
		{1 << 31, 1 << 32, core.Probability{Deleted: 1 << 30, Samples: 1 << 31, StdErrorPpm: 7812}},
		{1<<32 + 1, 1<<34 + 3, core.Probability{Deleted: 1 << 29, Samples: 1 << 31, StdErrorPpm: 6765}},
		{0, 1 << 40, core.Probability{Deleted: 0, Samples: 1 << 31, StdErrorPpm: 732}},
		{1 << 43, 1 << 43, core.Probability{Deleted: 1 << 31, Samples: 1 << 31, StdErrorPpm: 732}},
	} {
		got := share(c.numerator, c.denominator)
		got.StdErrorPpm = standardError(got)
		if got != c.want {
			t.Errorf("%d of %d: %+v, want %+v", c.numerator, c.denominator, got, c.want)
		}
	}
}
