package report

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// describeValues says how many values counted, or why none did.
func describeValues(v *steer.Valuation) string {
	switch {
	case v == nil || v.Pods == 0 && v.Why == nil:
		return ""
	case v.Why != nil:
		return fmt.Sprintf("; no value counted: %v", v.Why)
	}
	return fmt.Sprintf("; counted the values of %d of %s", v.Valued, count(v.Pods, "pod"))
}

// enterValues puts them into an entry of a status.
func (r *Reporter) enterValues(o *steer.Outcome, entry *v1alpha1.ScaleDown) {
	v := o.Valuation
	if v == nil {
		return
	}
	count := int32(v.Valued)
	entry.Valued = &count
	if v.Valued > 0 {
		entry.OldestValue = &metav1.Duration{Duration: v.Oldest.Round(time.Second / 10)}
	}
	if r.PublishValues {
		entry.LastSelectedValue, entry.NextValue = text(v.Last), text(v.Next)
	}
}

func text(value *float64) string {
	if value == nil {
		return ""
	}
	return strconv.FormatFloat(*value, 'g', -1, 64)
}
