package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/probe"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// later is when the policies of a namespace are judged again, because the labels of a template or our rights may have changed.
const later = 10 * time.Minute

// A Judge keeps the status of each policy, but for the workloads in it: the mode in effect, and whether the policy takes effect. It runs on the leader.
type Judge struct {
	// Cache has the namespaces with the label, and knows where there are policies.
	Cache client.Reader
	// Live reads from the API server: the cache lacks what policies say, and the templates of sets.
	Live *bounded.Reader
	// Client asks for our rights.
	Client   client.Writer
	Statuses *Statuses
	// Namespace is that of this program, in which it steers nothing.
	Namespace string
	// Observes is whether nothing is steered, whatever policies say.
	Observes bool
	// ForeignCosts is what the administrator allows policies to say about foreign costs.
	ForeignCosts []v1alpha1.ForeignCosts
	// Probe finds out whether the API server reaches this program, and passes on each change of the state.
	Probe func(context.Context, func(probe.State))

	// probed is the state that the last probe found, or nil before the first one.
	probed atomic.Pointer[probe.State]
}

// SetUp makes the judge run on the manager's leader.
func (j *Judge) SetUp(mgr manager.Manager) error {
	namespace := func(of func(client.Object) string) handler.TypedEventHandler[client.Object, string] {
		return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []string { return []string{of(object)} })
	}
	// All policies are judged again if the state changes.
	probes := source.TypedFunc[string](func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[string]) error {
		go j.Probe(ctx, func(state probe.State) {
			j.Probed(state)
			// If the cache cannot be read, there is nothing to judge either.
			var policies v1alpha1.ScaleDownPolicyList
			_ = j.Cache.List(ctx, &policies, client.UnsafeDisableDeepCopy)
			for i := range policies.Items {
				queue.Add(policies.Items[i].Namespace)
			}
		})
		return nil
	})
	// A set is created or deleted. The labels of a template seldom change, and metadata does not have them.
	comes := builder.WithPredicates(predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }})
	return builder.TypedControllerManagedBy[string](mgr).
		Named("policies").
		Watches(&v1alpha1.ScaleDownPolicy{}, namespace(client.Object.GetNamespace), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Namespace{}, namespace(client.Object.GetName), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesMetadata(&appsv1.ReplicaSet{}, namespace(client.Object.GetNamespace), comes).
		WatchesMetadata(&corev1.ReplicationController{}, namespace(client.Object.GetNamespace), comes).
		WatchesRawSource(probes).
		Complete(j)
}

// Probed notes the state that a probe found.
func (j *Judge) Probed(state probe.State) { j.probed.Store(&state) }

// Reconcile judges the policies of a namespace.
func (j *Judge) Reconcile(ctx context.Context, namespace string) (ctrl.Result, error) {
	// Sets come and go in namespaces without policies, too.
	if isThere, err := IsThere(ctx, j.Cache, namespace); err != nil || !isThere || j.probed.Load() == nil {
		return ctrl.Result{}, err
	}
	var all ranking
	err := Each(ctx, j.Live, namespace, j.ForeignCosts, func(compiled *Compiled, err error) {
		all = append(all, &judged{Compiled: compiled, invalid: err, workloads: map[types.UID]bool{}})
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	slices.SortFunc(all, func(a, b *judged) int { return Compare(a.Compiled, b.Compiled) })
	// In the order of kinds and names: a verdict names the first set, and should not change.
	for _, list := range []client.ObjectList{&appsv1.ReplicaSetList{}, &corev1.ReplicationControllerList{}} {
		if err := bounded.Each(ctx, j.Live, list, all.assign, client.InNamespace(namespace)); err != nil {
			return ctrl.Result{}, err
		}
	}
	obstacle, err := j.obstacle(ctx, namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: later}, j.Statuses.Change(ctx, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if i := slices.IndexFunc(all, func(each *judged) bool { return each.Policy.UID == policy.UID }); i >= 0 {
			j.judge(all[i], policy, obstacle)
		}
	})
}

// judged is a policy, the workloads for which it decides, and one for which another policy decides, or "".
type judged struct {
	*Compiled
	invalid   error
	workloads map[types.UID]bool
	conflict  string
}

// A ranking has the policies of a namespace in the order of precedence.
type ranking []*judged

// assign gives a valid set to the first policy that selects it, and notes that as a conflict of the others.
func (all ranking) assign(object client.Object) error {
	set, err := workload.Of(object)
	if err != nil {
		return nil
	}
	var first *judged
	// All sets of a controller are one workload.
	owner := cmp.Or(metav1.GetControllerOfNoCopy(set.Object), &metav1.OwnerReference{UID: set.UID()})
	for _, each := range all {
		switch {
		case each.invalid != nil || !each.Selects(set):
		case first == nil:
			first, each.workloads[owner.UID] = each, true
		case each.conflict == "":
			each.conflict = fmt.Sprintf("policy %s takes precedence for %s", first.Policy.Name, set)
		}
	}
	return nil
}

// An obstacle keeps a policy from taking effect.
type obstacle struct{ reason, message string }

// obstacle returns what keeps all policies of a namespace from taking effect. Missing rights only matter to policies
// that steer.
func (j *Judge) obstacle(ctx context.Context, namespace string) (*obstacle, error) {
	// The cache has the namespaces about which the API server asks, and no others.
	err := j.Cache.Get(ctx, client.ObjectKey{Name: namespace}, workload.Metadata("Namespace"))
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "patch", Resource: "pods"},
	}}
	switch {
	case namespace == j.Namespace:
		return &obstacle{v1alpha1.NamespaceNotEnabled, "podrank-webhook does not act in namespace " + namespace}, nil
	case err != nil:
		message := fmt.Sprintf("the API server does not ask podrank-webhook about namespace %s: an administrator has to label it %s=%s",
			namespace, v1alpha1.SteeringLabel, v1alpha1.SteeringEnabled)
		return &obstacle{v1alpha1.NamespaceNotEnabled, message}, nil
	case *j.probed.Load() == probe.Unreached:
		return &obstacle{v1alpha1.NotReachable, "a dry run of a scale-down did not arrive at podrank-webhook: see the log of its leader"}, nil
	case j.Observes:
		return nil, nil
	}
	if err := j.Client.Create(ctx, review); err != nil || review.Status.Allowed {
		return nil, err
	}
	return &obstacle{v1alpha1.MissingRights, "podrank-webhook may not patch pods in namespace " + namespace}, nil
}

