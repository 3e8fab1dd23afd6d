// Package report says what became of scale-downs: in events on the set, in the status of the policy, in metrics and in the log.
// It creates events, and has the status of policies written.
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// action is what events are about.
	action = "ScaleDown"
	// again is how long the API server may ask again about a request.
	again = 10 * time.Second
)

// A Reporter reports.
type Reporter struct {
	Statuses *policy.Statuses
	Events   events.EventRecorder
	Log      logr.Logger
	// PublishValues is whether events and statuses say which values pods have.
	PublishValues bool
	// Decisions gets a line for each decision, unless it is nil.
	Decisions io.Writer
	recording sync.Mutex

	// unlogged is how many answers only the metric counted since the last one that was reported.
	unlogged atomic.Int64
	// What is reported later.
	later sync.WaitGroup
	// ends are those of scale-downs that are not told yet, by namespace.
	mu   sync.Mutex
	ends map[string][]*end
	// leads is since when this replica leads.
	leads time.Time
}

// Skip counts an answer that is not reported, because too many wait for that. The next one that is reported says so.
func (r *Reporter) Skip() { r.unlogged.Add(1) }

// Outcome reports what became of a request.
func (r *Reporter) Outcome(ctx context.Context, o *steer.Outcome) {
	if count := r.unlogged.Swap(0); count > 0 {
		r.Log.Info("answers are missing in this log: only the metric counts them", "count", count)
	}
	log := r.about(o).WithValues("result", o.Result)
	if o.Result == steer.RolloutIgnored {
		// Once for each set: the recorder counts those that follow.
		r.event(o.Set, corev1.EventTypeNormal, string(o.Result), "a rollout may lower this count, so the policy leaves it alone")
	}
	if !o.Result.Concerns() {
		level := 1
		if slices.Contains(steer.Unsteered, o.Result) {
			level = 0
		}
		log.V(level).Info("scale-down", "message", o.Message)
		return
	}
	message := bounded.Short(r.describe(o))
	log.Info("scale-down", "wanted", o.Count, "written", o.Written, "blocked", o.Blocking(), "message", message)
	set, kind := setOf(o), corev1.EventTypeNormal
	if o.Result.IsFailure() {
		kind = corev1.EventTypeWarning
	}
	r.event(set, kind, string(o.Result), message)
	r.record(o, string(o.Result), o.Message, o.Next, wanted(o), o.Rules)
	if len(o.Blocked) > 0 && !o.Result.IsFailure() {
		r.event(set, corev1.EventTypeWarning, "Blocked", describeBlocked(o))
	}
	if o.Valuation != nil && o.Valuation.Why != nil {
		r.event(set, corev1.EventTypeWarning, "NotValued", "no value counted: "+o.Valuation.Why.Error())
	}
	if o.Policy == nil {
		return
	}
	entry := entryOf(o, message)
	r.enterValues(o, &entry)
	entry.Wanted, entry.Written, entry.Blocked = int32(o.Count), int32(o.Written), int32(o.Blocking())
	r.enter(ctx, o, entry)
}

