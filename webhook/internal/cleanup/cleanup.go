// Package cleanup finds out what became of steered scale-downs: it compares the pods that were deleted with the selected ones, by UID,
// and removes the costs of pods that are kept. It runs on the leader, from the annotations on pods, and so after a restart, too. The other replicas only follow what
// becomes of annotated pods, so that the next leader also knows of those that have been deleted.
package cleanup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/policy"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// Grace is how long a count may take to fall after the deadline of its request.
	Grace = 10 * time.Second
	// again is how often a set is looked at while its controller is at work, in case an event says too little.
	again = 5 * time.Second
	// stale is how long the cache may show a cost that was removed. After that, it is removed again.
	stale = 30 * time.Second
	// soon is when the rest of a set with many pods follows.
	soon = time.Millisecond
	// later is when a set is looked at if another one of its namespace is being looked at.
	later = 50 * time.Millisecond
	// givesUp is how long it tries to remove a cost.
	givesUp = time.Hour
	// remembers is how long a replica that does not lead remembers pods that have been deleted. By then, there is another leader.
	remembers = time.Minute
)

// A Set identifies a set, or a pod that has none: that has neither a kind nor a UID.
type Set struct {
	Kind      workload.Kind
	Namespace string
	Name      string
	UID       types.UID
}

// A Cleaner cleans up.
type Cleaner struct {
	Cache client.Reader
	// Live reads from the API server.
	Live     *bounded.Reader
	Costs    *cost.Writer
	Reporter *report.Reporter
	// Deadline is that of requests. A count may take Grace longer to fall after its costs were seen. A request that another
	// webhook refuses never makes it fall.
	Deadline time.Duration
	Now      func() time.Time
	// Observes is whether nothing is steered any more, so that all costs are removed immediately.
	Observes bool
	// Leads is closed once this replica leads. If it is nil, this is the only one.
	Leads <-chan struct{}

	// No two workers look at one namespace at the same time.
	namespaces bounded.Semaphores

	// sets has the scaleDown of each Set, and open, by UID, the falls of those whose end is not told.
	sets, open sync.Map

	// deleted has, by the UID of their set, pods that were deleted while another replica led, until Follow sees them. The cache no longer has them.
	mu      sync.Mutex
	deleted map[types.UID][]metav1.PartialObjectMetadata
}

// Deleted keeps an annotated pod that was deleted for Follow, which may not have seen its annotation.
func (c *Cleaner) Deleted(pod client.Object) {
	metadata, isMetadata := pod.(*metav1.PartialObjectMetadata)
	owner := metav1.GetControllerOfNoCopy(pod)
	if !isMetadata || owner == nil || c.leads() || !(&Set{Kind: workload.Kind(owner.Kind)}).isSet() {
		return
	}
	metadata = metadata.DeepCopy()
	metadata.DeletionTimestamp = cmp.Or(metadata.DeletionTimestamp, new(metav1.NewTime(c.Now())))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted == nil {
		c.deleted = map[types.UID][]metav1.PartialObjectMetadata{}
	}
	c.deleted[owner.UID] = append(c.deleted[owner.UID], *metadata)
}

// takeDeleted returns the deleted pods of a set that are kept, and keeps them no longer.
func (c *Cleaner) takeDeleted(set types.UID) []metav1.PartialObjectMetadata {
	c.mu.Lock()
	defer c.mu.Unlock()
	deleted := c.deleted[set]
	delete(c.deleted, set)
	return deleted
}

// SetUp makes the cleaner run on the manager's leader.
func (c *Cleaner) SetUp(mgr manager.Manager) error {
	hasSteered := func(pod client.Object) bool {
		_, ok := cost.Cached(pod)
		return ok
	}
	isSteered := predicate.NewPredicateFuncs(hasSteered)
	// Also if an annotation was removed.
	isSteered.UpdateFunc = func(event event.UpdateEvent) bool { return hasSteered(event.ObjectOld) || hasSteered(event.ObjectNew) }
	ofPod := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []Set {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			return []Set{{workload.Kind(owner.Kind), pod.GetNamespace(), owner.Name, owner.UID}}
		}
		// Its set was deleted and left it behind.
		return []Set{{Namespace: pod.GetNamespace(), Name: pod.GetName()}}
	})
	ofSet := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, set client.Object) []Set {
		return []Set{{workload.Kind(set.GetObjectKind().GroupVersionKind().Kind), set.GetNamespace(), set.GetName(), set.GetUID()}}
	})
	isFollowed := isSteered
	isFollowed.DeleteFunc = func(event event.DeleteEvent) bool {
		if hasSteered(event.Object) {
			c.Deleted(event.Object)
		}
		return hasSteered(event.Object)
	}
	following := builder.TypedControllerManagedBy[Set](mgr).
		Named("follow").
		WatchesMetadata(&corev1.Pod{}, ofPod, builder.WithPredicates(isFollowed)).
		WithOptions(controller.TypedOptions[Set]{NeedLeaderElection: new(false)}).
		Complete(reconcile.TypedFunc[Set](c.Follow))
	return errors.Join(mgr.Add(manager.RunnableFunc(c.finish)), following, builder.TypedControllerManagedBy[Set](mgr).
		Named("cleanup").
		WatchesMetadata(&corev1.Pod{}, ofPod, builder.WithPredicates(isSteered)).
		WatchesMetadata(&appsv1.ReplicaSet{}, ofSet).
		WatchesMetadata(&corev1.ReplicationController{}, ofSet).
		WithOptions(controller.TypedOptions[Set]{MaxConcurrentReconciles: bounded.CleanupSets}).
		Complete(c))
}

