package example

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

var (
	now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	web = types.NamespacedName{Namespace: "shop", Name: "web"}
)

// A world is a cluster with one Fleet, of which the Reconciler sees pods late: what its requests change is in the list, and
// known to it by an event, only after deliver.
type world struct {
	*Reconciler
	t      *testing.T
	server client.Client
	queue  queue
	mutex  sync.Mutex
	seen   []corev1.Pod
	events []func()
	// How many requests there were, and those that fail: by number, from 1, and by the pod's name.
	creates     int
	failCreates map[int]error
	failDeletes map[string]error
	// How long a deletion takes, how many are in flight, and how many were at most.
	slow         time.Duration
	atOnce, most atomic.Int64
}

// cluster is one with a Fleet "web" and what else is given.
func cluster(t *testing.T, replicas int, objects ...client.Object) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	fleet := &Fleet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "f1"}, Spec: FleetSpec{Replicas: replicas}}
	fleet.Spec.Template.Labels = map[string]string{"app": "web"}
	for _, object := range objects {
		if object.GetLabels()["app"] == "web" {
			if err := ctrl.SetControllerReference(fleet, object, scheme); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(fleet).WithObjects(append(objects, fleet)...).Build()
	limiter := workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]()
	w := &world{t: t, server: c, queue: workqueue.NewTypedRateLimitingQueue(limiter)}
	w.Reconciler = &Reconciler{Options: []podrank.Option{podrank.WithNow(now)}}
	w.Client = interceptor.NewClient(c, interceptor.Funcs{Create: w.create, Delete: w.delete, List: w.list})
	w.deliver()
	return w
}

func (w *world) create(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.creates++
	if err := w.failCreates[w.creates]; err != nil {
		return err
	}
	// Of five random characters, two in 700 are the same in one run of 60.
	object.SetName(fmt.Sprint(object.GetGenerateName(), w.creates))
	err := c.Create(ctx, object, options...)
	w.events = append(w.events, func() {
		w.podEvents().Create(ctx, event.CreateEvent{Object: object}, w.queue)
	})
	return err
}

func (w *world) delete(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
	if w.atOnce.Add(1) > w.most.Load() {
		w.most.Store(w.atOnce.Load())
	}
	time.Sleep(w.slow)
	defer w.atOnce.Add(-1)
	if err := w.failDeletes[object.GetName()]; err != nil {
		return err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	err := c.Delete(ctx, object, options...)
	if err == nil {
		w.events = append(w.events, func() {
			// The Reconciler sees the deletion when it begins, and when the pod is gone.
			ending := object.(*corev1.Pod).DeepCopy()
			ending.DeletionTimestamp = &metav1.Time{Time: now}
			w.podEvents().Update(ctx, event.UpdateEvent{ObjectOld: object, ObjectNew: ending}, w.queue)
			w.podEvents().Delete(ctx, event.DeleteEvent{Object: ending}, w.queue)
		})
	}
	return err
}

func (w *world) list(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	pods, ok := list.(*corev1.PodList)
	if !ok {
		return c.List(ctx, list, options...)
	}
	var asked client.ListOptions
	asked.ApplyOptions(options)
	uid, ok := "", false
	if asked.FieldSelector != nil {
		uid, ok = asked.FieldSelector.RequiresExactMatch(ownerIndex)
	}
	if !ok {
		w.t.Error("pods are listed without the index")
	}
	for _, pod := range w.seen {
		if slices.Contains(owners(&pod), uid) {
			pods.Items = append(pods.Items, *pod.DeepCopy())
		}
	}
	return nil
}

// deliver passes pending events to the Reconciler, and returns whether there were any.
func (w *world) deliver() bool {
	w.t.Helper()
	events := w.events
	w.seen, w.events = w.pods(), nil
	for _, event := range events {
		event()
	}
	return len(events) > 0
}

func (w *world) reconcile() (ctrl.Result, error) {
	return w.Reconcile(context.Background(), ctrl.Request{NamespacedName: web})
}

// settle reconciles until there is nothing to see any more, and returns the names of the pods.
func (w *world) settle() []string {
	w.t.Helper()
	for range 10 {
		w.sync()
		if !w.deliver() {
			break
		}
	}
	return w.names()
}

func (w *world) names() (names []string) {
	w.t.Helper()
	for _, pod := range w.pods() {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	return names
}

// expects checks how many creations and deletions are expected after this.
func (w *world) expects(after string, creations, deletions int64) {
	w.t.Helper()
	value, _ := w.expectations.Load(web)
	if e := value.(*expectations); e.Creations() != creations || e.Deletions() != deletions {
		w.t.Errorf("after %s: %d creations and %d deletions are expected", after, e.Creations(), e.Deletions())
	}
}

// stay waits until the Reconciler is at rest, and checks which pods it has kept.
func (w *world) stay(want ...string) {
	w.t.Helper()
	if got := w.settle(); !slices.Equal(got, want) {
		w.t.Errorf("%v stay, want %v", got, want)
	}
}

// pods are those on the server.
func (w *world) pods() []corev1.Pod {
	w.t.Helper()
	var list corev1.PodList
	w.must(w.server.List(context.Background(), &list))
	return list.Items
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// sync reconciles, with no error.
func (w *world) sync() ctrl.Result {
	w.t.Helper()
	result, err := w.reconcile()
	w.must(err)
	return result
}

func (w *world) fleet() *Fleet {
	w.t.Helper()
	var fleet Fleet
	w.must(w.server.Get(context.Background(), web, &fleet))
	return &fleet
}

func (w *world) change(change func(*Fleet)) {
	w.t.Helper()
	fleet := w.fleet()
	change(fleet)
	w.must(w.server.Update(context.Background(), fleet))
}

// pod is a running pod of the Fleet, ready for an hour.
func pod(name string, number int, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", number)),
		Labels: map[string]string{"app": "web"},
	}}
	p.Spec.NodeName, p.Status.Phase = name, corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	}}
	for _, change := range changes {
		change(p)
	}
	return p
}

