package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// patience is how long the replica that answered the request may take to write about it. After that, the leader assumes
// that it ended.
const patience = 5 * time.Second

// Over is a scale-down that is over.
type Over struct {
	// Set is nil if it has been deleted.
	Set       *workload.Set
	Namespace string
	UID       types.UID
	// Generation is that of the set before.
	Generation int64
	From, To   int32
	// First is when the first request about it came.
	First   time.Time
	Deleted int
	// Missed are the pods that were selected and kept, by reason, with who else wrote their costs.
	Missed map[string][]string
	// Waited is for how long it has been over, IsEarlier whether it began before this replica led, and IsLogged whether the log has its end.
	Waited              time.Duration
	IsEarlier, IsLogged bool
}

// Miss adds a pod that was selected and kept, and who else wrote its cost, or "".
func (o *Over) Miss(reason, name, writer string) {
	if writer != "" {
		name += " (cost written by " + writer + ")"
	}
	o.Missed[reason] = append(o.Missed[reason], name)
}

// after is by how much an entry of a status is younger than the first request about a scale-down. Its time is that of the last request that was
// decided, in whole seconds.
func (o *Over) after(down *v1alpha1.ScaleDown) time.Duration { return down.Time.Sub(o.First) }

// isIn reports whether an entry of a status is that of a scale-down.
func (o *Over) isIn(down *v1alpha1.ScaleDown) bool {
	return down.Generation == o.Generation && down.To == o.To && o.after(down).Abs() <= bounded.RepeatTime
}

// ended is what a line of the log says of a scale-down that is over. The first fields are those of the decisions about it.
type ended struct {
	Version    int       `json:"v"`
	Namespace  string    `json:"namespace"`
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	To         int32     `json:"to"`
	Deleted    int       `json:"deleted"`
	Missed     int       `json:"missed"`
	Why        []string  `json:"why,omitempty"`
}

// Over reports how a scale-down ended, and returns whether that is done. It is not done while a status has no entry for
// the scale-down. If the replica that answered has ended, no entry will follow, and Over adds one.
func (r *Reporter) Over(ctx context.Context, o *Over) (isTold bool, err error) {
	deleted, kept, why := o.Deleted, 0, []string(nil)
	for _, reason := range slices.Sorted(maps.Keys(o.Missed)) {
		kept += len(o.Missed[reason])
		why = append(why, fmt.Sprintf("%s: %s", reason, list(o.Missed[reason])))
	}
	text := bounded.Short(strings.Join(why, "; "))
	log := func(policy *v1alpha1.ScaleDownPolicy) {
		if o.IsLogged {
			return
		}
		o.IsLogged = true
		done.Add(float64(deleted))
		for reason, pods := range o.Missed {
			missed.WithLabelValues(reason).Add(float64(len(pods)))
		}
		r.Log.Info("end", "end", ended{1, o.Namespace, o.UID, o.Generation, o.To, deleted, kept, why})
		if o.Set != nil && kept > 0 {
			text := fmt.Sprintf("Scaled from %d to %d: kept %d of %s: %s", o.From, o.To, kept, count(kept+deleted, "selected pod"), text)
			r.event(o.Set, policy, corev1.EventTypeWarning, "Missed", text, nil)
		}
	}
	isKnown := false
	// Not cancelled if this replica is stopped.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
	defer stop()
	err = r.Statuses.Change(ctx, o.Namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		switch entry, isLater := o.entry(policy); {
		case entry == nil:
			isKnown = isKnown || isLater
		case entry.Deleted != nil && o.IsEarlier:
			// This leader or an earlier one has reported it.
			isKnown, o.IsLogged = true, true
		default:
			if o.IsEarlier {
				// More pods were deleted while there was no leader.
				deleted = max(o.Deleted, int(entry.Selected)-kept)
			}
			// First, so that the log is complete even if this replica is stopped.
			log(&v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: policy.Namespace, Name: policy.Name, UID: policy.UID}})
			entry.Deleted, entry.Missed, entry.MissedMessage = new(int32(deleted)), new(int32(kept)), text
			// A pod that an earlier decision selected counts, too.
			entry.Selected = max(entry.Selected, *entry.Deleted+*entry.Missed)
			isKnown = true
		}
	})
	if isLast := o.Waited > 2*patience; !isLast && (err != nil || !isKnown) {
		return false, err
	}
	if err != nil {
		r.fails(err, o.Namespace, "")
	}
	log(nil)
	return true, nil
}

