package steer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// uid makes a UUID.
func uid(kind, number int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, number))
}

// shop is a set of 6 ready pods, of which 3 are on spot nodes, with a policy that wants those to go first.
type shop struct {
	*fakeapi.API
	*steer.Steerer
	set    *appsv1.ReplicaSet
	policy *v1alpha1.ScaleDownPolicy
	// barrier is what happens while the canary flies.
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

func newShop(change func(*shop, []*corev1.Pod)) *shop {
	labels, count := map[string]string{"app": "web"}, int32(6)
	s := &shop{
		set: &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: uid(1, 0)},
			Spec: appsv1.ReplicaSetSpec{Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}},
			Status: appsv1.ReplicaSetStatus{Replicas: count},
		},
		policy: &v1alpha1.ScaleDownPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "spot", UID: uid(2, 0), CreationTimestamp: metav1.NewTime(now)},
			Spec: v1alpha1.ScaleDownPolicySpec{First: []v1alpha1.Tier{
				{Nodes: &metav1.LabelSelector{MatchLabels: map[string]string{"lifecycle": "spot"}}},
			}},
		},
	}
	var pods []*corev1.Pod
	for i := range int(count) {
		pods = append(pods, pod(s.set, i))
	}
	if change != nil {
		change(s, pods)
	}
	objects := []client.Object{s.set, s.policy}
	for i, lifecycle := range []string{"reserved", "spot"} {
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("node-", i), Labels: map[string]string{"lifecycle": lifecycle},
		}})
	}
	for _, pod := range pods {
		objects = append(objects, pod)
	}
	s.API = fakeapi.New(objects...)
	s.Steerer = &steer.Steerer{Cache: s.API, Live: s.API, Costs: cost.NewWriter(s.API, s.API), Barrier: s, Now: func() time.Time { return now }}
	return s
}

// pod is a ready pod: every other one is on the spot node.
func pod(set client.Object, number int) *corev1.Pod {
	isController := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprint("web-", number), UID: uid(3, number), Labels: map[string]string{"app": "web"},
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set.GetName(), UID: set.GetUID(), Controller: &isController},
			},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprint("node-", number%2)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))},
		}},
	}
}

// other makes a pod's cost somebody else's.
func other(pod *corev1.Pod, manager, cost string) {
	pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
	fakeapi.Manage(pod, manager, corev1.PodDeletionCost)
}

// fall lowers the count.
func (s *shop) fall(to int32) *steer.Outcome {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	s.asked++
	return s.Steer(ctx, steer.Request{
		UID: uid(5, s.asked), Kind: workload.ReplicaSet, Key: types.NamespacedName{Namespace: "shop", Name: "web"}, From: *s.set.Spec.Replicas, To: to,
	})
}

// costs are the costs and marks of all pods.
func (s *shop) costs(t *testing.T) map[string]string {
	t.Helper()
	var pods corev1.PodList
	if err := s.List(context.Background(), &pods); err != nil {
		t.Fatal(err)
	}
	costs := map[string]string{}
	for _, pod := range pods.Items {
		value, ok := pod.Annotations[corev1.PodDeletionCost]
		mark, marked := cost.MarkOf(&pod)
		if ok || marked {
			costs[pod.Name] = value
			if marked {
				costs[pod.Name] += fmt.Sprintf(" to %d", mark.Count)
			}
		}
	}
	return costs
}