func TestScaleDown(t *testing.T) {
	w := cluster(t, 2,
		pod("cheap", 1, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "-5"} }),
		pod("steady", 2),
		pod("restarted", 3, func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 4}} }),
		pod("pending", 4, func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending }),
		pod("dear", 5, func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "5"} }),
		pod("finished", 6, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		pod("stranger", 7, func(p *corev1.Pod) { p.Labels = nil }),
	)
	w.stay("dear", "finished", "steady", "stranger")
	if status := w.fleet().Status; status != (FleetStatus{2, 2, 2}) {
		t.Errorf("status %+v", status)
	}
	w.expects("all", 0, 0)
}

func TestScaleUpAndAway(t *testing.T) {
	w := cluster(t, 3)
	if got := w.settle(); len(got) != 3 {
		t.Errorf("%v", got)
	}
	w.change(func(f *Fleet) { f.Spec.Replicas = 0 })
	w.stay()
	w.must(w.server.Delete(context.Background(), w.fleet()))
	w.settle()
	if _, ok := w.expectations.Load(web); ok {
		t.Error("a Fleet that is gone expects something")
	}
}

// Until what was asked for is seen, nothing is asked for again.
func TestNothingIsAskedForTwice(t *testing.T) {
	w := cluster(t, 3)
	for range 3 {
		if result := w.sync(); w.creates != 3 || result.RequeueAfter != podrank.ExpectationsTimeout {
			t.Errorf("%d creations, %+v", w.creates, result)
		}
	}
	w.deliver()
	if w.queue.Len() != 1 {
		t.Errorf("%d Fleets are to be looked at", w.queue.Len())
	}
	w.change(func(f *Fleet) { f.Spec.Replicas = 1 })
	for range 3 {
		if w.sync(); len(w.names()) != 1 {
			t.Errorf("%v", w.names())
		}
		// One of two is seen, and seen again, and a pod of no account.
		w.events[0]()
		stranger := pod("stranger", 9)
		w.podEvents().Delete(context.Background(), event.DeleteEvent{Object: stranger}, w.queue)
	}
	w.expects("one of two deletions", 0, 1)
	w.deliver()
	if result := w.sync(); result != (ctrl.Result{}) || len(w.names()) != 1 || w.creates != 3 {
		t.Errorf("%+v, %v", result, w.names())
	}
}

// Somebody creates a Fleet with the name of another, whose deletion the Reconciler has not seen. Expectations and pods
// of the old one do not count.
func TestARecreatedFleetStartsAnew(t *testing.T) {
	w := cluster(t, 3)
	w.sync()
	late := w.events
	w.events = nil
	again := w.fleet()
	w.must(w.server.Delete(context.Background(), again))
	again.UID, again.ResourceVersion = "f2", ""
	w.must(w.server.Create(context.Background(), again))
	if w.sync(); w.creates != 6 {
		t.Errorf("%d creations", w.creates)
	}
	for _, event := range late {
		event()
	}
	w.expects("events of the first Fleet's pods", 3, 0)
	w.deliver()
	w.expects("all events", 0, 0)
}

