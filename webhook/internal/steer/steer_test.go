package steer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/barrier"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

var now, uid = fakeapi.Now, fakeapi.UID

// shop is a set of 6 ready pods, of which 3 are on spot nodes, with a policy that wants those to be deleted first.
type shop struct {
	testing.TB
	*fakeapi.API
	*steer.Steerer
	set    *appsv1.ReplicaSet
	policy *v1alpha1.ScaleDownPolicy
	// barrier is what happens while the barrier pod is awaited.
	barrier func(context.Context) error
	// asked is how many requests there were.
	asked int
}

func (s *shop) Wait(ctx context.Context) error {
	if s.barrier == nil {
		return nil
	}
	return s.barrier(ctx)
}

func newShop(t *testing.T, change func(*shop, []*corev1.Pod)) *shop { return newShopOf(t, 6, change) }

func newShopOf(t *testing.T, count int32, change func(*shop, []*corev1.Pod)) *shop {
	set, policy, pods := fakeapi.Shop(count)
	s := &shop{TB: t, set: set, policy: policy}
	if change != nil {
		change(s, pods)
	}
	s.API = fakeapi.New(fakeapi.All(pods, s.set, s.policy, node("node-0", "reserved"), node("node-1", "spot"))...)
	s.Steerer = s.NewSteerer(s.Wait, now)
	return s
}

func node(name, lifecycle string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"lifecycle": lifecycle}}}
}

// observes has the policy only observe.
func observes(s *shop, _ []*corev1.Pod) { s.policy.Spec.Mode = v1alpha1.Observe }

// other makes a pod's cost somebody else's.
func other(pod *corev1.Pod, manager, cost string) {
	pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
	fakeapi.Manage(pod, manager, corev1.PodDeletionCost)
}

// ofTemplate gives all pods the cost of their template.
func ofTemplate(s *shop, pods []*corev1.Pod) {
	s.set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
	for _, pod := range pods {
		other(pod, "kube-controller-manager", "10")
	}
}

// request lowers the count.
func (s *shop) request(to int32) steer.Request {
	s.asked++
	request := steer.Request{UID: uid(5, s.asked), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), To: to}
	// As the API server has it, unless it has been deleted.
	set := &appsv1.ReplicaSet{}
	if err := s.Get(context.Background(), request.Key, set); err != nil {
		set = s.set
	}
	request.From, request.SetUID, request.SetVersion = *set.Spec.Replicas, set.UID, set.ResourceVersion
	return request
}

// fall lowers the count, with this result. It is another scale-down than those before.
func (s *shop) fall(to int32, result steer.Result, message string) *steer.Outcome {
	s.Helper()
	s.renew()
	return s.repeat(to, result, message)
}

// renew gives the set another generation, as each change of its spec does.
func (s *shop) renew() {
	set := &appsv1.ReplicaSet{}
	if err := s.Get(context.Background(), fakeapi.Key("web"), set); err == nil {
		set.Generation++
		_ = s.Update(context.Background(), set)
	}
}

// repeat asks about the scale-down again.
func (s *shop) repeat(to int32, result steer.Result, message string) *steer.Outcome {
	s.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	o := s.Steer(ctx, s.request(to))
	s.is(o, result, message)
	return o
}

// fails lowers the count, for which there is no barrier pod.
func (s *shop) fails(to int32) *steer.Outcome {
	s.Helper()
	s.barrier = func(context.Context) error { return errors.New("no barrier pod") }
	defer func() { s.barrier = nil }()
	return s.fall(to, steer.Unsettled, "no barrier pod")
}

// costs are the costs and annotations of all pods.
func (s *shop) costs() map[string]string {
	s.Helper()
	var pods corev1.PodList
	fakeapi.Must(s, s.List(context.Background(), &pods))
	costs := map[string]string{}
	for _, pod := range pods.Items {
		value, ok := pod.Annotations[corev1.PodDeletionCost]
		steered, annotated := cost.SteeredOf(&pod)
		if ok || annotated {
			costs[pod.Name] = value
			if annotated {
				costs[pod.Name] += fmt.Sprintf(" to %d", steered.Count)
			}
		}
	}
	return costs
}

func (s *shop) is(o *steer.Outcome, result steer.Result, message string) {
	s.Helper()
	if o.Result != result || !strings.Contains(o.Message, message) {
		s.Fatalf("%s: %s", o.Result, o.Message)
	}
}

func (s *shop) same(want map[string]string) {
	s.Helper()
	if got := s.costs(); fmt.Sprint(got) != fmt.Sprint(want) {
		s.Fatalf("costs: %v, not %v", got, want)
	}
}

func names(pods []cost.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Key.Name)
	}
	slices.Sort(names)
	return names
}

// failed has all pods failed, so that none counts.
func failed(_ *shop, pods []*corev1.Pod) {
	for _, pod := range pods {
		pod.Status.Phase = corev1.PodFailed
	}
}

// tooLarge gives one pod more metadata than is read.
func tooLarge(_ *shop, pods []*corev1.Pod) {
	pods[4].Labels = map[string]string{"app": "web", "large": strings.Repeat("x", 400<<10)}
}

// observing is a change of a shop whose policy only observes.
func observing(change func(*shop, []*corev1.Pod)) func(*shop, []*corev1.Pod) {
	return func(s *shop, pods []*corev1.Pod) {
		observes(s, pods)
		change(s, pods)
	}
}

// predicts an outcome: until it is compared, six pods are held.
func (s *shop) predicts(o *steer.Outcome) {
	before := s.Limits.Held("shop")
	fakeapi.Must(s, s.Predict(o))
	if after := s.Limits.Held("shop"); before != 6 || after != 6 {
		s.Errorf("%d before the prediction, %d after", before, after)
	}
	s.over(o.To)
	if c := s.Compare(context.Background(), o); c.Without != steer.PodsChanged {
		s.Errorf("all pods are kept: %+v", c)
	}
	o.Release()
}

// over gives the set a count, as if its controller had done its work, although all pods are kept.
func (s *shop) over(count int32) {
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Spec.Replicas = &count
	fakeapi.Must(s, s.Update(context.Background(), set))
	set.Status.Replicas, set.Status.ObservedGeneration = count, set.Generation
	fakeapi.Must(s, s.API.Status().Update(context.Background(), set))
}

