//go:build controlplane

package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

// past is a scale-down that the log tells of.
type past struct {
	UID types.UID
	v1alpha1.ScaleDown
}

// line is a line of the log.
type logged struct {
	Decision, End *struct {
		Time                               time.Time
		Namespace, Policy, Result, Message string
		UID                                types.UID
		Generation                         int64
		From, To, Deleted, Missed          int32
		Rules                              map[string]int32
		Why                                []string
		Written, Unsteerable               int32
	}
}

// History is what the log tells of the scale-downs about which a policy decided, the latest first. A status has only the last one of each workload.
func (w *World) History(policy string) (history []*past) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(w.Dir), "webhook.log"))
	w.must(err)
	find := func(uid types.UID, generation int64, to int32) *past {
		for _, each := range history {
			if each.UID == uid && each.Generation == generation && each.To == to {
				return each
			}
		}
		history = append(history, &past{UID: uid, ScaleDown: v1alpha1.ScaleDown{Generation: generation, To: to}})
		return history[len(history)-1]
	}
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"namespace":"`+w.Namespace+`"`) {
			continue
		}
		var is logged
		if json.Unmarshal([]byte(line), &is) != nil {
			continue
		}
		if d := is.Decision; d != nil && d.Policy == policy {
			if down := find(d.UID, d.Generation, d.To); !d.Time.Before(down.Time.Time) {
				down.Time.Time, down.From, down.Result, down.Message = d.Time, d.From, d.Result, d.Message+down.Message
				down.Selected, down.Unsteerable = 0, d.Unsteerable
				for _, pods := range d.Rules {
					down.Selected += pods
				}
			}
		}
		if e := is.End; e != nil {
			down := find(e.UID, e.Generation, e.To)
			down.Deleted, down.Missed, down.Message = &e.Deleted, &e.Missed, down.Message+strings.Join(e.Why, "; ")
		}
	}
	status := w.Status(policy)
	for _, down := range history {
		// The last word on how many were selected has the status: some may not have been annotated in time.
		if entry := status.Workload(down.UID); entry != nil && entry.LastScaleDown.Generation == down.Generation && entry.LastScaleDown.To == down.To {
			down.Selected = entry.LastScaleDown.Selected
		} else if down.Deleted != nil {
			down.Selected = max(down.Selected, *down.Deleted+*down.Missed)
		}
		if strings.HasPrefix(down.Result, "Observed") || down.Result == "PredictedWrongly" {
			down.Deleted, down.Missed = new(down.Selected), new(int32)
		}
	}
	slices.SortStableFunc(history, func(a, b *past) int {
		return cmp.Or(b.Time.Compare(a.Time.Time), cmp.Compare(b.Generation, a.Generation))
	})
	return history
}

// wasMissed reports whether the log tells of pods that were missed.
func (p *past) wasMissed() bool { return p.Missed != nil && *p.Missed > 0 }