func TestWhatEventsTell(t *testing.T) {
	ctx, a := context.Background(), pod("a", 1)
	w := cluster(t, 3, a)
	events, ending := w.podEvents(), a.DeepCopy()
	ending.DeletionTimestamp = &metav1.Time{Time: now}
	w.sync()
	events.Update(ctx, event.UpdateEvent{ObjectOld: a, ObjectNew: a}, w.queue)
	w.expects("a change", 2, 0)
	events.Create(ctx, event.CreateEvent{Object: ending}, w.queue)
	w.expects("a pod that was being deleted when it was first seen", 2, 0)
	events.Create(ctx, event.CreateEvent{Object: a}, w.queue)
	w.expects("a new pod", 1, 0)

	w.deliver()
	w.change(func(f *Fleet) { f.Spec.Replicas = 0 })
	w.sync()
	w.expects("nothing yet", 0, 3)
	events.Update(ctx, event.UpdateEvent{ObjectOld: a, ObjectNew: a}, w.queue)
	w.expects("a change", 0, 3)
	events.Update(ctx, event.UpdateEvent{ObjectOld: a, ObjectNew: ending}, w.queue)
	w.expects("the beginning of a deletion", 0, 2)
	events.Delete(ctx, event.DeleteEvent{Object: ending}, w.queue)
	w.expects("its end", 0, 2)

	for w.queue.Len() > 0 {
		item, _ := w.queue.Get()
		w.queue.Done(item)
	}
	released := a.DeepCopy()
	released.OwnerReferences = nil
	if events.Update(ctx, event.UpdateEvent{ObjectOld: a, ObjectNew: released}, w.queue); w.queue.Len() != 1 {
		t.Error("the Fleet that a pod leaves is not told")
	}
}

func TestFailingCreations(t *testing.T) {
	quota := errors.New("the quota is used up")
	w := cluster(t, 10)
	// Of the second batch, of two: the third is not tried.
	w.failCreates = map[int]error{3: quota}
	if _, err := w.reconcile(); !errors.Is(err, quota) || w.creates != 3 || len(w.names()) != 2 {
		t.Errorf("%v, %d creations, %v", err, w.creates, w.names())
	}
	w.expects("a failure", 2, 0)
	if w.sync(); w.creates != 3 {
		t.Errorf("%d creations", w.creates)
	}
	w.deliver()
	if got := w.settle(); len(got) != 10 || w.creates != 11 {
		t.Errorf("%d creations, %v", w.creates, got)
	}
}

// In a namespace that is terminating, failed creations are not an error, and remain expected.
func TestTheNamespaceIsTerminating(t *testing.T) {
	refused := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{
		Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
	}}}
	w := cluster(t, 3)
	w.failCreates = map[int]error{1: refused, 2: refused, 3: refused}
	if w.sync(); w.creates != 3 {
		t.Errorf("%d creations", w.creates)
	}
	w.expects("three refusals", 3, 0)
}

// It is not a failure if the pod is gone, or if another pod has its name by now. The Reconciler then waits for no
// event.
func TestFailingDeletions(t *testing.T) {
	broken := errors.New("broken")
	w := cluster(t, 0, pod("a", 1), pod("b", 2), pod("c", 3), pod("d", 4))
	gone := apierrors.NewNotFound(corev1.Resource("pods"), "c")
	other := apierrors.NewConflict(corev1.Resource("pods"), "d", errors.New("the UID in the precondition is another"))
	w.failDeletes = map[string]error{"b": broken, "c": gone, "d": other}
	if _, err := w.reconcile(); !errors.Is(err, broken) || errors.Is(err, gone) || errors.Is(err, other) {
		t.Errorf("%v", err)
	}
	w.expects("a failure: only that of a is to come", 0, 1)
	w.deliver()
	w.failDeletes = nil
	w.stay()
}

func TestAvailability(t *testing.T) {
	since := func(ago time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(-ago)) }
	}
	w := cluster(t, 3, pod("a", 1, since(90*time.Minute)), pod("b", 2, since(30*time.Minute)), pod("c", 3, since(0)))
	w.change(func(f *Fleet) { f.Spec.MinReadySeconds = 3600 })
	if result := w.sync(); result.RequeueAfter < 29*time.Minute || result.RequeueAfter > 31*time.Minute {
		t.Errorf("%+v", result)
	}
	if status := w.fleet().Status; status != (FleetStatus{3, 3, 1}) {
		t.Errorf("status %+v", status)
	}
}

// Deletions are sent concurrently, but at most inFlight of them.
func TestDeletionsAreInFlightTogether(t *testing.T) {
	var pods []client.Object
	for i := range 3 * inFlight {
		pods = append(pods, pod(fmt.Sprint("p", i), i+1))
	}
	w := cluster(t, 0, pods...)
	w.slow = 5 * time.Millisecond
	if w.sync(); len(w.names()) != 0 {
		t.Errorf("%v", w.names())
	}
	if most := w.most.Load(); most < 2 || most > inFlight {
		t.Errorf("%d deletions in flight", most)
	}
}
