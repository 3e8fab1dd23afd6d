// Package cleanup ends steered scale-downs. It compares the deleted pods with the selected ones, by UID, reports the
// result, and then removes the costs of pods that are kept. Until then, annotations on pods record what remains to be
// done, also after a restart. Every replica watches annotated pods, because the API server forgets deleted ones. Only
// the leader does the rest.
package cleanup

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
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

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// Grace is how long a count may take to fall after the deadline of its request.
	Grace = 10 * time.Second
	// again is how often a set is looked at while its controller is at work, in case an event says too little.
	again = 5 * time.Second
	// stale is how long the cache may show a cost that was removed. After that, it is removed again.
	stale = 30 * time.Second
	// later is when a set is looked at if another one of its namespace is being looked at.
	later = 50 * time.Millisecond
	// soon is when the leader again reports the end of a scale-down that is not in a status yet.
	soon = time.Second / 2
	// trusts is for how long pods are read again that cannot be read. Then the cache is right.
	trusts = 10 * time.Second
	// remembers is how long a replica that does not lead remembers pods since it noticed that they are deleted. By then, there is another leader.
	remembers = time.Minute
)

// A Set identifies a set, or a pod that has none: that has neither a kind nor a UID.
type Set struct {
	Kind      workload.Kind
	Namespace string
	Name      string
	UID       types.UID
}

// setOf identifies the set of a pod, or the pod if its set was deleted and left it behind.
func setOf(pod metav1.Object) Set {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return Set{workload.Kind(owner.Kind), pod.GetNamespace(), owner.Name, owner.UID}
	}
	return Set{Namespace: pod.GetNamespace(), Name: pod.GetName()}
}

// read reads a set, with the annotations that it makes pods with, or nothing if there is no such set.
func (s Set) read(ctx context.Context, live *bounded.Reader) (*workload.Set, map[string]string, error) {
	if !isSet(s.Kind) {
		return nil, nil, nil
	}
	set, err := workload.Get(ctx, live, s.Kind, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	if err != nil || set.UID() != s.UID {
		return nil, nil, client.IgnoreNotFound(err)
	}
	return set, set.TemplateAnnotations, nil
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

	// busy are namespaces: no two workers look at one at the same time.
	busy sync.Map
	// sets has the pods of each Set.
	sets sync.Map

	// led is since when this replica leads, or nil.
	led atomic.Pointer[time.Time]

	mu sync.Mutex
	// deleted has annotated pods that were deleted, by their set. The cache no longer has them.
	deleted map[Set][]metav1.PartialObjectMetadata
}

// Deleted keeps an annotated pod that was deleted while another replica leads, since this one may not have seen its annotation.
func (c *Cleaner) Deleted(pod *metav1.PartialObjectMetadata) {
	id := setOf(pod)
	if !hasSteered(pod) || !isSet(id.Kind) || c.led.Load() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleted == nil {
		c.deleted = map[Set][]metav1.PartialObjectMetadata{}
	}
	c.deleted[id] = append(c.deleted[id], *pod)
}

// hasSteered reports whether a pod in the cache has the annotation.
func hasSteered(pod client.Object) bool {
	_, ok := cost.Cached(pod)
	return ok
}

// SetUp makes the cleaner run on each replica.
func (c *Cleaner) SetUp(mgr manager.Manager) error {
	isSteered := predicate.NewPredicateFuncs(hasSteered)
	// Also if an annotation was removed.
	isSteered.UpdateFunc = func(event event.UpdateEvent) bool { return hasSteered(event.ObjectOld) || hasSteered(event.ObjectNew) }
	isSteered.DeleteFunc = func(event event.DeleteEvent) bool {
		c.Deleted(event.Object.(*metav1.PartialObjectMetadata))
		return hasSteered(event.Object)
	}
	ofPod := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []Set {
		return []Set{setOf(pod)}
	})
	ofSet := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, set client.Object) []Set {
		return []Set{{workload.Kind(set.GetObjectKind().GroupVersionKind().Kind), set.GetNamespace(), set.GetName(), set.GetUID()}}
	})
	// What needs an election, which is the default, is started when this replica leads.
	leads := manager.RunnableFunc(func(context.Context) error {
		c.Lead(c.Now())
		return nil
	})
	return errors.Join(mgr.Add(leads), builder.TypedControllerManagedBy[Set](mgr).
		Named("cleanup").
		WatchesMetadata(&corev1.Pod{}, ofPod, builder.WithPredicates(isSteered)).
		WatchesMetadata(&appsv1.ReplicaSet{}, ofSet).
		WatchesMetadata(&corev1.ReplicationController{}, ofSet).
		WithOptions(controller.TypedOptions[Set]{MaxConcurrentReconciles: bounded.CleanupSets, NeedLeaderElection: new(false)}).
		Complete(c))
}