// about is the log about a request.
func (r *Reporter) about(o *steer.Outcome) logr.Logger {
	return r.Log.WithValues("kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name, "from", o.From, "to", o.To)
}

// entryOf is what the status of a policy says of a request.
func entryOf(o *steer.Outcome, message string) v1alpha1.ScaleDown {
	return v1alpha1.ScaleDown{
		Time: metav1.NewTime(o.At), Kind: string(o.Kind), Name: o.Key.Name, UID: o.Set.UID(), From: o.From, To: o.To,
		Result: string(o.Result), Message: message,
	}
}

// enter puts an entry into the status of the policy, with the condition that it makes.
func (r *Reporter) enter(ctx context.Context, o *steer.Outcome, entry v1alpha1.ScaleDown) {
	err := r.Statuses.Change(ctx, client.ObjectKeyFromObject(o.Policy), o.Policy.UID, func(policy *v1alpha1.ScaleDownPolicy) {
		entry := entry
		status := metav1.ConditionFalse
		switch o.Result {
		case steer.Steered:
			status = metav1.ConditionTrue
		case steer.Unconfirmed:
			status = metav1.ConditionUnknown
		}
		if !policy.Status.IsOff() {
			meta.SetStatusCondition(&policy.Status.Conditions, metav1.Condition{
				Type: v1alpha1.Steering, Status: status, Reason: entry.Result, Message: entry.Message,
				ObservedGeneration: policy.Generation,
			})
		}
		downs := policy.Status.ScaleDowns
		if i := slices.IndexFunc(downs, func(down v1alpha1.ScaleDown) bool { return down.UID == entry.UID }); i >= 0 && isAgain(&downs[i], &entry) {
			if entry.Time.Before(&downs[i].Time) {
				// Another replica was faster to report a later request, which has taken the place of this one.
				downs[i].Written += entry.Written
				return
			}
			entry.Written += downs[i].Written
			policy.Status.ScaleDowns = slices.Delete(downs, i, i+1)
		}
		policy.Status.ScaleDowns = slices.Insert(policy.Status.ScaleDowns, 0, entry)
		policy.Status.ScaleDowns = policy.Status.ScaleDowns[:min(len(policy.Status.ScaleDowns), bounded.ScaleDowns)]
	})
	if err != nil {
		r.fails(err, o.Policy.Namespace, o.Policy.Name)
	}
}

// isAgain reports whether two entries of a set are about one fall, about which the API server asked twice. A Deployment that could
// not lower a count, because the set had changed meanwhile, may want another one then. As the count is still the same, the earlier
// request came to nothing.
func isAgain(before, now *v1alpha1.ScaleDown) bool {
	return before.From == now.From && before.Gone == nil && now.Time.Sub(before.Time.Time) < again
}

// event tells something about a set. The API server refuses longer notes.
func (r *Reporter) event(set *workload.Set, kind, reason, text string) {
	r.Events.Eventf(set.Object, nil, kind, reason, action, "%s", bounded.Short(text))
}

// setOf is the set of a request. If it could not be read, it has a name and a UID.
func setOf(o *steer.Outcome) *workload.Set {
	if o.Set != nil {
		return o.Set
	}
	object := workload.Metadata(o.Kind)
	object.Namespace, object.Name, object.UID = o.Key.Namespace, o.Key.Name, o.SetUID
	return &workload.Set{Object: object}
}

// fails tells that the status of a policy could not be written, as there is nobody else to tell.
func (r *Reporter) fails(err error, namespace, name string) {
	unreported.Inc()
	r.Log.Error(err, "cannot write the status of a policy", "namespace", namespace, "name", name)
}

// describe says what became of a request.
func (r *Reporter) describe(o *steer.Outcome) string {
	if !o.Result.Holds() {
		return fmt.Sprintf("from %d to %d without steering: %s", o.From, o.To, o.Message) + r.describeValues(o)
	}
	tail := fmt.Sprintf(", %d deletion costs were written", o.Written)
	if o.Next != "" {
		tail = ", before " + o.Next + tail
	}
	if o.Result == steer.Unconfirmed {
		tail += "; whether their controller saw these costs in time is not known yet"
	}
	if o.Result == steer.Unsettled {
		tail += "; " + o.Message
	}
	if o.Unmarked > 0 {
		tail += fmt.Sprintf("; there was no time to annotate %d of them, so their end will be missing here", o.Unmarked)
	}
	if len(o.Blocked) > 0 {
		tail += "; " + describeBlocked(o)
	}
	return r.withPods(fmt.Sprintf("from %d to %d: %d pods should go", o.From, o.To, o.Count), wanted(o), o.Count, tail+r.describeValues(o))
}

func describeBlocked(o *steer.Outcome) string {
	var texts []string
	for _, pair := range o.Blocked {
		texts = append(texts, fmt.Sprintf("%s goes before %s whatever its deletion cost (%s)", pair.Pod, pair.Before,
			pair.Rule))
	}
	return some(texts, o.Blocking())
}

// list joins the first few texts.
func list(texts []string) string { return some(texts[:min(len(texts), steer.Named)], len(texts)) }

// some joins the first of so many texts.
func some(first []string, count int) string {
	text := strings.Join(first, ", ")
	if count > len(first) {
		text += fmt.Sprintf(" and %d more", count-len(first))
	}
	return text
}

// Left reports a cost that could not be taken off.
func (r *Reporter) Left(pod cost.Pod, err error) {
	left.Inc()
	r.Log.Error(err, "gave up taking a deletion cost off: it stays", "namespace", pod.Key.Namespace, "pod", pod.Key.Name)
}

// Audit returns what the API server's audit log says of a request: what became of it, by which policy, the pods that should go,
// and how many deletion costs were written. There may be no policy if the scale-down was not steered.
func Audit(o *steer.Outcome) map[string]string {
	if o.Policy == nil && slices.Contains(steer.Unsteered, o.Result) {
		return map[string]string{"result": string(o.Result)}
	}
	if o.Policy == nil {
		return nil
	}
	var names []string
	for _, pod := range o.Wanted {
		names = append(names, pod.Key.Name)
	}
	audit := map[string]string{"result": string(o.Result), "policy": o.Policy.Name}
	if len(names) > 0 {
		audit["wanted"], audit["costs-written"] = list(names), strconv.Itoa(o.Written)
	}
	return audit
}
