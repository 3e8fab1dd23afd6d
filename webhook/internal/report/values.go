package report

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// describeValues says which values counted, or why none did.
func (r *Reporter) describeValues(o *steer.Outcome) string {
	v := o.Valuation
	switch {
	case v == nil || v.Pods == 0 && v.Why == nil:
		return ""
	case v.Why != nil:
		return fmt.Sprintf("; no value counted: %v", v.Why)
	}
	text := fmt.Sprintf("; %d of %d pods have a value, at most %v old", v.Valued, v.Pods, v.Oldest.Round(time.Second/10))
	if last, next := r.edges(v); last != "" {
		text += "; the last selected one has " + last
		if next != "" {
			text += ", and the next one has " + next
		}
	}
	return text
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
	entry.LastSelectedValue, entry.NextValue = r.edges(v)
}

// edges are the values of the last selected pod and of the next one, if they may be published.
func (r *Reporter) edges(v *steer.Valuation) (last, next string) {
	text := func(value *float64) string {
		if value == nil || !r.PublishValues {
			return ""
		}
		return strconv.FormatFloat(*value, 'g', -1, 64)
	}
	return text(v.Last), text(v.Next)
}