// One fall, what comes of it, and the costs then. Whatever comes of it, the pods that were read for it are forgotten. Only those that wait for a prediction
// are not.
func TestFalls(t *testing.T) {
	for name, c := range map[string]struct {
		to      int32
		result  steer.Result
		message string
		change  func(*shop, []*corev1.Pod)
		costs   map[string]string
	}{
		"to 0":                          {0, steer.NothingToDo, "", nil, nil},
		"a rise":                        {7, steer.NothingToDo, "", nil, nil},
		"the same":                      {6, steer.NothingToDo, "", nil, nil},
		"no active pods":                {4, steer.NothingToDo, "", failed, nil},
		"no active pods, only observed": {4, steer.NothingToDo, "", observing(failed), nil},
		"only observed":                 {3, steer.Observed, "", observes, nil},
		"a large pod":                   {3, steer.Failed, "the metadata of pod web-4 has more than 384 KiB", tooLarge, nil},
		"a large pod, only observed":    {3, steer.Failed, "the metadata of pod web-4 has more than 384 KiB", observing(tooLarge), nil},
		"a set that is being deleted": {4, steer.NothingToDo, "", func(s *shop, _ []*corev1.Pod) {
			at := metav1.NewTime(now)
			s.set.DeletionTimestamp, s.set.Finalizers = &at, []string{"foregroundDeletion"}
		}, nil},
		"another set's policy": {4, steer.NoPolicy, "", func(s *shop, _ []*corev1.Pod) {
			s.policy.Spec.Selector.MatchLabels = map[string]string{"app": "api"}
		}, nil},
		"a policy elsewhere": {4, steer.NoPolicy, "", func(s *shop, _ []*corev1.Pod) { s.policy.Namespace = "elsewhere" }, nil},
		"no room": {4, steer.NoRoom, "leave no room", func(_ *shop, pods []*corev1.Pod) {
			other(pods[0], "somebody", "-2147483648")
		}, map[string]string{"web-0": "-2147483648"}},
		"somebody's low cost on a pod that is kept": {3, steer.Steered, "", func(_ *shop, pods []*corev1.Pod) {
			other(pods[0], "somebody", "-7")
		}, map[string]string{"web-0": "-7", "web-1": "-8 to 3", "web-3": "-8 to 3", "web-5": "-8 to 3"}},
		"kubectl podrank is at work": {4, steer.StoodAside, "web-2", func(_ *shop, pods []*corev1.Pod) {
			other(pods[2], cost.Terminal, "-1")
		}, map[string]string{"web-2": "-1"}},
		"pods that are not the set's own": {3, steer.Steered, "", func(_ *shop, pods []*corev1.Pod) {
			pods[1].OwnerReferences, pods[3].OwnerReferences = nil, nil
		}, map[string]string{"web-5": "-1 to 3"}},
		"the template's cost": {3, steer.Steered, "", ofTemplate, map[string]string{
			"web-0": "10", "web-1": "9 to 3", "web-2": "10", "web-3": "9 to 3", "web-4": "10", "web-5": "9 to 3",
		}},
		// This program once wrote the same, so that both manage it: it takes force to write another.
		"the template's cost, which is shared": {3, steer.Steered, "", func(s *shop, pods []*corev1.Pod) {
			ofTemplate(s, pods)
			for _, pod := range pods {
				fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost)
			}
		}, map[string]string{
			"web-0": "10", "web-1": "9 to 3", "web-2": "10", "web-3": "9 to 3", "web-4": "10", "web-5": "9 to 3",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, c.change)
			o := s.fall(c.to, c.result, c.message)
			s.same(c.costs)
			if c.result == steer.Observed {
				s.predicts(o)
			}
			if held := s.Limits.Held("shop"); held != 0 {
				t.Errorf("%d pods", held)
			}
			if c.result != steer.Steered && len(s.Written()) != 0 {
				t.Errorf("written: %v", s.Written())
			}
		})
	}
}

// Admission asked twice writes no cost the second time, and a further fall only those that differ. Annotations name the last request.
func TestAskedAgain(t *testing.T) {
	s := newShop(t, nil)
	if o := s.fall(5, steer.Steered, ""); len(o.Selected) != 1 || o.Written != 1 {
		t.Fatalf("selected %v, %d written", o.Selected, o.Written)
	}
	o := s.fall(5, steer.Steered, "")
	if len(s.Written()) != 2 || o.Written != 0 || len(o.Selected) != 1 {
		t.Fatalf("%v", s.Written())
	}
	o = s.fall(3, steer.Steered, "")
	if len(s.Written()) != 5 || o.Written != 2 {
		t.Fatalf("%v", s.Written())
	}
	s.same(map[string]string{"web-1": "-1 to 3", "web-3": "-1 to 3", "web-5": "-1 to 3"})
}

// once does something before the first write to web-1. It returns whether that has happened.
func (s *shop) once(do func() error) *bool {
	happened := new(bool)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name != "web-1" || *happened {
			return nil
		}
		*happened = true
		return do()
	}
	return happened
}

// refuse refuses all costs of a pod.
func (s *shop) refuse(pod string, err error) {
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == pod && len(write.Annotations) > 0 {
			return err
		}
		return nil
	}
}

// overwrite has another manager set the cost of web-1 just before it is first written to. It returns whether that has happened.
func (s *shop) overwrite(manager, value string) *bool {
	return s.once(func() error {
		pod := fakeapi.Read[corev1.Pod](s, s.API, "web-1")
		pod.Annotations = map[string]string{corev1.PodDeletionCost: value}
		return s.Update(context.Background(), pod, client.FieldOwner(manager))
	})
}

// If somebody overwrites the template's cost just before the webhook, the webhook keeps that cost.
func TestCostOfTemplateChanges(t *testing.T) {
	s := newShop(t, ofTemplate)
	happened := s.overwrite("somebody", "7")
	s.fall(3, steer.Steered, "")
	if costs := s.costs(); !*happened || costs["web-1"] != "7 to 3" {
		t.Fatal(costs)
	}
}

