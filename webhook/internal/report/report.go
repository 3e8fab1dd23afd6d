// Package report says what became of scale-downs: in events on the workload and the policy, in the status of the policy, in metrics and in the log.
// It creates events, and has the status of policies written.
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// Annotation is that of an event about a decision. Its value is a Selection.
	Annotation = "podrank.dev/scale-down"
	// action is what events are about.
	action = "ScaleDown"
)

// A Reporter reports.
type Reporter struct {
	Statuses *policy.Statuses
	Events   recorder.EventRecorder
	Log      logr.Logger
	// PublishValues is whether events and the log say which values pods have.
	PublishValues bool
}

// LogOnly says in the log alone what became of a request: nothing was decided, or too many reports wait.
func (r *Reporter) LogOnly(o *steer.Outcome) {
	if o.Result.Concerns() {
		r.Log.Info("decision", "decision", decided(o, o.Message, o.Next, r.selected(o), o.Rules))
		return
	}
	level := 1
	if slices.Contains(steer.Unsteered, o.Result) {
		level = 0
	}
	r.Log.V(level).Info("scale-down without a report", "kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name,
		"from", o.From, "to", o.To, "result", o.Result, "message", o.Message)
}

// Outcome reports what became of a request.
func (r *Reporter) Outcome(ctx context.Context, o *steer.Outcome) {
	if o.Result == steer.RolloutIgnored {
		// Once for each set: without its version and a related object, the recorder counts those that follow.
		set := workload.Metadata(o.Kind)
		set.Namespace, set.Name, set.UID = o.Key.Namespace, o.Key.Name, setOf(o).UID()
		r.Events.Eventf(set, nil, corev1.EventTypeNormal, string(o.Result), action, "A rollout may scale this down, so the policy leaves it alone")
	}
	if !o.Result.Concerns() {
		r.LogOnly(o)
		return
	}
	down := v1alpha1.ScaleDown{
		Result: string(o.Result), Message: r.describe(o), Selected: int32(o.Count), Written: int32(o.Written), Unsteerable: int32(o.UnsteerableCount),
	}
	if o.Valuation != nil {
		down.Valued = new(int32(o.Valuation.Valued))
		if oldest := o.Valuation.Oldest; !oldest.IsZero() {
			down.OldestValue = &metav1.Duration{Duration: max(0, o.At.Sub(oldest)).Round(time.Second / 10)}
		}
	}
	isWarning := o.Result.IsFailure() || len(o.Unsteerable) > 0 || o.Valuation != nil && o.Valuation.Why != nil
	r.tell(ctx, o, down, isWarning, decided(o, o.Message, o.Next, r.selected(o), o.Rules))
}

// tell tells what became of a request that concerns a policy, everywhere.
func (r *Reporter) tell(ctx context.Context, o *steer.Outcome, down v1alpha1.ScaleDown, isWarning bool, d *decision) {
	set := setOf(o)
	down.Time, down.Generation, down.From, down.To = metav1.NewTime(o.At), set.Object.GetGeneration(), o.From, o.To
	down.Message, d.Result = bounded.Short(down.Message), down.Result
	r.Log.Info("decision", "decision", d)
	kind := corev1.EventTypeNormal
	if isWarning {
		kind = corev1.EventTypeWarning
	}
	// Names and UIDs have no characters that JSON could not have.
	text, _ := json.Marshal(d.selection())
	r.event(set, o.Policy, kind, down.Result, down.Message, map[string]string{Annotation: string(text)})
	if o.Policy == nil {
		return
	}
	entry := v1alpha1.WorkloadStatus{Kind: string(o.Kind), Name: o.Key.Name, UID: set.UID(), LastScaleDown: down}
	err := r.Statuses.Change(ctx, o.Policy.Namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if policy.UID == o.Policy.UID {
			put(&policy.Status, entry)
		}
	})
	if err != nil {
		r.fails(err, o.Policy.Namespace, o.Policy.Name)
	}
}