// leads reports whether this replica leads.
func (c *Cleaner) leads() bool {
	select {
	case <-c.Leads:
		return true
	default:
		return c.Leads == nil
	}
}

// isSet reports whether it can be a set that is steered. An annotation on a pod of another kind of workload is nobody's.
func (id *Set) isSet() bool {
	return id.Kind == workload.ReplicaSet || id.Kind == workload.ReplicationController
}

// Follow notes what becomes of the pods of a set until this replica leads.
func (c *Cleaner) Follow(ctx context.Context, id Set) (ctrl.Result, error) {
	if c.leads() || !id.isSet() {
		return ctrl.Result{}, nil
	}
	if !c.namespaces.Hold(id.Namespace, 1) {
		return ctrl.Result{RequeueAfter: later}, nil
	}
	defer c.namespaces.Release(id.Namespace, 1)
	owned, err := workload.Owned(ctx, c.Cache, "v1", "Pod", id.Namespace, id.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	value, _ := c.sets.LoadOrStore(id, scaleDown{})
	known := value.(scaleDown)
	known.follow(id.UID, append(slices.Clip(owned), c.takeDeleted(id.UID)...), c.Now())
	if c.keep(id, known); len(known) == 0 {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: again}, nil
}

// keep keeps what is known of a set, if anything is left to do.
func (c *Cleaner) keep(id Set, known scaleDown) {
	if len(known) == 0 {
		c.sets.Delete(id)
		c.open.Delete(id.UID)
		return
	}
	c.sets.Store(id, known)
	c.open.Store(id.UID, known.open())
}

// finish tells the ends that the leader before this one could not, once annotations that are there have been seen, and once more for what replicas are late to report.
func (c *Cleaner) finish(ctx context.Context) error {
	began := c.Now()
	c.Reporter.Lead(began)
	for range 2 {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(again):
		}
		namespaces, err := policy.Namespaces(ctx, c.Cache)
		if err != nil {
			return err
		}
		for namespace := range namespaces {
			isOpen := func(set types.UID, to int32, generation int64) bool {
				return c.isOpen(ctx, namespace, set, fall{to, generation})
			}
			if err := c.Reporter.Finish(ctx, namespace, began, isOpen); err != nil {
				c.Reporter.Log.Error(err, "cannot tell the ends of scale-downs", "namespace", namespace)
			}
		}
	}
	return nil
}

// isOpen reports whether a pod of a set has the annotation of a scale-down, or had it before it was deleted.
func (c *Cleaner) isOpen(ctx context.Context, namespace string, set types.UID, down fall) bool {
	if downs, ok := c.open.Load(set); ok && downs.(map[fall]bool)[down] {
		return true
	}
	pods, err := workload.Owned(ctx, c.Cache, "v1", "Pod", namespace, set)
	return err != nil || slices.ContainsFunc(pods, func(pod metav1.PartialObjectMetadata) bool {
		steered, ok := cost.Cached(&pod)
		return ok && fallOf(steered) == down
	})
}