func is(t *testing.T, o *steer.Outcome, result steer.Result, message string) {
	t.Helper()
	if o.Result != result || !strings.Contains(o.Message, message) {
		t.Fatalf("%s: %s", o.Result, o.Message)
	}
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("costs: %v, not %v", got, want)
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

func TestSteered(t *testing.T) {
	s := newShop(nil)
	o := s.fall(4)
	is(t, o, steer.Steered, "")
	if len(o.Wanted) != 2 || o.Written != 2 {
		t.Fatalf("wanted %v, %d written", o.Wanted, o.Written)
	}
	for name, value := range s.costs(t) {
		if !slices.Contains([]string{"web-1", "web-3", "web-5"}, name) || value != "-1 to 4" {
			t.Errorf("%s: %s", name, value)
		}
	}
}

// Admission asked twice writes no cost the second time, and a further fall only those that differ. Marks name the last request.
func TestAskedAgain(t *testing.T) {
	s := newShop(nil)
	is(t, s.fall(5), steer.Steered, "")
	o := s.fall(5)
	is(t, o, steer.Steered, "")
	if len(s.Log()) != 2 || o.Written != 0 || len(o.Wanted) != 1 {
		t.Fatalf("%v", s.Log())
	}
	o = s.fall(3)
	is(t, o, steer.Steered, "")
	if len(s.Log()) != 5 || o.Written != 2 {
		t.Fatalf("%v", s.Log())
	}
	values := s.costs(t)
	if len(values) != 3 || values["web-1"] == "" || values["web-3"] == "" || values["web-5"] == "" {
		t.Fatal(values)
	}
}

func TestNothingToDo(t *testing.T) {
	for name, to := range map[string]int32{"to 0": 0, "a rise": 7, "the same": 6} {
		s := newShop(nil)
		is(t, s.fall(to), steer.NothingToDo, "")
		if len(s.Log()) != 0 {
			t.Errorf("%s: %v", name, s.Log())
		}
	}
}

func TestSetWithoutPods(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) {
		for _, pod := range pods {
			pod.Status.Phase = corev1.PodFailed
		}
	})
	is(t, s.fall(4), steer.NothingToDo, "")
}

func TestSetBeingDeleted(t *testing.T) {
	s := newShop(func(s *shop, _ []*corev1.Pod) {
		at := metav1.NewTime(now)
		s.set.DeletionTimestamp, s.set.Finalizers = &at, []string{"foregroundDeletion"}
	})
	is(t, s.fall(4), steer.NothingToDo, "")
}

func TestDryRun(t *testing.T) {
	s := newShop(nil)
	o := s.Steer(context.Background(), steer.Request{
		Kind: workload.ReplicaSet, Key: types.NamespacedName{Namespace: "shop", Name: "web"}, From: 6, To: 4, DryRun: true,
	})
	is(t, o, steer.DryRun, "")
	if len(s.Log()) != 0 {
		t.Fatal(s.Log())
	}
}

func TestNoPolicy(t *testing.T) {
	s := newShop(func(s *shop, _ []*corev1.Pod) { s.policy.Spec.Selector.MatchLabels = map[string]string{"app": "api"} })
	is(t, s.fall(4), steer.NoPolicy, "")
	s = newShop(func(s *shop, _ []*corev1.Pod) { s.policy.Namespace = "elsewhere" })
	is(t, s.fall(4), steer.NoPolicy, "")
}

func TestNoRoom(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) { other(pods[0], "somebody", "-2147483648") })
	o := s.fall(4)
	is(t, o, steer.NoRoom, "leave no room")
	same(t, s.costs(t), map[string]string{"web-0": "-2147483648"})
}

// Somebody's low cost on a pod that stays is kept, and the wanted pods go below it.
func TestFixed(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) { other(pods[0], "somebody", "-7") })
	is(t, s.fall(3), steer.Steered, "")
	same(t, s.costs(t), map[string]string{"web-0": "-7", "web-1": "-8 to 3", "web-3": "-8 to 3", "web-5": "-8 to 3"})
}

func TestTerminal(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) { other(pods[2], cost.Terminal, "-1") })
	is(t, s.fall(4), steer.StoodAside, "web-2")
	same(t, s.costs(t), map[string]string{"web-2": "-1"})
}

func TestCostOfTemplate(t *testing.T) {
	s := newShop(func(s *shop, pods []*corev1.Pod) {
		s.set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
		for _, pod := range pods {
			other(pod, "kube-controller-manager", "10")
		}
	})
	is(t, s.fall(3), steer.Steered, "")
	same(t, s.costs(t), map[string]string{
		"web-0": "10", "web-1": "9 to 3", "web-2": "10", "web-3": "9 to 3", "web-4": "10", "web-5": "9 to 3",
	})
}

// This program once wrote the same cost as the template, so that both manage it: it takes force to write another.
func TestSharedCostOfTemplate(t *testing.T) {
	s := newShop(func(s *shop, pods []*corev1.Pod) {
		s.set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
		for _, pod := range pods {
			other(pod, "kube-controller-manager", "10")
			fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost)
		}
	})
	is(t, s.fall(3), steer.Steered, "")
	same(t, s.costs(t), map[string]string{
		"web-0": "10", "web-1": "9 to 3", "web-2": "10", "web-3": "9 to 3", "web-4": "10", "web-5": "9 to 3",
	})
}