// judge sets what this policy's status says, but for workloads.
func (j *Judge) judge(of *judged, policy *v1alpha1.ScaleDownPolicy, common *obstacle) {
	status, count := &policy.Status, len(of.workloads)
	status.ObservedGeneration, status.Mode, status.MatchedWorkloads = of.Policy.Generation, v1alpha1.Steer, new(int32(count))
	isObserver := of.Policy.Spec.Observes()
	if isObserver || j.Observes {
		status.Mode = v1alpha1.Observe
	}
	// A condition that is true has its type as the reason.
	set := func(kind, reason, message string) {
		condition := metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: bounded.Short(message), ObservedGeneration: of.Policy.Generation,
		}
		if reason == kind {
			condition.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	conflict, ready := v1alpha1.Conflicted, obstacle{reason: v1alpha1.Ready}
	if of.conflict == "" {
		conflict = v1alpha1.NoConflict
	}
	set(v1alpha1.Conflicted, conflict, of.conflict)
	switch {
	case errors.Is(of.invalid, ErrNotAllowed):
		ready = obstacle{v1alpha1.NotAllowed, of.invalid.Error()}
	case of.invalid != nil:
		ready = obstacle{v1alpha1.Invalid, of.invalid.Error()}
	case j.Observes && !isObserver:
		ready = obstacle{v1alpha1.NotAllowed, "podrank-webhook runs with --mode=Observe, so that it only observes"}
	case common != nil && (common.reason != v1alpha1.MissingRights || !isObserver):
		ready = *common
	case count == 0 && of.conflict != "":
		ready = obstacle{v1alpha1.Conflicted, of.conflict + ", and so do other policies for all that this one matches"}
	case count == 0:
		ready = obstacle{v1alpha1.NoWorkloads, "no ReplicaSet or ReplicationController matches"}
	}
	set(v1alpha1.Ready, ready.reason, ready.message)
}

// Statuses writes the status of policies, for one report of a namespace at a time.
type Statuses struct {
	// Live reads policies, and Client writes their status.
	Live   *bounded.Reader
	Client client.Client

	namespaces bounded.Semaphores
}

// Change changes the statuses of the policies of a namespace, as they are now. It writes those alone that change.
func (s *Statuses) Change(ctx context.Context, namespace string, change func(*v1alpha1.ScaleDownPolicy)) error {
	unlock, err := s.namespaces.Lock(ctx, namespace)
	if err != nil {
		return err
	}
	defer unlock()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var changed []*v1alpha1.ScaleDownPolicy
		err := Read(ctx, s.Live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
			before := policy.Status.DeepCopy()
			if change(policy); !equality.Semantic.DeepEqual(before, &policy.Status) {
				changed = append(changed, policy)
			}
		})
		for _, policy := range changed {
			err = errors.Join(err, client.IgnoreNotFound(s.Client.Status().Update(ctx, policy)))
		}
		return err
	})
}
