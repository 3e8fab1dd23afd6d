package report

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// late is how often an end is reported, if the status does not know of the scale-down yet.
	late = 10
	// patience is how long it may take to report an end.
	patience = 30 * time.Second
)

// ending is a scale-down of a set to a count.
type ending struct {
	set types.UID
	to  int32
}

// Over is a scale-down that is over: its costs are gone, with the pods or from them.
type Over struct {
	// Set is nil if it is gone.
	Set       *workload.Set
	Namespace string
	UID       types.UID
	To        int32
	Gone      int
	// Missed are the pods that should have gone, by reason.
	Missed map[string]*Missed
	// Others has the counts to which this and other scale-downs of the set fall that have pods of their own.
	Others map[int32]bool
}

// Missed are pods that should have gone.
type Missed struct{ names, writers, beside []string }

// Miss adds a pod that should have gone, and who else wrote its cost, or "".
func (o *Over) Miss(reason, name, writer string) {
	if o.Missed[reason] == nil {
		o.Missed[reason] = &Missed{}
	}
	pods := o.Missed[reason]
	pods.names = append(pods.names, name)
	if writer != "" && !slices.Contains(pods.writers, writer) {
		pods.writers = append(pods.writers, writer)
	}
}

// Beside adds to a reason who else wrote costs of other pods of the set.
func (o *Over) Beside(reason string, writers []string) {
	if pods := o.Missed[reason]; pods != nil {
		pods.beside = writers
	}
}

// String names some of them.
func (m *Missed) String() string {
	text := list(m.names)
	if len(m.writers) > 0 {
		text += ", whose costs were written by " + list(m.writers)
	}
	if len(m.beside) > 0 {
		text += "; costs of other pods were written by " + list(m.beside)
	}
	return text
}

// Over reports how a scale-down ended.
func (r *Reporter) Over(ctx context.Context, o *Over) {
	done.Add(float64(o.Gone))
	count := 0
	var texts []string
	for _, reason := range slices.Sorted(maps.Keys(o.Missed)) {
		pods := o.Missed[reason]
		missed.WithLabelValues(reason).Add(float64(len(pods.names)))
		count += len(pods.names)
		texts = append(texts, fmt.Sprintf("%s: %s", reason, pods))
	}
	r.Log.Info("scale-down is over", "uid", o.UID, "to", o.To, "gone", o.Gone, "missed", count, "why", texts)
	if o.Set != nil && count > 0 {
		r.event(o.Set, corev1.EventTypeWarning, "Missed",
			fmt.Sprintf("%d of %d wanted pods stayed: %s", count, count+o.Gone, strings.Join(texts, "; ")))
	}
	// It may take some time, and the replica that answered the request may have yet to write about it.
	key := ending{o.UID, o.To}
	r.ending.Enter(key, math.MaxInt)
	r.later.Go(func() {
		defer r.ending.Leave(key)
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		for range late {
			if o.note(ctx, r, count, texts) {
				return
			}
			time.Sleep(time.Second / 2)
		}
	})
}

// Wait returns when nothing is left to report.
func (r *Reporter) Wait() { r.later.Wait() }

// note adds the end of a scale-down to the status of the policy that knows of it, and reports whether there is one.
func (o *Over) note(ctx context.Context, r *Reporter, count int, texts []string) (found bool) {
	err := r.Statuses.ChangeAll(ctx, o.Namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		downs := policy.Status.ScaleDowns
		i := slices.IndexFunc(downs, func(down v1alpha1.ScaleDown) bool { return down.UID == o.UID && down.To == o.To && down.Gone == nil })
		if i < 0 {
			return
		}
		found = true
		downs[i].Gone, downs[i].Missed = new(int32(o.Gone)), new(int32(count))
		if count > 0 {
			downs[i].Message = ended(downs[i].Message, strings.Join(texts, "; "))
		}
		o.endEarlier(downs, r.ending.Inside())
	})
	if err != nil {
		r.fails(err, o.Namespace, "")
	}
	return found && err == nil
}

// endEarlier ends earlier scale-downs of the set whose pods this one has taken over, all of them: a pod counts with the last that wants it.
func (o *Over) endEarlier(downs []v1alpha1.ScaleDown, endings map[ending]int) {
	for i := range downs {
		_, hasPods := o.Others[downs[i].To]
		hasPods = hasPods || endings[ending{o.UID, downs[i].To}] > 0
		if downs[i].UID == o.UID && downs[i].Gone == nil && downs[i].To > o.To && !hasPods && steer.Result(downs[i].Result).Holds() {
			downs[i].Gone, downs[i].Missed = new(int32), new(int32)
			downs[i].Message = ended(downs[i].Message, "a later scale-down took its pods over")
		}
	}
}

// ended is a message with its end, for which names of pods leave some room.
func ended(message, end string) string {
	end = bounded.Cut("; "+end, bounded.NoteBytes/2)
	return bounded.Cut(message, bounded.NoteBytes-len(end)) + end
}

// Observed reports whether the prediction of a scale-down that nobody steered was right.
func (r *Reporter) Observed(ctx context.Context, o *steer.Outcome, c steer.Comparison) {
	log := r.about(o)
	if c.Without != "" {
		predictions.WithLabelValues(c.Without).Inc()
		log.Info("scale-down could not be compared", "why", c.Without)
		return
	}
	pods := gone(o, c)
	message := r.describePrediction(o, c, pods)
	log.Info("scale-down was observed", "gone", len(c.Gone), "wrong", c.Wrong, "message", message)
	kind, reason, result := corev1.EventTypeNormal, string(steer.Observed), "Right"
	if len(c.Wrong) > 0 {
		kind, reason, result = corev1.EventTypeWarning, "PredictedWrongly", "Wrong"
	}
	predictions.WithLabelValues(result).Inc()
	r.event(o.Set, kind, reason, message)
	rules := map[string]int{}
	for _, pod := range pods {
		rules[pod.why.Rule]++
	}
	r.record(o, reason, strings.Join(c.Wrong[:min(len(c.Wrong), named)], ", "), o.Prediction.Next, pods, rules)
	for _, chance := range o.Prediction.Chances {
		_, went := c.Gone[chance.Pod]
		contested.WithLabelValues(tenth(chance.Share), fmt.Sprint(went)).Inc()
	}
	entry := entryOf(o, message)
	entry.Wanted, entry.Gone, entry.Missed = int32(o.Prediction.Delete), new(int32(len(c.Gone))), new(int32(len(c.Wrong)))
	r.enter(context.WithoutCancel(ctx), o, entry)
}

// tenth is the tenth of all odds to which a share belongs: "0.3" is from 0.3 to 0.4.
func tenth(share float64) string { return fmt.Sprintf("%.1f", float64(min(int(share*10), 9))/10) }

func (r *Reporter) describePrediction(o *steer.Outcome, c steer.Comparison, pods []going) string {
	certain := len(o.Prediction.Certain)
	tail := fmt.Sprintf("; as predicted: %d certainly", certain)
	if chance := len(c.Gone) - certain; chance > 0 {
		tail += fmt.Sprintf(", %d of %d by chance", chance, len(o.Prediction.Possible)-certain)
	}
	if len(c.Wrong) > 0 {
		tail = "; not as predicted: " + list(c.Wrong)
	}
	return r.withPods(fmt.Sprintf("from %d to %d: %d pods went", o.From, o.To, len(c.Gone)), pods, len(pods), tail)
}
