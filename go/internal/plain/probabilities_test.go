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
		want                   core.PodOdds
	}{
		{3, 4096, core.PodOdds{Goes: 3, Of: 4096, Error: 419}},
		{1<<32 - 1, 1<<32 - 1, core.PodOdds{Goes: 1<<32 - 1, Of: 1<<32 - 1, Error: 732}},
		{1 << 31, 1 << 32, core.PodOdds{Goes: 1 << 30, Of: 1 << 31, Error: 7812}},
		{1<<32 + 1, 1<<34 + 3, core.PodOdds{Goes: 1 << 29, Of: 1 << 31, Error: 6763}},
		{0, 1 << 40, core.PodOdds{Goes: 0, Of: 1 << 31, Error: 732}},
		{1 << 43, 1 << 43, core.PodOdds{Goes: 1 << 31, Of: 1 << 31, Error: 732}},
	} {
		got := share(c.numerator, c.denominator)
		got.Error = standardError(got)
		if got != c.want {
			t.Errorf("%d of %d: %+v, want %+v", c.numerator, c.denominator, got, c.want)
		}
	}
}