// overwrite has another manager set the cost of web-1 just before it is first written to. It returns whether that has happened.
func (s *shop) overwrite(manager, value string) *bool {
	once := new(bool)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name != "web-1" || *once {
			return nil
		}
		*once = true
		var pod corev1.Pod
		if err := s.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: "web-1"}, &pod); err != nil {
			return err
		}
		pod.Annotations = map[string]string{corev1.PodDeletionCost: value}
		return s.Update(context.Background(), &pod, client.FieldOwner(manager))
	}
	return once
}

// Somebody overwrites the template's cost just before the webhook does: that cost stays.
func TestCostOfTemplateChanges(t *testing.T) {
	s := newShop(func(s *shop, pods []*corev1.Pod) {
		s.set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
		for _, pod := range pods {
			other(pod, "kube-controller-manager", "10")
		}
	})
	once := s.overwrite("somebody", "7")
	is(t, s.fall(3), steer.Steered, "")
	costs := s.costs(t)
	if !*once || costs["web-1"] != "7" {
		t.Fatal(costs)
	}
}

// Somebody writes a cost while costs are written: that one is fixed from then on, and the others give way.
func TestConflictOnce(t *testing.T) {
	s := newShop(nil)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-1" && write.Annotations[corev1.PodDeletionCost] == "-1" {
			return theirs("web-1")
		}
		return nil
	}
	// It counts as 0, so that those that stay have to go above it.
	is(t, s.fall(3), steer.Steered, "")
	same(t, s.costs(t), map[string]string{"web-0": "1 to 3", "web-2": "1 to 3", "web-3": "-1 to 3", "web-4": "1 to 3", "web-5": "-1 to 3"})
	s = newShop(nil)
	once := false
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-1" && !once {
			once = true
			return gone("web-1")
		}
		return nil
	}
	is(t, s.fall(3), steer.Steered, "")
	same(t, s.costs(t), map[string]string{"web-1": "-1 to 3", "web-3": "-1 to 3", "web-5": "-1 to 3"})
}

// Pods that change again and again end it, and the costs come off.
func TestConflictForever(t *testing.T) {
	s := newShop(nil)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-1" && len(write.Annotations) > 0 {
			return gone("web-1")
		}
		return nil
	}
	s.takesOff(t, s.fall(3), steer.Conflict, "the pod is gone")
}

// takesOff checks that the costs of an outcome come off.
func (s *shop) takesOff(t *testing.T, o *steer.Outcome, result steer.Result, message string) {
	t.Helper()
	is(t, o, result, message)
	if len(o.Undo) == 0 || len(s.Log()) == 0 {
		t.Fatalf("nothing was written, so this shows nothing")
	}
	s.takeOff(t, o)
	same(t, s.costs(t), nil)
}