// entry returns the entry of a scale-down in a status. It adds one if the replica that decided has ended. isLater
// reports whether a later scale-down has replaced the entry.
func (o *Over) entry(policy *v1alpha1.ScaleDownPolicy) (entry *v1alpha1.ScaleDown, isLater bool) {
	status, last := &policy.Status, policy.Status.Workload(o.UID)
	switch oldest := len(status.Workloads) - 1; {
	case last != nil && o.isIn(&last.LastScaleDown):
		return &last.LastScaleDown, false
	case last != nil && (last.LastScaleDown.Generation > o.Generation || o.after(&last.LastScaleDown) > bounded.RepeatTime):
		return nil, true
	case last == nil && len(status.Workloads) == bounded.Workloads && o.after(&status.Workloads[oldest].LastScaleDown) > -time.Second:
		// It was dropped.
		return nil, true
	case o.Waited <= patience || o.Set == nil || !o.isOf(policy):
		return nil, false
	case last != nil && last.LastScaleDown.Generation == o.Generation && o.after(&last.LastScaleDown) >= -time.Second:
		// The API server has asked for another count, too, and the status has that.
		return nil, true
	}
	put(status, v1alpha1.WorkloadStatus{Kind: string(o.Set.Kind), Name: o.Set.Object.Name, UID: o.UID, LastScaleDown: v1alpha1.ScaleDown{
		Time: metav1.NewTime(o.First), Generation: o.Generation, From: o.From, To: o.To, Result: string(steer.Unconfirmed),
		Message: fmt.Sprintf("Scaling from %d to %d: the replica that decided has not reported", o.From, o.To),
	}})
	return &status.Workloads[0].LastScaleDown, false
}

// isOf reports whether a policy may have decided.
func (o *Over) isOf(of *v1alpha1.ScaleDownPolicy) bool {
	compiled, err := policy.Compile(of)
	return err == nil && !of.Spec.Observes() && compiled.Selects(o.Set)
}

// Observed reports whether the prediction of a scale-down that nobody steered was right.
func (r *Reporter) Observed(ctx context.Context, o *steer.Outcome, c steer.Comparison) {
	if c.Without != "" {
		predictions.WithLabelValues(c.Without).Inc()
		r.Log.Info("scale-down could not be compared", "kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name,
			"from", o.From, "to", o.To, "why", c.Without)
		return
	}
	pods, isWrong, rules := gone(o, c), len(c.Wrong) > 0, map[string]int{}
	result, label := string(steer.Observed), "Right"
	if isWrong {
		result, label = "PredictedWrongly", "Wrong"
	}
	predictions.WithLabelValues(label).Inc()
	for _, pod := range pods {
		rules[pod.Rule]++
	}
	for uid, share := range o.Prediction.Chances {
		_, isDeleted := c.Deleted[uid]
		possible.WithLabelValues(tenth(share), fmt.Sprint(isDeleted)).Inc()
	}
	down := v1alpha1.ScaleDown{
		Result: result, Message: describePrediction(o, c, pods), Selected: int32(o.Prediction.Delete),
		Deleted: new(int32(len(c.Deleted))), Missed: new(int32(len(c.Wrong))),
	}
	message := strings.Join(c.Wrong[:min(len(c.Wrong), named)], ", ")
	r.tell(context.WithoutCancel(ctx), o, down, isWrong, decided(o, message, o.Prediction.Next, pods, rules))
}

// tenth is the tenth of all probabilities to which a share belongs: "0.3" is from 0.3 to 0.4.
func tenth(share float64) string { return fmt.Sprintf("%.1f", float64(min(int(share*10), 9))/10) }

func describePrediction(o *steer.Outcome, c steer.Comparison, pods []pod) string {
	certain := len(o.Prediction.Certain)
	tail := fmt.Sprintf("; as predicted: %d certain", certain)
	if chance := len(c.Deleted) - certain; chance > 0 {
		tail += fmt.Sprintf(", %d of %d by chance", chance, len(o.Prediction.Possible)-certain)
	}
	if len(c.Wrong) > 0 {
		tail = "; not as predicted: " + list(c.Wrong)
	}
	return withPods(fmt.Sprintf("Scaled from %d to %d: Kubernetes deleted %s", o.From, o.To, count(len(c.Deleted), "pod")), pods, len(pods), tail)
}
