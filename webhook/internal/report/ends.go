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

const (
	// pause is how long ends of a namespace are collected before they are written together.
	pause = time.Second / 2
	// patience is how long the replica that answered the request may take to write about it. Then it is taken for gone.
	patience = 5 * time.Second
)

// An end is what is told of a scale-down that is over, until it is told.
type end struct {
	*Over
	missed int
	why    []string
	since  time.Time
}

// Over is a scale-down that is over: its costs are gone, with the pods or from them.
type Over struct {
	// Set is nil if it is gone.
	Set       *workload.Set
	Namespace string
	UID       types.UID
	From, To  int32
	// First is when the first request about it came.
	First time.Time
	Gone  int
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

// isIn reports whether an entry of a status is that of a scale-down. The time of an entry is that of the last request that was decided.
func (o *Over) isIn(down *v1alpha1.ScaleDown) bool {
	later := down.Time.Sub(o.First)
	return down.UID == o.UID && down.From == o.From && down.To == o.To && -time.Second <= later && later <= patience
}

// isTold reports whether a status has the end of a scale-down.
func (o *Over) isTold(down *v1alpha1.ScaleDown) bool { return down.Gone != nil && o.isIn(down) }

// hasTold reports whether the leader before this one has told the end of a scale-down.
func (r *Reporter) hasTold(ctx context.Context, o *Over) (isTold bool) {
	if _, leads := r.open(o.Namespace); !o.First.Before(leads) {
		return false
	}
	err := policy.Read(ctx, r.Statuses.Live, o.Namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		for i := range policy.Status.ScaleDowns {
			isTold = isTold || o.isTold(&policy.Status.ScaleDowns[i])
		}
	})
	return err == nil && isTold
}

// Over reports how a scale-down ended.
func (r *Reporter) Over(ctx context.Context, o *Over) {
	if r.hasTold(ctx, o) {
		return
	}
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
	r.tell(ctx, &end{o, count, texts, time.Now()})
}

// tell has an end written, with others of its namespace.
func (r *Reporter) tell(ctx context.Context, e *end) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[string][]*end{}
	}
	r.ends[e.Namespace] = append(r.ends[e.Namespace], e)
	if len(r.ends[e.Namespace]) == 1 {
		ctx := context.WithoutCancel(ctx)
		r.later.Go(func() {
			for r.note(ctx, e.Namespace) {
				time.Sleep(pause)
			}
		})
	}
}

// Wait returns when nothing is left to report.
func (r *Reporter) Wait() { r.later.Wait() }

// Lead notes since when this replica leads.
func (r *Reporter) Lead(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leads = since
}

// open are the ends of a namespace that are not told yet, and since when this replica leads.
func (r *Reporter) open(namespace string) ([]*end, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ends[namespace]), r.leads
}

// note adds ends of scale-downs to the status of the policy that knows of them, and reports whether some are left. A scale-down that the status does not know
// yet may follow. It never does if later ones fill the status, or if the replica that answered is gone: then the end is an entry of its own.
func (r *Reporter) note(ctx context.Context, namespace string) (isLeft bool) {
	ends, leads := r.open(namespace)
	told := map[*end]bool{}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	err := r.Statuses.ChangeAll(ctx, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		for _, e := range ends {
			if e.enter(policy, ends, leads) {
				told[e] = true
			}
		}
	})
	if err != nil {
		r.fails(err, namespace, "")
		clear(told)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.ends[namespace], func(e *end) bool { return told[e] || time.Since(e.since) > 2*patience })
	r.ends[namespace] = left
	if len(left) == 0 {
		delete(r.ends, namespace)
	}
	return len(left) > 0
}

// enter adds an end to a status, and reports whether nothing is left to do for it.
func (e *end) enter(policy *v1alpha1.ScaleDownPolicy, all []*end, leads time.Time) bool {
	downs := policy.Status.ScaleDowns
	i := slices.IndexFunc(downs, func(down v1alpha1.ScaleDown) bool { return down.Gone == nil && e.isIn(&down) })
	if i < 0 {
		i = slices.IndexFunc(downs, func(down v1alpha1.ScaleDown) bool { return down.UID == e.UID && down.To == e.To && down.Gone == nil })
	}
	switch {
	case i >= 0:
	case e.First.Before(leads) && slices.ContainsFunc(downs, func(down v1alpha1.ScaleDown) bool { return e.isTold(&down) }):
		// This replica has told it meanwhile, as all that is known when it began to lead.
		return true
	case len(downs) == bounded.ScaleDowns && e.First.Before(downs[len(downs)-1].Time.Add(time.Second)):
		// Later ones have taken its place. Times in a status are whole seconds.
		return true
	case time.Since(e.since) > patience && e.Set != nil && e.selects(policy):
		i = 0
		downs = slices.Insert(downs, 0, v1alpha1.ScaleDown{
			Time: metav1.NewTime(e.First), Kind: string(e.Set.Kind), Name: e.Set.Object.Name, UID: e.UID, From: e.From, To: e.To, Result: string(steer.Unconfirmed),
			Message: fmt.Sprintf("from %d to %d: the replica that decided ended before it told so", e.From, e.To),
		})
		policy.Status.ScaleDowns = downs[:min(len(downs), bounded.ScaleDowns)]
	default:
		return false
	}
	down := &downs[i]
	down.Gone, down.Missed = new(int32(e.Gone)), new(int32(e.missed))
	if e.First.Before(leads) {
		// Others were deleted while nobody led.
		*down.Gone = max(*down.Gone, down.Wanted-*down.Missed)
	}
	// A pod that an earlier decision selected counts, too.
	down.Wanted = max(down.Wanted, *down.Gone+*down.Missed)
	if e.missed > 0 {
		down.Message = ended(down.Message, strings.Join(e.why, "; "))
	}
	e.endEarlier(policy.Status.ScaleDowns, all)
	return true
}

// selects reports whether a policy may have decided.
func (e *end) selects(of *v1alpha1.ScaleDownPolicy) bool {
	compiled, err := policy.Compile(of)
	return err == nil && !of.Spec.Observes() && compiled.Selects(e.Set.TemplateLabels)
}

// Finish tells the ends that the leader before this one could not: those of scale-downs before some time of which no pod has a mark any more, since all that had
// one were deleted. isOpen is whether one has.
func (r *Reporter) Finish(ctx context.Context, namespace string, before time.Time, isOpen func(set types.UID, to int32) bool) error {
	ends, _ := r.open(namespace)
	return r.Statuses.ChangeAll(ctx, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		for i := range policy.Status.ScaleDowns {
			down := &policy.Status.ScaleDowns[i]
			isTold := slices.ContainsFunc(ends, func(e *end) bool { return e.UID == down.UID && e.To == down.To })
			if steer.Result(down.Result).Holds() && down.Gone == nil && down.Time.Time.Before(before) && !isTold && !isOpen(down.UID, down.To) {
				down.Gone, down.Missed = new(down.Wanted), new(int32)
			}
		}
	})
}

// endEarlier ends earlier scale-downs of the set whose pods this one has taken over, all of them: a pod counts with the last that wants it.
func (o *Over) endEarlier(downs []v1alpha1.ScaleDown, ends []*end) {
	for i := range downs {
		_, hasPods := o.Others[downs[i].To]
		hasPods = hasPods || slices.ContainsFunc(ends, func(e *end) bool { return e.UID == o.UID && e.To == downs[i].To })
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
