// Package cleanup finds out what became of steered scale-downs: it compares the pods that went with those that should, by UID,
// and takes the costs off pods that stay. It runs on the leader, from the marks on pods, and so after a restart, too.
package cleanup

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
	"github.com/podrank/podrank/webhook/internal/locks"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

const (
	// Grace is how long a count may take to fall after the deadline of its request.
	Grace = 10 * time.Second
	// again is how often a set is looked at while its controller is at work, in case an event says too little.
	again = 5 * time.Second
	// stale is how long the cache may show a cost that was taken off. After that, it is taken off again.
	stale = 30 * time.Second
	// workers is how many sets are looked at a time: one with many pods takes some time.
	workers = 4
	// batch is how many pods of a set are judged, and their costs come off, before it is the turn of other sets. The rest follows soon.
	batch = 200
	soon  = time.Millisecond
	// later is when a set is looked at if another one of its namespace is being looked at.
	later = 50 * time.Millisecond
	// givesUp is how long it tries to take a cost off.
	givesUp = time.Hour
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
	Plans    *steer.Plans
	Reporter *report.Reporter
	// Deadline is that of requests. A count may take Grace longer to fall after its costs were seen. A request that another
	// webhook refuses never makes it fall.
	Deadline time.Duration
	Now      func() time.Time

	// No two workers look at one namespace at the same time.
	namespaces locks.Few[string]

	// sets has the scaleDown of each Set.
	sets sync.Map
	// orphans has, for the UIDs of pods without a set, when it was first tried to take their costs off.
	orphans sync.Map
}

// scaleDown is what is known of a set that is steered.
type scaleDown struct {
	pods map[types.UID]*tracked
}

// tracked is a pod that has a mark, or that should go.
type tracked struct {
	pod  cost.Pod
	mark cost.Mark
	// since is when the mark was first seen.
	since time.Time
	// cost is what the annotation said then.
	cost string
	// state is that of its cost.
	state state
	// isWithdrawn is whether the mark was taken off, because the request failed.
	isWithdrawn bool
	// isOverruled is whether somebody has changed the cost since.
	isOverruled bool
	// hasFallen is whether the count was seen at or below the planned one.
	hasFallen bool
	// end is what became of the pod, or "".
	end string
	// isReported is whether its end was reported.
	isReported bool
	// trying is when it was first tried to take the cost off.
	trying time.Time
}

// A state is that of a cost.
type state int

const (
	// none: there is nothing to take off.
	none state = iota
	// marked: there is.
	marked
	// off: it was taken off, though the cache may still show it.
	off
	// left: that was given up.
	left
)

// What becomes of a pod. These are the reasons of metrics.
const (
	gone      = "Gone"
	notFallen = "CountDidNotFall"
	risen     = "CountRoseAgain"
	overruled = "CostChanged"
	withdrawn = "RequestFailed"
	outrun    = "OthersWentFirst"
)

// SetUp makes the cleaner run on the manager's leader.
func (c *Cleaner) SetUp(mgr manager.Manager) error {
	hasMark := func(pod client.Object) bool {
		_, ok := cost.Cached(pod)
		return ok
	}
	isMarked := predicate.NewPredicateFuncs(hasMark)
	// Also if a mark was taken off.
	isMarked.UpdateFunc = func(event event.UpdateEvent) bool { return hasMark(event.ObjectOld) || hasMark(event.ObjectNew) }
	ofPod := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []Set {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			return []Set{{workload.Kind(owner.Kind), pod.GetNamespace(), owner.Name, owner.UID}}
		}
		// Its set was deleted and left it behind.
		return []Set{{Namespace: pod.GetNamespace(), Name: pod.GetName()}}
	})
	ofSet := func(kind workload.Kind) handler.TypedEventHandler[client.Object, Set] {
		return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, set client.Object) []Set {
			return []Set{{kind, set.GetNamespace(), set.GetName(), set.GetUID()}}
		})
	}
	return builder.TypedControllerManagedBy[Set](mgr).
		Named("cleanup").
		WatchesMetadata(&corev1.Pod{}, ofPod, builder.WithPredicates(isMarked)).
		WatchesMetadata(&appsv1.ReplicaSet{}, ofSet(workload.ReplicaSet)).
		WatchesMetadata(&corev1.ReplicationController{}, ofSet(workload.ReplicationController)).
		WithOptions(controller.TypedOptions[Set]{MaxConcurrentReconciles: workers}).
		Complete(c)
}