// Somebody writes a cost while costs are written: that one is fixed from then on, and the other costs change.
func TestConflictOnce(t *testing.T) {
	s := newShop(t, nil)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-1" && write.Annotations[corev1.PodDeletionCost] == "-1" {
			return fakeapi.Theirs("web-1")
		}
		return nil
	}
	// It counts as 0, so that those that are kept have to be deleted above it.
	s.fall(3, steer.Steered, "")
	s.same(map[string]string{"web-0": "1 to 3", "web-1": " to 3", "web-2": "1 to 3", "web-3": "-1 to 3", "web-4": "1 to 3", "web-5": "-1 to 3"})
}

// The costs that were written for a request are kept, whatever the result of the request.
func TestStands(t *testing.T) {
	all := map[string]string{"web-1": "-1 to 3", "web-3": "-1 to 3", "web-5": "-1 to 3"}
	for name, c := range map[string]struct {
		result  steer.Result
		message string
		// before is what is prepared. It may end the request.
		before func(s *shop, stop func())
		stands map[string]string
	}{
		"pods that change again and again": {steer.Unsettled, "the pod has been deleted", func(s *shop, _ func()) { s.refuse("web-1", deleted("web-1")) },
			map[string]string{"web-3": "-1 to 3", "web-5": "-1 to 3"}},
		"no right to write": {steer.Unsettled, "forbidden", func(s *shop, _ func()) {
			s.refuse("web-1", apierrors.NewForbidden(corev1.Resource("pods"), "web-1", errors.New("no")))
		}, map[string]string{"web-3": "-1 to 3", "web-5": "-1 to 3"}},
		"no barrier pod": {steer.Unsettled, "no barrier pod", func(s *shop, _ func()) {
			s.barrier = func(context.Context) error { return errors.New("no barrier pod") }
		}, all},
		"a barrier pod that nobody could watch": {steer.Unconfirmed, "nobody could watch", func(s *shop, _ func()) {
			s.barrier = func(context.Context) error { return barrier.ErrLost }
		}, all},
		"a policy that is deleted": {steer.Unsettled, "deleted", func(s *shop, _ func()) {
			s.barrier = func(ctx context.Context) error { return s.Delete(ctx, s.policy) }
		}, all},
		"nobody who waits": {steer.Unsettled, "context canceled", func(s *shop, stop func()) {
			s.barrier = func(ctx context.Context) error {
				stop()
				return ctx.Err()
			}
		}, all},
		"kubectl podrank, which begins to steer": {steer.StoodAside, "web-1", func(s *shop, _ func()) {
			s.overwrite(cost.Terminal, "-7")
		}, map[string]string{"web-1": "-7", "web-3": "-1 to 3", "web-5": "-1 to 3"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, nil)
			ctx, stop := context.WithTimeout(context.Background(), time.Minute)
			defer stop()
			c.before(s, stop)
			o := s.Steer(ctx, s.request(3))
			s.is(o, c.result, c.message)
			s.same(c.stands)
			// The same replica decides once.
			written := len(s.Written())
			again := steer.Repeated
			if c.message == "deleted" {
				again = steer.NoPolicy
			}
			if o := s.Steer(context.Background(), s.request(3)); o.Result != again || len(s.Written()) != written {
				t.Errorf("again: %s, %d more writes", o.Result, len(s.Written())-written)
			}
		})
	}
}

// A decision writes to a pod once, although another plan wants it to be kept when pods have changed.
func TestPlannedAgain(t *testing.T) {
	s := newShop(t, nil)
	s.once(func() error {
		// The other selected pods are written to all the same.
		for _, name := range []string{"web-0", "web-2"} {
			pod := fakeapi.Read[corev1.Pod](t, s.API, name)
			pod.Status.Conditions = nil
			if err := s.Status().Update(context.Background(), pod); err != nil {
				return err
			}
		}
		return deleted("web-1")
	})
	s.fall(3, steer.Unsettled, "a pod is written to once for each decision")
	writes := map[string]int{}
	for _, write := range s.Written() {
		if writes[write.Name]++; writes[write.Name] > 1 {
			t.Errorf("%s was written to again", write.Name)
		}
	}
	if len(writes) < 4 {
		t.Errorf("%v: no other pod was selected, so this shows nothing", writes)
	}
}

func deleted(name string) error {
	return apierrors.NewConflict(corev1.Resource("pods"), name, errors.New("uid mismatch"))
}

// If the controller is late to confirm that it has seen the costs, the program keeps them, and the comparison decides.
func TestUnconfirmed(t *testing.T) {
	s := newShop(t, nil)
	ctx, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer stop()
	s.barrier = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	o := s.Steer(ctx, s.request(4))
	s.is(o, steer.Unconfirmed, "deadline exceeded")
	if len(s.costs()) != 2 || len(o.Selected) != 2 {
		t.Errorf("%v are left", s.costs())
	}
}

// A dry run changes nothing, and neither does a request that is not about the set as it is now: the API server asks again, and nobody else has to be believed.
func TestStale(t *testing.T) {
	s := newShop(t, nil)
	dry := s.request(4)
	dry.DryRun = true
	if s.is(s.Steer(context.Background(), dry), steer.DryRun, ""); len(s.Written()) != 0 {
		t.Errorf("a dry run: written %v", s.Written())
	}
	for name, change := range map[string]func(*shop, *steer.Request){
		"a set that has been deleted": func(s *shop, _ *steer.Request) { fakeapi.Must(s, s.Delete(context.Background(), s.set)) },
		"another set":                 func(_ *shop, r *steer.Request) { r.SetUID = uid(9, 9) },
		"no set":                      func(_ *shop, r *steer.Request) { r.SetUID = "" },
		"an earlier state":            func(_ *shop, r *steer.Request) { r.SetVersion = "1" },
		"no version":                  func(_ *shop, r *steer.Request) { r.SetVersion = "" },
		"another count":               func(_ *shop, r *steer.Request) { r.From++ },
		"the same, renamed":           func(_ *shop, r *steer.Request) { r.SetUID = uid(1, 1) },
	} {
		s := newShop(t, nil)
		request := s.request(4)
		change(s, &request)
		o := s.Steer(context.Background(), request)
		s.is(o, steer.Stale, "")
		if len(s.Written()) != 0 || o.Result.Concerns() {
			t.Errorf("%s: written %v", name, s.Written())
		}
	}
}

