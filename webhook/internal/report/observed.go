package report

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/steer"
)

// Observed reports whether the prediction of a scale-down that nobody steered was right.
func (r *Reporter) Observed(ctx context.Context, o *steer.Outcome, c steer.Comparison) {
	log := r.Log.WithValues("kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name, "from", o.From, "to", o.To)
	if c.Without != "" {
		predictions.WithLabelValues(c.Without).Inc()
		log.Info("scale-down could not be compared", "why", c.Without)
		return
	}
	message := describePrediction(o, c)
	log.Info("scale-down was observed", "gone", len(c.Gone), "wrong", c.Wrong, "message", message)
	kind, reason, result := corev1.EventTypeNormal, string(steer.Observed), "Right"
	if len(c.Wrong) > 0 {
		kind, reason, result = corev1.EventTypeWarning, "PredictedWrongly", "Wrong"
	}
	predictions.WithLabelValues(result).Inc()
	r.event(o.Set, kind, reason, message)
	went := map[types.UID]bool{}
	for _, pod := range c.Gone {
		went[pod.UID] = true
	}
	for _, chance := range o.Prediction.Chances {
		contested.WithLabelValues(tenth(chance.Share), fmt.Sprint(went[chance.Pod])).Inc()
	}
	gone, wrong := int32(len(c.Gone)), int32(len(c.Wrong))
	entry := entryOf(o, message)
	entry.Wanted, entry.Gone, entry.Missed = int32(o.Prediction.Delete), &gone, &wrong
	r.enter(context.WithoutCancel(ctx), o, entry)
}

// tenth is the tenth of all odds to which a share belongs: "0.3" is from 0.3 to 0.4.
func tenth(share float64) string { return fmt.Sprintf("%.1f", float64(min(int(share*10), 9))/10) }

func describePrediction(o *steer.Outcome, c steer.Comparison) string {
	certain := len(o.Prediction.Certain)
	text := fmt.Sprintf("from %d to %d: %d pods went", o.From, o.To, len(c.Gone))
	if len(c.Wrong) > 0 {
		return fmt.Sprintf("%s, not as predicted: %s", text, list(c.Wrong))
	}
	text += fmt.Sprintf(", as predicted: %d certainly", certain)
	if chance := len(c.Gone) - certain; chance > 0 {
		text += fmt.Sprintf(", %d of %d by chance", chance, len(o.Prediction.Possible)-certain)
	}
	return text
}