func (s *shop) takeOff(t *testing.T, o *steer.Outcome) (count int) {
	t.Helper()
	count, err := s.TakeOff(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return count
}

// A request fails, and another replica steers a later one before its costs are off: those stay, since they fit that one as well.
func TestRelied(t *testing.T) {
	for _, to := range []int32{3, 4} {
		s := newShop(nil)
		s.barrier = func(context.Context) error { return errors.New("no canary") }
		failed := s.fall(3)
		is(t, failed, steer.Failed, "no canary")
		s.barrier = nil
		is(t, s.fall(to), steer.Steered, "")
		relied := s.costs(t)
		if len(relied) != 3 {
			t.Fatalf("%v: too few, so this shows nothing", relied)
		}
		if count := s.takeOff(t, failed); count != 0 {
			t.Errorf("%d came off", count)
		}
		same(t, s.costs(t), relied)
	}
}

// A later request is steered just while the costs of one that failed come off.
func TestReliedMeanwhile(t *testing.T) {
	s := newShop(nil)
	s.barrier = func(context.Context) error { return errors.New("no canary") }
	failed := s.fall(5)
	is(t, failed, steer.Failed, "no canary")
	s.barrier = nil
	other := &steer.Steerer{Cache: s.API, Live: s.API, Costs: cost.NewWriter(s.API, s.API), Barrier: s, Now: func() time.Time { return now }}
	came := false
	s.Before = func(write *fakeapi.Write) error {
		if came || len(write.Annotations) > 0 {
			return nil
		}
		came = true
		// It has been read, and is written to before the answer to that.
		hook := s.Before
		s.Before = nil
		defer func() { s.Before = hook }()
		// Other replicas do not share its lock.
		o := other.Steer(context.Background(), steer.Request{UID: uid(5, 99), Kind: workload.ReplicaSet, Key: failed.Key, From: 6, To: 5})
		is(t, o, steer.Steered, "")
		return nil
	}
	s.takeOff(t, failed)
	if costs := s.costs(t); !came || len(costs) != 1 {
		t.Fatal(costs)
	}
}

// A later request fails: the costs of the one before it are as they were, marks included.
func TestFailsAfterAnother(t *testing.T) {
	s := newShop(nil)
	is(t, s.fall(4), steer.Steered, "")
	before := s.costs(t)
	s.barrier = func(context.Context) error { return errors.New("no canary") }
	failed := s.fall(2)
	is(t, failed, steer.Failed, "no canary")
	if len(s.costs(t)) == len(before) {
		t.Fatal("it wrote nothing, so this shows nothing")
	}
	s.takeOff(t, failed)
	same(t, s.costs(t), before)
}

// A pod that was written to, and is no longer wanted when pods have changed, has a mark that says so.
func TestPlannedAnew(t *testing.T) {
	s := newShop(nil)
	once := false
	s.Before = func(write *fakeapi.Write) error {
		if write.Name != "web-1" || once {
			return nil
		}
		once = true
		// The other wanted pods are written to all the same.
		for _, name := range []string{"web-0", "web-2"} {
			var pod corev1.Pod
			if err := s.Get(context.Background(), types.NamespacedName{Namespace: "shop", Name: name}, &pod); err != nil {
				return err
			}
			pod.Status.Conditions = nil
			if err := s.Status().Update(context.Background(), &pod); err != nil {
				return err
			}
		}
		return gone("web-1")
	}
	o := s.fall(3)
	is(t, o, steer.Steered, "")
	var pods corev1.PodList
	if err := s.List(context.Background(), &pods); err != nil {
		t.Fatal(err)
	}
	wanted, stays := names(o.Wanted), 0
	for _, pod := range pods.Items {
		if mark, ok := cost.MarkOf(&pod); ok && mark.Goes != slices.Contains(wanted, pod.Name) {
			t.Errorf("%s of %v: %+v", pod.Name, wanted, mark)
		} else if ok && !mark.Goes {
			stays++
		}
	}
	if stays == 0 {
		t.Errorf("%v are wanted, and none of the others is marked, so this shows nothing", wanted)
	}
	written := map[string]bool{}
	for _, write := range s.Log() {
		written[write.Name] = true
	}
	if o.Written != len(written) {
		t.Errorf("%d costs written, not %d", o.Written, len(written))
	}
}

// kubectl podrank begins to steer the set while costs are written: they come off.
func TestStoodAsideLate(t *testing.T) {
	s := newShop(nil)
	s.overwrite(cost.Terminal, "-7")
	o := s.fall(3)
	is(t, o, steer.StoodAside, "web-1")
	if len(s.costs(t)) < 2 {
		t.Fatal("nothing was written, so this shows nothing")
	}
	s.takeOff(t, o)
	same(t, s.costs(t), map[string]string{"web-1": "-7"})
}

func theirs(name string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusConflict, Reason: metav1.StatusReasonConflict,
		Details: &metav1.StatusDetails{Name: name, Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict}}}}}
}

func gone(name string) error {
	return apierrors.NewConflict(corev1.Resource("pods"), name, errors.New("uid mismatch"))
}

func TestDeadline(t *testing.T) {
	s := newShop(nil)
	ctx, stop := context.WithCancel(context.Background())
	s.barrier = func(ctx context.Context) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	}
	o := s.Steer(ctx, steer.Request{
		Kind: workload.ReplicaSet, Key: types.NamespacedName{Namespace: "shop", Name: "web"}, From: 6, To: 4,
	})
	s.takesOff(t, o, steer.DeadlineExceeded, "context canceled")
}