// Reconcile looks at one set.
func (c *Cleaner) Reconcile(ctx context.Context, id Set) (ctrl.Result, error) {
	if !c.namespaces.Hold(id.Namespace, 1) {
		// Others may have the workers meanwhile.
		return ctrl.Result{RequeueAfter: later}, nil
	}
	defer c.namespaces.Release(id.Namespace, 1)
	now, key := c.Now(), types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	if id.Kind == "" {
		return ctrl.Result{}, c.orphan(ctx, id)
	}
	if !id.isSet() {
		return ctrl.Result{}, nil
	}
	owned, err := workload.Owned(ctx, c.Cache, "v1", "Pod", id.Namespace, id.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	value, _ := c.sets.Load(id)
	known, isKnown := value.(scaleDown)
	if !isKnown {
		// As far as the cache knows: to ask for what only a pod names would take a request each time.
		set := workload.Metadata(id.Kind)
		if err := c.Cache.Get(ctx, key, set); err != nil || set.UID != id.UID {
			// A pod names an owner that there is not. The garbage collector deletes the pod, or removes the owner.
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		known = scaleDown{}
	}
	known.see(id.UID, owned, now)
	if c.keep(id, known); len(known) == 0 {
		return ctrl.Result{}, nil
	}
	set, err := workload.Get(ctx, c.Live, id.Kind, key)
	wait := again
	switch {
	case apierrors.IsNotFound(err) || err == nil && set.UID() != id.UID:
		// The set has been deleted. Its pods follow, or lose their owner: then they come here as orphans.
		set, err = nil, nil
	case err != nil:
		return ctrl.Result{}, err
	default:
		wait, err = known.judge(set, now, c.Deadline+Grace, func(pods []cost.Pod) ([]cost.Fate, []error) { return c.Costs.Fates(ctx, pods) })
		isAll, failed := c.remove(ctx, known, set.TemplateAnnotations)
		if err = errors.Join(err, failed); !isAll {
			wait = soon
		}
	}
	for _, over := range known.over() {
		over.Set, over.Namespace, over.UID = set, id.Namespace, id.UID
		if over.Missed[outrun] != nil {
			over.Writers = c.writers(ctx, owned)
		}
		c.Reporter.Over(ctx, over)
	}
	c.keep(id, known)
	if err == nil && known.isLeft() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

// writers are who else has written costs of a set's pods, also of those that are going. A few of them tell.
func (c *Cleaner) writers(ctx context.Context, owned []metav1.PartialObjectMetadata) (writers []string) {
	var pods []cost.Pod
	for i := range owned {
		if _, isOurs := cost.Cached(&owned[i]); !isOurs && owned[i].Annotations[corev1.PodDeletionCost] != "" && len(pods) < steer.Named {
			pods = append(pods, cost.PodOf(&owned[i]))
		}
	}
	fates, _ := c.Costs.Fates(ctx, pods)
	for _, fate := range fates {
		if fate.Writer != "" && !slices.Contains(writers, fate.Writer) {
			writers = append(writers, fate.Writer)
		}
	}
	return writers
}

// remove removes the costs of pods that are kept, or of all if nothing is steered any more, and reports whether that was tried for all. They get that of
// their template, if it has one.
func (c *Cleaner) remove(ctx context.Context, s scaleDown, template map[string]string) (isAll bool, err error) {
	var keptPods []*tracked
	var undos []cost.Undo
	for _, pod := range s {
		if isDue := c.Observes && pod.stops() || pod.state == kept; isDue && len(undos) < bounded.CleanupPods {
			keptPods = append(keptPods, pod)
			undos = append(undos, cost.Undo{Pod: pod.pod, Steered: pod.steered, Before: template})
		}
	}
	var failed []error
	for i, err := range c.Costs.Remove(ctx, undos) {
		pod, now := keptPods[i], c.Now()
		switch isLate := pod.state == kept && now.Sub(pod.since) > givesUp; {
		case isLate && !errors.Is(err, cost.ErrChanged):
			c.Reporter.Left(pod.pod, err)
			pod.on(gaveUp, now)
			continue
		case err == nil:
			report.Removed(1, pod.why)
		case !errors.Is(err, cost.ErrChanged):
			failed = append(failed, err)
			continue
		}
		// Or a later request relies on the cost. The cache will show its annotation.
		pod.on(costRemoved, now)
	}
	return len(undos) < bounded.CleanupPods, errors.Join(failed...)
}

// orphan removes the cost of a pod whose set has been deleted. No end is told of it.
func (c *Cleaner) orphan(ctx context.Context, id Set) error {
	pod, here := workload.Metadata("Pod"), []metav1.PartialObjectMetadata(nil)
	if err := c.Cache.Get(ctx, types.NamespacedName{Namespace: id.Namespace, Name: id.Name}, pod); err == nil {
		here = append(here, *pod)
	} else if !apierrors.IsNotFound(err) {
		return err
	}
	value, _ := c.sets.LoadOrStore(id, scaleDown{})
	known := value.(scaleDown)
	known.see(id.UID, here, c.Now())
	_, err := c.remove(ctx, known, nil)
	if len(known) == 0 {
		c.sets.Delete(id)
	}
	return err
}
