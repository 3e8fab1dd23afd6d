package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// later is when several policies of a namespace are judged again, in case the labels of a template have changed.
const later = 10 * time.Minute

// A Judge says in the status of each policy whether it counts: whether it is valid, and no older one selects the same set. It runs on the
// leader.
type Judge struct {
	// Cache knows where there are policies.
	Cache client.Reader
	// Live reads from the API server: the cache lacks what policies say, and the templates of sets.
	Live     *bounded.Reader
	Statuses *Statuses
	// Observes is whether nothing is steered, whatever policies say.
	Observes bool
	// Others is what the operator allows to become of the costs of others.
	Others []v1alpha1.Others
}

// SetUp makes the judge run on the manager's leader.
func (j *Judge) SetUp(mgr manager.Manager) error {
	namespace := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []string {
		return []string{object.GetNamespace()}
	})
	// A set comes or goes. The labels of a template seldom change, and metadata does not have them.
	comes := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	return builder.TypedControllerManagedBy[string](mgr).
		Named("policies").
		Watches(&v1alpha1.ScaleDownPolicy{}, namespace, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&appsv1.ReplicaSet{}, namespace, builder.WithPredicates(comes)).
		WatchesMetadata(&corev1.ReplicationController{}, namespace, builder.WithPredicates(comes)).
		Complete(j)
}

// Reconcile judges the policies of a namespace.
func (j *Judge) Reconcile(ctx context.Context, namespace string) (ctrl.Result, error) {
	// Sets come and go in namespaces without policies, too.
	if isThere, err := IsThere(ctx, j.Cache, namespace); err != nil || !isThere {
		return ctrl.Result{}, err
	}
	var valid, invalid []*judged
	err := Each(ctx, j.Live, namespace, j.Others, func(compiled *Compiled, err error) {
		if err != nil {
			invalid = append(invalid, &judged{Compiled: compiled, reason: "Invalid", message: err.Error()})
			return
		}
		valid = append(valid, &judged{Compiled: compiled})
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	slices.SortFunc(valid, func(a, b *judged) int { return Compare(a.Compiled, b.Compiled) })
	var again time.Duration
	if len(valid) > 1 {
		// One alone cannot be shadowed.
		again = later
		err = j.sets(ctx, namespace, func(set *workload.Set) {
			var first *judged
			for _, each := range valid {
				switch {
				case !each.Selects(set.TemplateLabels):
				case first == nil:
					first, each.counts = each, true
				case each.reason == "":
					each.reason, each.message = "Shadowed", fmt.Sprintf("the older policy %s counts for %s", first.Policy.Name, set)
				}
			}
		})
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	var failed []error
	for _, each := range slices.Concat(valid, invalid) {
		judge := func(policy *v1alpha1.ScaleDownPolicy) { j.judge(each, policy) }
		if changes(each.Policy.DeepCopy(), judge) {
			failed = append(failed, j.Statuses.Change(ctx, client.ObjectKeyFromObject(each.Policy), each.Policy.UID, judge))
		}
	}
	return ctrl.Result{RequeueAfter: again}, errors.Join(failed...)
}

// judged is a policy, and why it does not count, or "".
type judged struct {
	*Compiled
	reason, message string
	// counts is whether it counts for some set. The message is only a note then.
	counts bool
}

// judge sets the condition Accepted, and says in the condition Steering that nothing is steered, or no longer says so.
func (j *Judge) judge(verdict *judged, policy *v1alpha1.ScaleDownPolicy) {
	condition := metav1.Condition{
		Type: v1alpha1.Accepted, Status: metav1.ConditionTrue, Reason: "Accepted", Message: bounded.Short(verdict.message),
		ObservedGeneration: policy.Generation,
	}
	if verdict.reason != "" && !verdict.counts {
		condition.Status, condition.Reason = metav1.ConditionFalse, verdict.reason
	}
	meta.SetStatusCondition(&policy.Status.Conditions, condition)
	switch {
	case j.Observes:
		meta.SetStatusCondition(&policy.Status.Conditions, metav1.Condition{
			Type: v1alpha1.Steering, Status: metav1.ConditionFalse, Reason: v1alpha1.ModeObserve, ObservedGeneration: policy.Generation,
			Message: "podrank-webhook runs with --mode=Observe, so it steers nothing, whatever policies say",
		})
	case policy.Status.IsOff():
		meta.RemoveStatusCondition(&policy.Status.Conditions, v1alpha1.Steering)
	}
}

// sets does something with each valid set of a namespace, in the order of kinds and names: a verdict names the first, and should not change.
func (j *Judge) sets(ctx context.Context, namespace string, use func(*workload.Set)) error {
	for _, list := range []client.ObjectList{&appsv1.ReplicaSetList{}, &corev1.ReplicationControllerList{}} {
		err := bounded.Each(ctx, j.Live, list, func(object client.Object) error {
			if set, err := workload.Of(object); err == nil {
				use(set)
			}
			return nil
		}, client.InNamespace(namespace))
		if err != nil {
			return err
		}
	}
	return nil
}
