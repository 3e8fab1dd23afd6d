// Package policies says in the status of each policy whether it counts: whether it is valid, and no older one selects the same
// set. It runs on the leader.
package policies

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// later is when several policies of a namespace are judged again, in case the labels of a template have changed.
const later = 10 * time.Minute

// A Judge judges policies.
type Judge struct {
	Cache client.Reader
	// Live reads from the API server, which has what the cache lacks: the templates of sets.
	Live     client.Reader
	Reporter *report.Reporter
}

// SetUp makes the judge run on the manager's leader.
func (j *Judge) SetUp(mgr manager.Manager) error {
	skip := true
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
		WithOptions(controller.TypedOptions[string]{SkipNameValidation: &skip}).
		Complete(j)
}

// Reconcile judges the policies of a namespace.
func (j *Judge) Reconcile(ctx context.Context, namespace string) (ctrl.Result, error) {
	var all v1alpha1.ScaleDownPolicyList
	if err := j.Cache.List(ctx, &all, client.InNamespace(namespace)); err != nil || len(all.Items) == 0 {
		return ctrl.Result{}, err
	}
	var sets []*workload.Set
	var again time.Duration
	if len(all.Items) > 1 {
		// One alone cannot be shadowed.
		var err error
		if sets, err = j.sets(ctx, namespace); err != nil {
			return ctrl.Result{}, err
		}
		again = later
	}
	verdicts, counts := map[string]report.Verdict{}, map[string]bool{}
	for _, set := range sets {
		chosen := policy.Choose(all.Items, set.TemplateLabels)
		for i, each := range chosen {
			if i == 0 {
				counts[each.Name] = true
			} else if _, ok := verdicts[each.Name]; !ok {
				verdicts[each.Name] = report.Shadowed(chosen[0], set)
			}
		}
	}
	for i := range all.Items {
		each := &all.Items[i]
		verdict := verdicts[each.Name]
		if counts[each.Name] {
			verdict = verdict.Partly()
		}
		if _, err := policy.Compile(each); err != nil {
			verdict = report.Invalid(err)
		}
		j.Reporter.Accepted(ctx, each, verdict)
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

func (j *Judge) sets(ctx context.Context, namespace string) ([]*workload.Set, error) {
	var replicaSets appsv1.ReplicaSetList
	var controllers corev1.ReplicationControllerList
	var sets []*workload.Set
	// As the API server has them in its own cache.
	cheap := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	if err := j.Live.List(ctx, &replicaSets, cheap); err != nil {
		return nil, err
	}
	if err := j.Live.List(ctx, &controllers, cheap); err != nil {
		return nil, err
	}
	for i := range replicaSets.Items {
		if set, err := workload.OfReplicaSet(&replicaSets.Items[i]); err == nil {
			sets = append(sets, set)
		}
	}
	for i := range controllers.Items {
		if set, err := workload.OfReplicationController(&controllers.Items[i]); err == nil {
			sets = append(sets, set)
		}
	}
	// A verdict names the first, and should not change each time.
	slices.SortFunc(sets, func(a, b *workload.Set) int { return strings.Compare(a.String(), b.String()) })
	return sets, nil
}