// others are the pods of other sets.
type others []decide.NodePod

func (o others) Wait(context.Context) error           { return nil }
func (o others) Excluding(types.UID) []decide.NodePod { return o }

// A policy that prefers empty nodes empties a whole one. Of two equally good nodes, it chooses one that has no other
// pods, or the one that is cordoned.
func TestEmptyNodes(t *testing.T) {
	for what, make := range map[string]func(s *shop, emptied, kept string){
		"the other is kept": func(s *shop, _, kept string) { s.NodePods = others{{Node: kept, Set: "db"}} },
		"it is cordoned": func(s *shop, emptied, _ string) {
			fakeapi.Must(s, s.Update(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: emptied}, Spec: corev1.NodeSpec{Unschedulable: true}}))
		},
		"it has a taint that the policy names": func(s *shop, emptied, _ string) {
			tainted := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: emptied}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "going"}}}}
			fakeapi.Must(s, s.Update(context.Background(), tainted))
			// All pods match the first preference, so that the second one decides nothing else.
			s.policy.Spec.DeleteFirst = []v1alpha1.Preference{
				{Type: v1alpha1.PreferencePods, Pods: &v1alpha1.LabelSelector{}},
				{Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "going"}},
			}
			fakeapi.Must(s, s.Update(context.Background(), s.policy))
		},
	} {
		for emptied, kept := range map[string]string{"node-0": "node-1", "node-1": "node-0"} {
			s := newShop(t, func(s *shop, _ []*corev1.Pod) {
				s.policy.Spec.DeleteFirst, s.policy.Spec.EmptyNodes = nil, v1alpha1.EmptyNodesPrefer
			})
			s.NodePods = others{}
			make(s, emptied, kept)
			for _, pod := range s.fall(3, steer.Steered, "").Selected {
				if got := fakeapi.Read[corev1.Pod](s, s.API, pod.Key.Name).Spec.NodeName; got != emptied {
					t.Errorf("%s: %s on %s goes, and not only what is on %s", what, pod.Key.Name, got, emptied)
				}
			}
		}
	}
}

// readable checks that somebody can read while a decision about whole nodes is made.
type readable struct{ *shop }

func (readable) Wait(context.Context) error { return nil }

func (r readable) Excluding(types.UID) []decide.NodePod {
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	fakeapi.Must(r, r.Steerer.Live.Alone(ctx, func() error { return nil }))
	return nil
}

func TestReadMeanwhile(t *testing.T) {
	s := newShop(t, func(s *shop, _ []*corev1.Pod) { s.policy.Spec.EmptyNodes = v1alpha1.EmptyNodesPrefer })
	s.Steerer.Live, s.NodePods = bounded.NewReader(s.API, 1), readable{s}
	s.fall(3, steer.Steered, "")
}

// If the cache cannot say whether there is a policy, that is a failure.
func TestNoCache(t *testing.T) {
	s := newShop(t, nil)
	s.Cache = interceptor.NewClient(s.API, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("no cache")
		},
	})
	s.fall(3, steer.Failed, "no cache")
}

// A limited number of requests in one namespace is decided, and each namespace has its own limit. Checking whether
// there is a policy is cheap, however many requests there are.
func TestTooMany(t *testing.T) {
	s := newShop(t, nil)
	s.Limits = steer.NewLimits(1)
	var limits []int64
	s.Cache = interceptor.NewClient(s.API, interceptor.Funcs{
		List: func(ctx context.Context, cache client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*v1alpha1.ScaleDownPolicyList); ok {
				limits = append(limits, (&client.ListOptions{}).ApplyOptions(options).Limit)
			}
			return cache.List(ctx, list, options...)
		},
	})
	began := time.Now()
	for range 3 {
		s.fall(4, steer.Steered, "")
	}
	// Requests about sets of other UIDs, or of none, count with them.
	junk := s.request(4)
	junk.SetUID = uid(9, 1)
	s.is(s.Steer(context.Background(), junk), steer.Stale, "")
	junk = s.request(4)
	junk.Key.Name, junk.SetUID = "other", uid(9, 2)
	s.is(s.Steer(context.Background(), junk), steer.Stale, "")
	if time.Since(began) > time.Second/2 {
		t.Skip("this machine is too slow to ask so often in a second")
	}
	for range 3 {
		if o := s.fall(4, steer.TooMany, ""); o.Result.Concerns() {
			t.Error("it is told of each")
		}
	}
	elsewhere := s.request(4)
	elsewhere.Key.Namespace = "elsewhere"
	set := s.set.DeepCopy()
	set.Namespace, set.ResourceVersion = "elsewhere", ""
	s.Make(t, set)
	for range 6 {
		s.is(s.Steer(context.Background(), elsewhere), steer.NoPolicy, "")
	}
	if !slices.Equal(limits, slices.Repeat([]int64{1}, 14)) {
		t.Errorf("lists of policies: %v", limits)
	}
}

// A rollout shrinks the set.
func TestRollout(t *testing.T) {
	rollout := func(rollouts v1alpha1.Rollouts, isScale bool, newest string, result steer.Result) []string {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: uid(4, 0), Annotations: map[string]string{"deployment.kubernetes.io/revision": newest},
		}}
		s := newShop(t, func(s *shop, pods []*corev1.Pod) {
			s.policy.Spec.Rollouts = rollouts
			s.set.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
			s.set.OwnerReferences = []metav1.OwnerReference{
				*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment")),
			}
			s.set.Spec.MinReadySeconds = 60
			// Ready, but not long enough, and on the reserved node.
			pods[2].Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-30 * time.Second))
		})
		fakeapi.Must(t, s.Create(context.Background(), deployment))
		request := s.request(5)
		request.IsScale = isScale
		o := s.Steer(context.Background(), request)
		s.is(o, result, "")
		return names(o.Selected)
	}
	rollout(v1alpha1.RolloutsIgnore, false, "2", steer.RolloutIgnored)
	if got := rollout(v1alpha1.RolloutsSteer, false, "2", steer.Steered); got[0] != "web-2" {
		t.Errorf("%v is deleted first", got)
	}
	// The Deployment is scaled in the middle of a rollout, and its old set gets its share.
	if got := rollout(v1alpha1.RolloutsIgnore, true, "2", steer.Steered); got[0] != "web-2" {
		t.Errorf("%v is deleted first", got)
	}
	// The newest set is not one that a rollout shrinks.
	if got := rollout(v1alpha1.RolloutsIgnore, false, "1", steer.Steered); got[0] == "web-2" {
		t.Errorf("%v is deleted first", got)
	}
}

