package report

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
)

// describeValues says how many values counted, or why none did.
func describeValues(v *values.Order) string {
	switch {
	case v == nil || v.Pods == 0 && v.Why == nil:
		return ""
	case v.Why != nil:
		return fmt.Sprintf("; no value counted: %v", v.Why)
	}
	return fmt.Sprintf("; counted the values of %d of %s", v.Valued, count(v.Pods, "pod"))
}

// enterValues puts them into an entry of a status.
func enterValues(o *steer.Outcome, entry *v1alpha1.ScaleDown) {
	if o.Valuation == nil {
		return
	}
	entry.Valued = new(int32(o.Valuation.Valued))
	if !o.Valuation.Oldest.IsZero() {
		age := max(0, o.At.Sub(o.Valuation.Oldest))
		entry.OldestValue = &metav1.Duration{Duration: age.Round(time.Second / 10)}
	}
}