// Reconcile looks at one set.
func (c *Cleaner) Reconcile(ctx context.Context, id Set) (ctrl.Result, error) {
	if !c.namespaces.Enter(id.Namespace, 1) {
		// Others may have the workers meanwhile.
		return ctrl.Result{RequeueAfter: later}, nil
	}
	defer c.namespaces.Leave(id.Namespace)
	now, key := c.Now(), types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	if id.Kind == "" {
		return ctrl.Result{}, c.orphan(ctx, id)
	}
	if id.Kind != workload.ReplicaSet && id.Kind != workload.ReplicationController {
		// A mark on a pod of another kind of workload is nobody's.
		return ctrl.Result{}, nil
	}
	pods, err := workload.Owned(ctx, c.Cache, "v1", "Pod", id.Namespace, id.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	value, _ := c.sets.Load(id)
	known, isKnown := value.(*scaleDown)
	if !isKnown {
		// As far as the cache knows: to ask for what only a pod names would take a request each time.
		set := workload.Metadata(id.Kind)
		if err := c.Cache.Get(ctx, key, set); err != nil || set.UID != id.UID {
			// A pod names an owner that there is not. The garbage collector deletes the pod, or takes the owner off.
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		known = &scaleDown{pods: map[types.UID]*tracked{}}
	}
	asked := known.see(id.UID, pods, now)
	if plan, ok := c.Plans.Take(id.Namespace, id.UID); ok && now.Sub(plan.At) <= c.Deadline+Grace {
		asked += known.plan(id.UID, plan, now)
	}
	if len(known.pods) == 0 {
		c.sets.Delete(id)
		return ctrl.Result{}, nil
	}
	set, err := workload.Get(ctx, c.Live, id.Kind, key)
	isThere := err == nil && set.UID() == id.UID
	c.sets.Store(id, known)
	report.Asked(asked)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	wait := again
	if !isThere {
		// The set is gone. Its pods follow, or lose their owner: then they come here as orphans.
		set, err = nil, nil
	} else {
		wait, err = known.judge(set, now, c.Deadline+Grace, func(pods []cost.Pod) ([]bool, []error) { return c.Costs.AreGone(ctx, pods) })
		err = errors.Join(err, c.takeOff(ctx, known, set.TemplateAnnotations))
	}
	for _, over := range known.over() {
		over.Set, over.Namespace, over.UID = set, id.Namespace, id.UID
		c.Reporter.Over(ctx, over)
	}
	if set == nil && len(known.pods) == 0 {
		c.sets.Delete(id)
		return ctrl.Result{}, nil
	}
	if err == nil && known.isLeft() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

// see notes the set's pods as the cache has them, and returns how many more should go than before.
func (s *scaleDown) see(set types.UID, pods []metav1.PartialObjectMetadata, now time.Time) (asked int) {
	here := map[types.UID]bool{}
	for i := range pods {
		pod := &pods[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		here[pod.UID] = true
		known := s.pods[pod.UID]
		mark, isMarked := cost.Cached(pod)
		value := pod.Annotations[corev1.PodDeletionCost]
		switch {
		case !isMarked && known != nil:
			// It never had one, or the replica that wrote it has taken it off, if this one has not.
			known.isWithdrawn = known.isWithdrawn || known.state == marked
			known.state = none
			s.forget(pod.UID)
		case !isMarked:
		case known != nil && known.mark == mark && known.state != none:
			if known.state == off && now.Sub(known.since) > stale {
				known.state = marked
			}
			known.isOverruled = known.isOverruled || known.cost != value
		default:
			// New, or planned anew.
			if mark.Goes && (known == nil || !known.mark.Goes || known.isReported) {
				asked++
			}
			s.pods[pod.UID] = &tracked{pod: cost.PodOf(pod), mark: mark, since: now, cost: value, state: marked}
			if mark.Set != set {
				// The pod has changed hands since.
				s.pods[pod.UID].end = notFallen
			}
		}
	}
	for uid, known := range s.pods {
		if here[uid] {
			continue
		}
		known.state = none
		if known.end == "" {
			known.end = gone
		}
		s.forget(uid)
	}
	return asked
}

// isLeft reports whether nothing is left to do but for pods whose costs nobody could take off.
func (s *scaleDown) isLeft() bool {
	for _, pod := range s.pods {
		if pod.state != left || !pod.isReported {
			return false
		}
	}
	return true
}

// forget forgets a pod, if its end was reported and the cache shows no mark of it.
func (s *scaleDown) forget(uid types.UID) {
	if pod := s.pods[uid]; pod.isReported && pod.state == none {
		delete(s.pods, uid)
	}
}

// plan notes the pods of a plan that have no mark, because their costs fit, and returns how many.
func (s *scaleDown) plan(set types.UID, plan steer.LastPlan, now time.Time) (asked int) {
	for _, pod := range plan.Wanted {
		if s.pods[pod.UID] == nil {
			s.pods[pod.UID] = &tracked{pod: pod, since: now, mark: cost.Mark{Set: set, Count: plan.To, Goes: true}}
			asked++
		}
	}
	return asked
}

// judge decides what became of the pods, and returns when to look again. The caches of sets and pods do not lag alike, so a pod
// that seems to stay is read once more.
func (s *scaleDown) judge(
	set *workload.Set, now time.Time, patience time.Duration, areGone func([]cost.Pod) ([]bool, []error),
) (time.Duration, error) {
	wait := again
	var ending []*tracked
	var ends []string
	var pods []cost.Pod
	for _, pod := range s.pods {
		if pod.end != "" {
			continue
		}
		end := ""
		pod.hasFallen = pod.hasFallen || set.Replicas <= pod.mark.Count
		switch left := patience - now.Sub(pod.since); {
		case !pod.hasFallen && left > 0:
			wait = min(wait, left)
		case !pod.hasFallen && !set.IsOver():
			// An earlier fall goes on, and its pods may be among these.
		case !pod.hasFallen:
			end = notFallen
		case set.Replicas > pod.mark.Count:
			end = risen
		case set.IsOver():
			end = outrun
		}
		if end == "" {
			continue
		}
		switch {
		case pod.isWithdrawn:
			// What became of it is told all the same, once the scale-down is over: it may have been let through.
			end = withdrawn
		case end == outrun && pod.isOverruled:
			end = overruled
		}
		if len(ending) == batch {
			wait = soon
			break
		}
		ending, ends, pods = append(ending, pod), append(ends, end), append(pods, pod.pod)
	}
	went, errs := areGone(pods)
	for i, pod := range ending {
		switch {
		case errs[i] != nil:
		case went[i]:
			pod.end = gone
		default:
			pod.end = ends[i]
		}
	}
	return wait, errors.Join(errs...)
}

// takeOff takes off the costs of pods that stay. They get that of their template, if it has one.
func (c *Cleaner) takeOff(ctx context.Context, s *scaleDown, template map[string]string) error {
	var staying []*tracked
	var undos []cost.Undo
	for _, pod := range s.pods {
		if pod.state == marked && pod.end != "" && pod.end != gone {
			staying = append(staying, pod)
			undos = append(undos, cost.Undo{Pod: pod.pod, Mark: pod.mark, Before: template})
		}
	}
	var failed []error
	for i, err := range c.Costs.TakeOff(ctx, undos) {
		if staying[i].trying.IsZero() {
			staying[i].trying = c.Now()
		}
		switch isLate := c.Now().Sub(staying[i].trying) > givesUp; {
		case isLate && !errors.Is(err, cost.ErrGone):
			c.Reporter.Left(staying[i].pod, err)
			staying[i].state = left
			continue
		case err == nil:
			report.TakenOff(1, staying[i].end)
		case !errors.Is(err, cost.ErrGone):
			failed = append(failed, err)
			continue
		}
		// Or a later request relies on the cost. The cache will show its mark.
		staying[i].state, staying[i].since = off, c.Now()
	}
	return errors.Join(failed...)
}

// over returns how scale-downs ended, each once. What they leave are pods whose cost was taken off, as long as the cache still
// shows it. Two falls in quick succession are two scale-downs, and a pod belongs to the one that wrote its cost.
func (s *scaleDown) over() []*report.Over {
	// Also those that are over.
	goesOn, ended := map[int32]bool{}, map[int32]*report.Over{}
	for _, pod := range s.pods {
		goesOn[pod.mark.Count] = goesOn[pod.mark.Count] || pod.end == ""
	}
	for uid, pod := range s.pods {
		to := pod.mark.Count
		if goesOn[to] {
			continue
		}
		if pod.mark.Goes && !pod.isReported {
			if ended[to] == nil {
				ended[to] = &report.Over{To: to, Missed: map[string][]string{}, Others: goesOn}
			}
			if pod.end == gone {
				ended[to].Gone++
			} else {
				ended[to].Missed[pod.end] = append(ended[to].Missed[pod.end], pod.pod.Key.Name)
			}
		}
		pod.isReported = true
		s.forget(uid)
	}
	return slices.Collect(maps.Values(ended))
}

// orphan takes the cost off a pod whose set is gone.
func (c *Cleaner) orphan(ctx context.Context, id Set) error {
	pod := workload.Metadata("Pod")
	err := c.Cache.Get(ctx, types.NamespacedName{Namespace: id.Namespace, Name: id.Name}, pod)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	mark, ok := cost.Cached(pod)
	if !ok {
		return nil
	}
	err = c.Costs.TakeOff(ctx, []cost.Undo{{Pod: cost.PodOf(pod), Mark: mark}})[0]
	if err == nil || errors.Is(err, cost.ErrGone) {
		c.orphans.Delete(pod.UID)
		return nil
	}
	began, _ := c.orphans.LoadOrStore(pod.UID, c.Now())
	if c.Now().Sub(began.(time.Time)) > givesUp {
		c.orphans.Delete(pod.UID)
		c.Reporter.Left(cost.PodOf(pod), err)
		return nil
	}
	return err
}