// withRelatedSets has so many other sets of the same controller beside it, with a pod each, which change may change.
func withRelatedSets(t *testing.T, count int, change func(int, *appsv1.ReplicaSet)) *shop {
	isController := true
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: uid(4, 0), Controller: &isController}
	s := newShop(t, func(s *shop, _ []*corev1.Pod) { s.set.OwnerReferences = []metav1.OwnerReference{owner} })
	for i := range count {
		relatedSet := s.set.DeepCopy()
		relatedSet.Name, relatedSet.UID, relatedSet.ResourceVersion = fmt.Sprint("old-", i), uid(7, i), ""
		change(i, relatedSet)
		pod := fakeapi.Read[corev1.Pod](t, s.API, "web-1")
		pod.Name, pod.UID, pod.ResourceVersion = relatedSet.Name+"-0", uid(8, i), ""
		pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = relatedSet.Name, relatedSet.UID
		pod.Labels = relatedSet.Spec.Template.Labels
		s.Make(t, relatedSet, pod)
	}
	return s
}

// A prediction takes long if there are many pods. It is not made while the request waits. Requests of a namespace with few pods in all are observed
// at a time, until they have been compared.
func TestPredictedLater(t *testing.T) {
	s := newShopOf(t, 3_000, observes)
	first := s.fall(2_999, steer.Observed, "")
	if first.Prediction != nil {
		t.Fatal("predicted while the request waits")
	}
	s.fall(2_999, steer.TooMany, "at most 5000 of a namespace are in memory, and 20000 in all")
	fakeapi.Must(t, s.Predict(first))
	s.fall(2_999, steer.TooMany, "at most 5000 of a namespace are in memory, and 20000 in all")
	first.Release()
	s.fall(2_999, steer.Observed, "")
}

// What anyone who makes sets and pods can make large is refused, and does not fill the memory.
func TestLarge(t *testing.T) {
	large := strings.Repeat("x", 400<<10)
	s := newShop(t, func(s *shop, _ []*corev1.Pod) {
		s.set.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: "NotIn", Values: []string{large[:63]}}}
		for i := range 400 {
			values := &s.set.Spec.Selector.MatchExpressions[0].Values
			*values = append(*values, fmt.Sprint(large[:50], i))
		}
	})
	s.fall(3, steer.Failed, "the selector of ReplicaSet web has more than 16 KiB")
	s = newShop(t, func(s *shop, _ []*corev1.Pod) {
		isController := true
		s.set.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "a", Name: large, UID: "b", Controller: &isController}}
	})
	s.fall(3, steer.Failed, "its controller has more than 16 KiB")
	// What is kept of a set, and of pods, is little.
	s = newShop(t, func(s *shop, pods []*corev1.Pod) {
		s.set.Annotations = map[string]string{"example.com/large": large}
		s.set.Spec.Template.Annotations = map[string]string{"example.com/large": large, cost.Annotation: large}
		s.policy.Annotations, s.policy.Labels = map[string]string{"example.com/large": large}, map[string]string{"large": large}
		s.policy.Spec.Mode = v1alpha1.Observe
	})
	o := s.fall(3, steer.Observed, "")
	if size := len(fmt.Sprint(o.Set, o.Set.Object, o.Policy)); size > 5_000 || o.Set.TemplateLabels != nil || len(o.Set.TemplateAnnotations) != 0 {
		t.Errorf("%d bytes: %+v", size, o.Set)
	}
}

// What waits to be reported remembers little: pods only if their costs have to be removed or their names are recorded, and the selector only if it is to be
// compared.
func TestForget(t *testing.T) {
	s := newShop(t, nil)
	steered := s.fall(4, steer.Steered, "")
	s.Before = func(*fakeapi.Write) error { return errors.New("no right to write") }
	failed := s.fall(3, steer.Failed, "no right to write")
	observing := newShop(t, observes)
	observed := observing.fall(4, steer.Observed, "")
	// Reserved ones that are not ready.
	many := newShopOf(t, 60, func(_ *shop, pods []*corev1.Pod) {
		for i := 0; i < len(pods); i += 2 {
			pods[i].Status.Conditions = nil
		}
	})
	unsteerable := many.fall(40, steer.Steered, "")
	if unsteerable.UnsteerableCount != 20 || unsteerable.Unsteerable[0].Rule != "not-ready" || len(unsteerable.Unsteerable) != 5 || cap(unsteerable.Unsteerable) > 8 {
		t.Errorf("%d: %v", unsteerable.UnsteerableCount, unsteerable.Unsteerable)
	}
	large := &steer.Outcome{Result: steer.Steered, Selected: make([]cost.Pod, 101), Whys: make([]steer.Why, 101)}
	for _, o := range []*steer.Outcome{steered, failed, observed, large} {
		o.Forget()
	}
	if len(large.Selected) != 100 || len(large.Whys) != 100 || cap(large.Selected) > 128 {
		t.Errorf("%d of %d pods, %d reasons", len(large.Selected), cap(large.Selected), len(large.Whys))
	}
	if len(steered.Selected) != 2 || len(steered.Whys) != 2 || steered.Set.Selector != nil || steered.Count != 2 {
		t.Errorf("%+v", steered)
	}
	if len(failed.Selected)+len(failed.Whys) > 0 || failed.Set.Selector != nil || failed.Count != 3 {
		t.Errorf("%+v", failed)
	}
	if observed.Set.Selector == nil {
		t.Errorf("%+v", observed)
	}
}