// Lead makes this replica the leader, since then.
func (c *Cleaner) Lead(since time.Time) { c.led.Store(&since) }

// isSet reports whether a kind is one of sets that are steered. An annotation on a pod of another kind of workload is nobody's.
func isSet(kind workload.Kind) bool {
	return kind == workload.ReplicaSet || kind == workload.ReplicationController
}

// Reconcile looks at one set, or at a pod that has none.
func (c *Cleaner) Reconcile(ctx context.Context, id Set) (ctrl.Result, error) {
	// First, as a pod may soon be deleted.
	known, err := c.see(ctx, id)
	defer func() {
		if len(known) == 0 {
			c.sets.Delete(id)
		}
	}()
	isLeader := c.led.Load() != nil
	if !isLeader {
		known.forget(c.Now())
	}
	switch {
	case err != nil || len(known) == 0:
		return ctrl.Result{}, err
	case !isLeader:
		return ctrl.Result{RequeueAfter: again}, nil
	}
	if _, isBusy := c.busy.LoadOrStore(id.Namespace, true); isBusy {
		// Other sets may use the workers until then.
		return ctrl.Result{RequeueAfter: later}, nil
	}
	defer c.busy.Delete(id.Namespace)
	wait, err := c.finish(ctx, id, known)
	if err == nil && known.isLeft() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

// see returns what is known of a set.
func (c *Cleaner) see(ctx context.Context, id Set) (pods, error) {
	c.mu.Lock()
	deleted := c.deleted[id]
	delete(c.deleted, id)
	c.mu.Unlock()
	key := types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	value, isKnown := c.sets.LoadOrStore(id, pods{})
	known := value.(pods)
	var cached []metav1.PartialObjectMetadata
	switch object := workload.Metadata(cmp.Or(id.Kind, "Pod")); {
	case id.Kind == "":
		if err := c.Cache.Get(ctx, key, object); err == nil {
			cached = append(cached, *object)
		} else if !apierrors.IsNotFound(err) {
			return known, err
		}
	case !isSet(id.Kind):
		return nil, nil
	case !isKnown:
		// As far as the cache knows: to ask for what only a pod names would take a request each time.
		if err := c.Cache.Get(ctx, key, object); err != nil || object.UID != id.UID {
			// A pod names an owner that there is not. The garbage collector deletes the pod, or removes the owner.
			return nil, client.IgnoreNotFound(err)
		}
	}
	if id.Kind != "" {
		var err error
		if cached, err = workload.Owned(ctx, c.Cache, "v1", "Pod", id.Namespace, id.UID); err != nil {
			return known, err
		}
	}
	known.see(id.UID, cached, deleted, c.Now())
	return known, nil
}

// finish tells the ends of scale-downs that are over, removes costs, and returns when to look again.
func (c *Cleaner) finish(ctx context.Context, id Set, known pods) (wait time.Duration, err error) {
	set, template, err := id.read(ctx, c.Live)
	if err != nil {
		return 0, err
	}
	if c.Observes && set != nil {
		err = c.remove(ctx, known, template)
	}
	ended, wait := known.ended(set, c.Now(), c.Deadline+Grace)
	for i := range ended {
		isTold, failed := c.tell(ctx, id, set, &ended[i])
		if err = errors.Join(err, failed); !isTold {
			wait = soon
		}
	}
	if set != nil && !c.Observes || id.Kind == "" {
		err = errors.Join(err, c.remove(ctx, known, template))
	}
	maps.DeleteFunc(known, func(_ types.UID, pod *tracked) bool { return pod.isTold && !pod.isShown })
	return wait, err
}

// tell tells how a scale-down ended, and reports whether that is done. The caches of sets and pods do not lag alike, so a pod that seems to be kept is read
// once more, and only few of them in a pass.
func (c *Cleaner) tell(ctx context.Context, id Set, set *workload.Set, end *scaleDown) (isTold bool, err error) {
	first := end.pods[0].steered
	over := &report.Over{
		Set: set, Namespace: id.Namespace, UID: id.UID, Generation: first.Generation, From: first.From, To: first.Count,
		First: time.UnixMilli(first.First), Missed: map[string][]string{}, IsLogged: true,
	}
	over.IsEarlier = over.First.Before(*c.led.Load())
	var kept, unread []*tracked
	var reads []cost.Pod
	for _, pod := range end.pods {
		over.IsLogged = over.IsLogged && pod.isLogged
		pod.ended = cmp.Or(pod.ended, c.Now())
		over.Waited = max(over.Waited, c.Now().Sub(pod.ended))
		switch {
		case !pod.steered.Selected:
		case pod.isThere:
			if kept = append(kept, pod); pod.fate == nil {
				unread, reads = append(unread, pod), append(reads, pod.pod)
			}
		default:
			over.Deleted++
		}
	}
	fates, errs := c.Costs.Fates(ctx, reads[:min(len(reads), bounded.CleanupPods)])
	for i, pod := range unread[:len(fates)] {
		if errs[i] == nil || over.Waited > trusts {
			// What cannot be read is as the cache has it.
			if pod.fate = &fates[i]; errs[i] != nil {
				*pod.fate, errs[i] = cost.Fate{Cost: pod.cost}, nil
			}
		}
	}
	if err := errors.Join(errs...); err != nil || len(fates) < len(unread) {
		return false, err
	}
	for _, pod := range kept {
		why := end.why
		switch pod.isThere = !pod.fate.IsDeleted; {
		case !pod.isThere:
			over.Deleted++
			continue
		case !pod.removed.IsZero():
			why = stopped
		case why == outrun && (pod.fate.Writer != "" || pod.fate.Cost != pod.cost):
			why = overruled
		}
		over.Miss(why, pod.pod.Key.Name, pod.fate.Writer)
	}
	isTold = over.Deleted == 0 && len(over.Missed) == 0
	if !isTold {
		isTold, err = c.Reporter.Over(ctx, over)
	}
	for _, pod := range end.pods {
		pod.isTold, pod.isLogged = isTold, over.IsLogged
	}
	return isTold, err
}

// remove removes the costs of pods whose scale-down has been reported, or of all pods if the program only observes. The
// pods get the cost of their template, if it has one.
func (c *Cleaner) remove(ctx context.Context, known pods, template map[string]string) error {
	var due []*tracked
	var undos []cost.Undo
	for _, pod := range known {
		isDue := (pod.isTold || c.Observes) && pod.isThere && pod.isShown && c.Now().Sub(pod.removed) > stale
		// The events of these pods cause another pass for the others.
		if isDue && len(due) < bounded.CleanupPods {
			due, undos = append(due, pod), append(undos, cost.Undo{Pod: pod.pod, Steered: pod.steered, Before: template})
		}
	}
	errs := c.Costs.Remove(ctx, undos)
	for i, err := range errs {
		if err == nil || errors.Is(err, cost.ErrChanged) {
			// Or a later request relies on the cost. The cache will show its annotation.
			due[i].removed, errs[i] = c.Now(), nil
		} else {
			report.RemovalFailed()
		}
	}
	return errors.Join(errs...)
}

// Uninstall removes from all pods what this program has written, and returns of how many. It deletes the webhook configuration of this name, so that
// nothing is steered any more, and waits until scale-downs that are under way have ended. It needs the right to delete the configuration, which only the
// hook of the chart has. The client reads from the API server, in bounded answers.
func Uninstall(ctx context.Context, to client.Client, configuration string, patience time.Duration) (int, error) {
	object := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}}
	if err := to.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(patience):
	}
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	live, costs, found, failed := bounded.NewReader(to, 2), cost.NewWriter(to, to), 0, []error(nil)
	err := bounded.Each(ctx, live, list, func(pod *metav1.PartialObjectMetadata) error {
		if !cost.Wrote(pod, nil) {
			return nil
		}
		_, template, err := setOf(pod).read(ctx, live)
		if err == nil && cost.Wrote(pod, template) {
			if err = costs.Remove(ctx, []cost.Undo{{Pod: cost.PodOf(pod), Before: template}})[0]; err == nil {
				found++
			}
		}
		if err != nil && !errors.Is(err, cost.ErrChanged) {
			failed = append(failed, err)
		}
		return ctx.Err()
	}, client.Limit(bounded.Page))
	return found, errors.Join(append(failed, err)...)
}