// put makes a scale-down the last one of its workload, unless another replica was faster to report a later one.
func put(status *v1alpha1.ScaleDownPolicyStatus, now v1alpha1.WorkloadStatus) {
	if entry := status.Workload(now.UID); entry != nil {
		last, down := &entry.LastScaleDown, &now.LastScaleDown
		if last.Generation == down.Generation && down.Time.Sub(last.Time.Time).Abs() < bounded.RepeatTime {
			// The API server has asked several times. The costs of all answers count, and the end may have come before the last report.
			down.Written, last.Written = down.Written+last.Written, down.Written+last.Written
			if last.Deleted != nil && last.To == down.To {
				down.Deleted, down.Missed, down.MissedMessage = last.Deleted, last.Missed, last.MissedMessage
			}
		}
		if down.Generation < last.Generation || down.Generation == last.Generation && down.Time.Before(&last.Time) {
			return
		}
		status.Workloads = slices.DeleteFunc(status.Workloads, func(each v1alpha1.WorkloadStatus) bool { return each.UID == now.UID })
	}
	status.Workloads = slices.Insert(status.Workloads, 0, now)
	if len(status.Workloads) > bounded.Workloads {
		status.Workloads, status.DroppedWorkloads = status.Workloads[:bounded.Workloads], status.DroppedWorkloads+1
	}
}

// event tells something about a set, and about the policy that decided, if there is one. The version of the set keeps the recorder from taking events
// about two scale-downs for one.
func (r *Reporter) event(set *workload.Set, policy *v1alpha1.ScaleDownPolicy, kind, reason, text string, annotations map[string]string) {
	tell := func(regarding, related runtime.Object) {
		r.Events.AnnotatedEventf(regarding, related, annotations, kind, reason, action, "%s", bounded.Short(text))
	}
	if policy == nil {
		tell(set.Object, nil)
		return
	}
	tell(set.Object, policy)
	tell(policy, set.Object)
}

// setOf is the set of a request. If it could not be read, it has a name and a UID.
func setOf(o *steer.Outcome) *workload.Set {
	if o.Set != nil {
		return o.Set
	}
	object := workload.Metadata(o.Kind)
	object.Namespace, object.Name, object.UID, object.Generation = o.Key.Namespace, o.Key.Name, o.SetUID, o.Generation
	return &workload.Set{Object: object}
}

// fails tells that the status of a policy could not be written, as there is nobody else to tell.
func (r *Reporter) fails(err error, namespace, name string) {
	r.Log.Error(err, "cannot write the status of a policy", "namespace", namespace, "name", name)
}

// describe says what became of a request.
func (r *Reporter) describe(o *steer.Outcome) string {
	head := fmt.Sprintf("Scaling from %d to %d", o.From, o.To)
	if !o.Result.Holds() {
		return fmt.Sprintf("%s without steering: %s", head, o.Message) + describeValues(o.Valuation)
	}
	tail := ", wrote " + count(o.Written, "deletion cost")
	if o.Next != "" {
		tail = ", the next one would be " + o.Next + tail
	}
	if o.Result == steer.Unconfirmed {
		tail += "; their controller may not have seen these costs in time"
	}
	if o.Result == steer.Unsettled {
		tail += "; " + o.Message
	}
	if o.Unannotated > 0 {
		tail += fmt.Sprintf("; there was no time to annotate %s, which deleted and missed will not count", count(o.Unannotated, "pod"))
	}
	if len(o.Unsteerable) > 0 {
		var texts []string
		for _, pair := range o.Unsteerable {
			texts = append(texts, fmt.Sprintf("%s (%s)", pair.Pod, pair.Rule))
		}
		tail += "; unsteerable: " + some(texts, o.UnsteerableCount)
	}
	return withPods(fmt.Sprintf("%s: selected %s", head, count(o.Count, "pod")), r.selected(o), o.Count, tail+describeValues(o.Valuation))
}

// count says how many things there are.
func count(number int, one string) string {
	if number == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", number, one)
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

// Audit returns what the API server's audit log says of a request that a policy may cover: its result, and the UID by which the log has the rest.
func Audit(o *steer.Outcome) map[string]string {
	if o.Policy == nil && !slices.Contains(steer.Unsteered, o.Result) {
		return nil
	}
	return map[string]string{"result": string(o.Result), "request": string(o.UID)}
}