func TestLostCanary(t *testing.T) {
	s := newShop(nil)
	s.barrier = func(context.Context) error { return errors.New("no canary") }
	s.takesOff(t, s.fall(4), steer.Failed, "no canary")
}

func TestAPIError(t *testing.T) {
	s := newShop(nil)
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-3" && len(write.Annotations) > 0 {
			return apierrors.NewForbidden(corev1.Resource("pods"), "web-3", errors.New("no"))
		}
		return nil
	}
	o := s.fall(3)
	if o.Written != 2 || len(s.Log()) != 2 {
		t.Errorf("%d costs written: %v", o.Written, s.Log())
	}
	s.takesOff(t, o, steer.Failed, "forbidden")
}

func TestSetIsGone(t *testing.T) {
	s := newShop(nil)
	if err := s.Delete(context.Background(), s.set); err != nil {
		t.Fatal(err)
	}
	is(t, s.fall(3), steer.Failed, "not found")
}

func TestPolicyDeleted(t *testing.T) {
	s := newShop(nil)
	s.barrier = func(ctx context.Context) error { return s.Delete(ctx, s.policy) }
	s.takesOff(t, s.fall(4), steer.PolicyDeleted, "deleted")
}

func TestTwoPolicies(t *testing.T) {
	s := newShop(nil)
	younger := &v1alpha1.ScaleDownPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: uid(2, 1), CreationTimestamp: metav1.NewTime(now.Add(time.Second))},
		Spec:       v1alpha1.ScaleDownPolicySpec{Spread: []string{"zone"}},
	}
	if err := s.Create(context.Background(), younger); err != nil {
		t.Fatal(err)
	}
	o := s.fall(4)
	is(t, o, steer.Steered, "")
	if o.Policy.Name != "spot" {
		t.Fatalf("%s counts", o.Policy.Name)
	}
}

// A pod that is not ready goes first, and only then the wanted ones.
func TestBlocked(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) { pods[0].Status.Conditions = nil })
	o := s.fall(4)
	is(t, o, steer.Steered, "")
	if len(o.Blocked) != 1 || o.Blocked[0].Pod.Name != "web-0" || o.Blocked[0].Rule != "not-ready" {
		t.Fatalf("%+v", o.Blocked)
	}
	if got := names(o.Wanted); !slices.Contains(got, "web-0") || len(got) != 2 {
		t.Fatal(got)
	}
}

// A rollout shrinks the set.
func TestRollout(t *testing.T) {
	rollout := func(rollouts bool, newest string) *steer.Outcome {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: uid(4, 0), Annotations: map[string]string{"deployment.kubernetes.io/revision": newest},
		}}
		s := newShop(func(s *shop, pods []*corev1.Pod) {
			isController := true
			s.policy.Spec.Rollouts = rollouts
			s.set.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
			s.set.OwnerReferences = []metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: deployment.UID, Controller: &isController},
			}
			s.set.Spec.MinReadySeconds = 60
			// Ready, but not long enough, and on the reserved node.
			pods[2].Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-30 * time.Second))
		})
		if err := s.Create(context.Background(), deployment); err != nil {
			t.Fatal(err)
		}
		return s.fall(5)
	}
	is(t, rollout(false, "2"), steer.RolloutIgnored, "")
	o := rollout(true, "2")
	is(t, o, steer.Steered, "")
	if got := names(o.Wanted); got[0] != "web-2" {
		t.Errorf("%v goes first", got)
	}
	// The newest set is not one that a rollout shrinks.
	o = rollout(false, "1")
	is(t, o, steer.Steered, "")
	if got := names(o.Wanted); got[0] == "web-2" {
		t.Errorf("%v goes first", got)
	}
}

// A pod that is not the set's own is not counted, and never written to.
func TestOrphan(t *testing.T) {
	s := newShop(func(_ *shop, pods []*corev1.Pod) { pods[1].OwnerReferences = nil })
	o := s.fall(4)
	is(t, o, steer.Steered, "")
	if got := names(o.Wanted); len(got) != 1 || got[0] == "web-1" {
		t.Fatal(got)
	}
}