// The pods of a Deployment's other sets count for ranks, if these have any.
func TestRelatedSets(t *testing.T) {
	for _, count := range []int{0, 3} {
		s := withRelatedSets(t, count, func(_ int, relatedSet *appsv1.ReplicaSet) {
			labels := map[string]string{"app": "old"}
			relatedSet.Spec.Selector.MatchLabels, relatedSet.Spec.Template.Labels = labels, labels
		})
		policy := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, s.API, "spot")
		policy.Spec.DeleteFirst[0].Nodes.MatchLabels["lifecycle"] = "none"
		fakeapi.Must(t, s.Update(context.Background(), policy))
		selected := names(s.fall(3, steer.Steered, "").Selected)
		// The other sets' pods are on the node of the pods with odd numbers.
		if isOdd := slices.Equal(selected, []string{"web-1", "web-3", "web-5"}); isOdd != (count > 0) {
			t.Errorf("%d pods of other sets: %v", count, selected)
		}
	}
}

// So many other sets of the same controller cost no request each.
func TestManyRelatedSets(t *testing.T) {
	withRelatedSets(t, 21, func(int, *appsv1.ReplicaSet) {}).fall(3, steer.Failed, "more than 20 other ReplicaSets")
}

// The cache still has another set of the controller, and a pod of it, that has been deleted.
func TestDeletedRelatedSet(t *testing.T) {
	s := withRelatedSets(t, 1, func(_ int, relatedSet *appsv1.ReplicaSet) {
		labels := map[string]string{"app": "old"}
		relatedSet.Spec.Selector.MatchLabels, relatedSet.Spec.Template.Labels = labels, labels
	})
	old := fakeapi.Read[appsv1.ReplicaSet](t, s.API, "old-0")
	policy := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, s.API, "spot")
	s.Cache = fakeapi.New(s.set, old, fakeapi.Read[corev1.Pod](t, s.API, "old-0-0"), policy.DeepCopy())
	fakeapi.Must(t, s.Delete(context.Background(), old))
	policy.Spec.Mode = v1alpha1.Observe
	fakeapi.Must(t, s.Update(context.Background(), policy))
	// Those of the set alone.
	if s.fall(3, steer.Observed, ""); s.Limits.Held("shop") != 6 {
		t.Errorf("%d pods", s.Limits.Held("shop"))
	}
}

// The pods of several sets with one selector are listed once.
func TestOneSelector(t *testing.T) {
	s := withRelatedSets(t, 3, func(i int, relatedSet *appsv1.ReplicaSet) {
		if i == 2 {
			// It selects the same, otherwise.
			relatedSet.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Exists"}}}
		}
	})
	live, reads := s.Counted()
	s.Steerer.Live = live
	if s.fall(3, steer.Steered, ""); reads.Pods.Load() != 2 {
		t.Errorf("%d lists", reads.Pods.Load())
	}
	policy := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, s.API, "spot")
	policy.Spec.Mode = v1alpha1.Observe
	fakeapi.Must(t, s.Update(context.Background(), policy))
	// Nine pods.
	if s.fall(3, steer.Observed, ""); s.Limits.Held("shop") != 9 {
		t.Errorf("%d pods: some count twice", s.Limits.Held("shop"))
	}
}

// Of several policies, the most specific one applies, and of equal ones the one whose name is first, whichever is older.
func TestSeveralPolicies(t *testing.T) {
	s := newShop(t, nil)
	for i, other := range []struct {
		name, applies string
		change        func(*v1alpha1.ScaleDownPolicySpec)
	}{
		{"zoo", "spot", func(*v1alpha1.ScaleDownPolicySpec) {}},
		{"api", "api", func(*v1alpha1.ScaleDownPolicySpec) {}},
		{"web", "web", func(spec *v1alpha1.ScaleDownPolicySpec) { spec.Selector = &ofWeb }},
		{"zebra", "zebra", func(spec *v1alpha1.ScaleDownPolicySpec) {
			spec.Selector, spec.TargetRef = nil, &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web"}
		}},
	} {
		policy := s.policy.DeepCopy()
		policy.Name, policy.UID, policy.ResourceVersion, policy.CreationTimestamp = other.name, uid(2, i+1), "", metav1.NewTime(now.Add(-time.Hour))
		other.change(&policy.Spec)
		s.Make(t, policy)
		if o := s.fall(int32(4-i), steer.Steered, ""); o.Policy.Name != other.applies {
			t.Errorf("%s applies, and not %s", o.Policy.Name, other.applies)
		}
	}
}

// One request at a time reads from a namespace, another one waits, and the program allows all others immediately.
func TestOneAtATime(t *testing.T) {
	for _, mode := range []v1alpha1.Mode{v1alpha1.Steer, v1alpha1.Observe} {
		s := newShopOf(t, 12, func(s *shop, _ []*corev1.Pod) { s.policy.Spec.Mode = mode })
		live, reads := s.Counted()
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		together := func(do func(i int) error) {
			var group sync.WaitGroup
			for i := range 10 {
				group.Go(func() {
					if err := do(i); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if most := reads.Most(); most != 1 {
				t.Errorf("%s: up to %d reads at a time", mode, most)
			}
		}
		s.Steerer.Live = live
		var requests []steer.Request
		var busy atomic.Int64
		for i := range 10 {
			requests = append(requests, s.request(int32(1+i)))
		}
		together(func(i int) error {
			o := s.Steer(ctx, requests[i])
			if o.Result == steer.TooMany {
				busy.Add(1)
			} else if o.Set == nil {
				return errors.New(o.Message)
			}
			return nil
		})
		if busy.Load() == 0 {
			t.Error("more than one request waited for another")
		}
		if count := reads.Count.Load(); count < 5 {
			t.Errorf("%s: only %d reads", mode, count)
		}
	}
}

// A repeated request is answered without a write, and without a read if this replica has just decided. All replicas together decide twice, whatever changes,
// and what stands is let through then.
func TestRepeated(t *testing.T) {
	s := newShop(t, nil)
	live, reads := s.Counted()
	s.Steerer.Live = live
	other := s.NewSteerer(s.Wait, now)
	s.repeat(4, steer.Steered, "")
	written, read := len(s.Written()), reads.Count.Load()
	for range 3 {
		s.repeat(4, steer.Repeated, "")
	}
	if len(s.Written()) != written || reads.Count.Load() != read {
		t.Errorf("%d writes and %d reads more", len(s.Written())-written, reads.Count.Load()-read)
	}
	// The other replica proves that the costs stand, and writes none.
	ask := func(result steer.Result) *steer.Outcome {
		t.Helper()
		o := other.Steer(context.Background(), s.request(4))
		s.is(o, result, "")
		return o
	}
	if o := ask(steer.Steered); o.Decision != 2 || !o.First.Equal(now) {
		t.Errorf("annotations do not tell of the first decision: %+v", o)
	}
	ask(steer.Repeated)
	if len(s.Written()) != written {
		t.Errorf("%d writes more", len(s.Written())-written)
	}
	// A selected pod is deleted: the first replica decides once more, and then nobody does.
	fakeapi.Must(t, s.Delete(context.Background(), fakeapi.Read[corev1.Pod](t, s.API, "web-1")))
	if o := s.repeat(4, steer.Steered, ""); o.Decision != 2 || len(o.Selected) != 1 {
		t.Errorf("%+v", o)
	}
	fakeapi.Must(t, s.Delete(context.Background(), fakeapi.Read[corev1.Pod](t, s.API, "web-3")))
	s.repeat(4, steer.Unsettled, "pods changed after the last decision")
	s.repeat(4, steer.Repeated, "")
	if len(s.Written()) > written+1 {
		t.Errorf("%d writes more", len(s.Written())-written)
	}
}

// A pod that the first decision about a scale-down selected for its foreign cost, and the second does not, is not one that is missed.
func TestNoLongerSelected(t *testing.T) {
	s := newShop(t, func(_ *shop, pods []*corev1.Pod) { other(pods[1], "karpenter", "-5") })
	s.barrier = func(context.Context) error {
		s.barrier = nil
		s.annotate("web-1", "karpenter", "9")
		return nil
	}
	if o := s.fall(5, steer.Steered, ""); o.Decision != 2 {
		t.Errorf("decision %d", o.Decision)
	}
	selected := map[string]bool{}
	for i := range 6 {
		pod := fakeapi.Read[corev1.Pod](t, s.API, fmt.Sprintf("web-%d", i))
		if steered, ok := cost.SteeredOf(pod); ok {
			selected[pod.Name] = steered.Selected
		}
	}
	if want := map[string]bool{"web-1": false, "web-3": true}; !maps.Equal(selected, want) {
		t.Errorf("%v, not %v", selected, want)
	}
}

// Somebody has removed the annotation alone: the cost on which a plan relies stays.
func TestAnnotationRemoved(t *testing.T) {
	s := newShop(t, nil)
	s.fall(3, steer.Steered, "")
	want := s.costs()
	fakeapi.Must(t, s.Patch(context.Background(), fakeapi.Read[corev1.Pod](t, s.API, "web-1"),
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"annotations": {"podrank.dev/steered": null}}}`)), client.FieldOwner("somebody")))
	if o := s.fall(3, steer.Steered, ""); o.Decision > 1 {
		t.Error("it was removed, and written again")
	}
	s.same(want)
}

// The first decision of a scale-down has written costs when the second one finds no turn: its result is not that nothing was steered.
func TestNoTurnForTheSecond(t *testing.T) {
	s := newShop(t, nil)
	s.barrier = func(context.Context) error {
		s.annotate("web-1", "karpenter", "7")
		for s.Limits.HoldTurn("shop") {
		}
		return nil
	}
	s.fall(3, steer.Unsettled, "already wait for their turn")
}

// While the controller is slow to see costs, nobody waits for it: neither does a request that is repeated.
func TestRepeatedWhileSlow(t *testing.T) {
	s := newShop(t, nil)
	waits := 0
	s.barrier = func(ctx context.Context) error {
		waits++
		<-ctx.Done()
		return ctx.Err()
	}
	ask := func(result steer.Result) {
		t.Helper()
		ctx, stop := context.WithTimeout(context.Background(), time.Second/2)
		defer stop()
		s.is(s.Steer(ctx, s.request(3)), result, "")
	}
	for range bounded.DecisionFailures {
		s.renew()
		ask(steer.Unconfirmed)
	}
	s.renew()
	ask(steer.Unconfirmed)
	ask(steer.Repeated)
	if waits != bounded.DecisionFailures {
		t.Errorf("%d waits", waits)
	}
}

// While the cache does not have what a decision has written, it says nothing against it.
func TestLateCache(t *testing.T) {
	s := newShop(t, nil)
	set, policy, pods := fakeapi.Shop(6)
	s.Cache = fakeapi.New(fakeapi.All(pods, set, policy, node("node-0", "reserved"), node("node-1", "spot"))...)
	if o := s.repeat(4, steer.Steered, ""); o.Decision != 1 {
		t.Errorf("decision %d", o.Decision)
	}
}

// A later scale-down between the same counts is another one: the set has another generation, or the first is long over.
func TestNotRepeated(t *testing.T) {
	s := newShop(t, nil)
	s.repeat(4, steer.Steered, "")
	s.fall(4, steer.Steered, "")
	s.Now = func() time.Time { return now.Add(11 * time.Second) }
	s.repeat(4, steer.Steered, "")
	dry := s.request(4)
	dry.DryRun = true
	s.is(s.Steer(context.Background(), dry), steer.DryRun, "")
	s.repeat(4, steer.Repeated, "")
}

// Each selected pod has an annotation, from which any replica learns how the scale-down ends, although only a pod that is kept needs a cost.
func TestMarksSelected(t *testing.T) {
	s := newShop(t, func(_ *shop, pods []*corev1.Pod) {
		for _, i := range []int{1, 3, 5} {
			other(pods[i], "somebody", "-7")
		}
	})
	s.fall(3, steer.Steered, "")
	s.same(map[string]string{"web-1": "-7 to 3", "web-3": "-7 to 3", "web-5": "-7 to 3"})
}

// A set of another controller than a Deployment is steered only if the policy says so, whatever that controller is called. One of a Deployment that was replaced is
// not one that a rollout shrinks.
func TestOtherOwners(t *testing.T) {
	for name, c := range map[string]struct {
		owner    metav1.OwnerReference
		rollouts v1alpha1.Rollouts
		result   steer.Result
	}{
		"an Argo Rollout":                   {metav1.OwnerReference{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout"}, v1alpha1.RolloutsIgnore, steer.RolloutIgnored},
		"an Argo Rollout, with preferences": {metav1.OwnerReference{APIVersion: "argoproj.io/v1alpha1", Kind: "Rollout"}, v1alpha1.RolloutsSteer, steer.Steered},
		"another Deployment":                {metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Deployment"}, v1alpha1.RolloutsIgnore, steer.RolloutIgnored},
		"a Deployment":                      {metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", UID: uid(4, 0)}, v1alpha1.RolloutsIgnore, steer.RolloutIgnored},
		"a Deployment before this one":      {metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", UID: uid(4, 1)}, v1alpha1.RolloutsIgnore, steer.Steered},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, func(s *shop, _ []*corev1.Pod) {
				c.owner.Name, c.owner.Controller = "web", new(true)
				s.policy.Spec.Rollouts, s.set.OwnerReferences = c.rollouts, []metav1.OwnerReference{c.owner}
			})
			newer := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: uid(4, 0), Annotations: map[string]string{workload.Revision: "2"}}}
			fakeapi.Must(t, s.Create(context.Background(), newer))
			s.fall(4, c.result, "")
		})
	}
}

// A set that the cache does not have yet is steered: the API server does not ask again about it.
func TestNewSet(t *testing.T) {
	for name, of := range map[string]func(*metav1.PartialObjectMetadata) error{
		"none yet": func(*metav1.PartialObjectMetadata) error {
			return apierrors.NewNotFound(corev1.Resource("replicasets"), "web")
		},
		"the one before": func(set *metav1.PartialObjectMetadata) error { set.UID = uid(9, 9); return nil },
		"as it is":       nil,
	} {
		s := newShop(t, nil)
		live, reads := s.Counted()
		s.Steerer.Live = live
		s.Cache = interceptor.NewClient(s.API, interceptor.Funcs{
			Get: func(ctx context.Context, cache client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if set, ok := object.(*metav1.PartialObjectMetadata); ok && of != nil && set.Kind == "ReplicaSet" {
					return of(set)
				}
				return cache.Get(ctx, key, object, options...)
			},
		})
		if s.fall(4, steer.Steered, ""); reads.Count.Load() == 0 {
			t.Errorf("%s: no reads", name)
		}
		s.same(map[string]string{"web-1": "-1 to 4", "web-3": "-1 to 4"})
	}
}

// circuit is a shop in which each scale-down has 100 ms while something hangs.
type circuit struct {
	*shop
	at    time.Time
	hangs bool
}

func (c *circuit) falls(times int, result steer.Result, isLate bool) {
	c.Helper()
	for range times {
		c.renew()
		ctx, stop := context.WithTimeout(context.Background(), map[bool]time.Duration{true: 100 * time.Millisecond, false: 10 * time.Second}[isLate])
		c.is(c.Steer(ctx, c.request(4)), result, "")
		if late := ctx.Err() != nil; late != isLate {
			c.Errorf("%s: late: %t", result, late)
		}
		stop()
	}
}

// After some decisions that ran out of time one after the other, nothing is decided in the namespace for a while, or nobody waits for the controller. Then one
// decision shows whether that has changed.
func TestCircuit(t *testing.T) {
	for result, open := range map[steer.Result]steer.Result{steer.Unconfirmed: steer.Unconfirmed, steer.DeadlineExceeded: steer.CircuitOpen} {
		t.Run(string(result), func(t *testing.T) {
			c := &circuit{shop: newShop(t, nil), at: now}
			c.Now = func() time.Time { return c.at }
			c.barrier = func(ctx context.Context) error {
				if c.hangs && result == steer.Unconfirmed {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			c.Steerer.Live = bounded.NewReader(interceptor.NewClient(c.API, interceptor.Funcs{
				Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if c.hangs && result == steer.DeadlineExceeded {
						<-ctx.Done()
						return ctx.Err()
					}
					return api.Get(ctx, key, object, options...)
				},
			}), 1)
			c.hangs = true
			c.falls(4, result, true)
			c.hangs = false
			c.falls(1, steer.Steered, false)
			c.hangs = true
			c.falls(5, result, true)
			c.falls(3, open, false)
			c.at = c.at.Add(10 * time.Second)
			c.falls(1, result, true)
			c.falls(1, open, false)
			c.at = c.at.Add(10 * time.Second)
			c.hangs = false
			c.falls(2, steer.Steered, false)
			if result == steer.Unconfirmed {
				return
			}
			// In each round, one request finds too many before it, which says nothing.
			c.hangs = true
			for range 5 {
				c.renew()
				ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
				var group sync.WaitGroup
				for range 3 {
					request := c.request(4)
					group.Go(func() { c.Steer(ctx, request) })
				}
				group.Wait()
				stop()
			}
			c.falls(1, steer.CircuitOpen, false)
		})
	}
}

// Of many selected pods, the answer waits for few costs, and annotations are written as long as there is time.
func TestMany(t *testing.T) {
	for name, isSlow := range map[string]bool{"all annotations in time": false, "not all annotations in time": true} {
		t.Run(name, func(t *testing.T) {
			s := newShopOf(t, 320, nil)
			costs := 0
			s.Before = func(write *fakeapi.Write) error {
				if _, isCost := write.Annotations[corev1.PodDeletionCost]; isCost {
					costs++
				} else if isSlow {
					time.Sleep(10 * time.Millisecond)
				}
				return nil
			}
			ctx, stop := context.WithTimeout(context.Background(), map[bool]time.Duration{false: time.Minute, true: time.Second}[isSlow])
			defer stop()
			o := s.Steer(ctx, s.request(20))
			s.is(o, steer.Steered, "")
			annotated := 0
			for _, text := range s.costs() {
				if strings.HasSuffix(text, " to 20") {
					annotated++
				}
			}
			if costs > 20 || o.Count != 300 || annotated-costs != 300-o.Unannotated || isSlow != (o.Unannotated > 0) {
				t.Errorf("%d costs, %d pods with an annotation, %d of %d without", costs, annotated, o.Unannotated, o.Count)
			}
		})
	}
}
