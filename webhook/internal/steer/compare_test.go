package steer_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

type observed struct {
	testing.TB
	*fakeapi.API
	*steer.Outcome
	steerer *steer.Steerer
}

// fall has the count fall from 4 to 2, with a policy that only observes. web-0 is not ready, so it is certain, and each
// of the other three is possible. Then these pods are deleted.
func fall(t *testing.T, deleted ...string) *observed {
	set, policy, pods := fakeapi.Shop(4)
	policy.Spec = v1alpha1.ScaleDownPolicySpec{Selector: &v1alpha1.LabelSelector{}}
	for _, pod := range pods {
		pod.Spec.NodeName = "node-1"
	}
	pods[0].Status.Conditions = nil
	s := &observed{TB: t, API: fakeapi.New(fakeapi.All(pods, set, policy)...)}
	s.steerer = s.NewSteerer(nil, fakeapi.Now)
	live := fakeapi.Read[appsv1.ReplicaSet](t, s.API, "web")
	s.Outcome = s.steerer.Steer(context.Background(), steer.Request{
		UID: fakeapi.UID(5, 1), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 4, To: 2, SetUID: live.UID, SetVersion: live.ResourceVersion,
	})
	if s.Result != steer.Observed || len(s.API.Written()) != 0 {
		t.Fatalf("%s: %s, written %v", s.Result, s.Message, s.API.Written())
	}
	s.must(s.steerer.Predict(s.Outcome))
	if p := s.Prediction; p.Delete != 2 || len(p.Certain) != 1 || len(p.Possible) != 4 || len(p.Chances) != 3 {
		t.Fatalf("%+v", p)
	}
	s.counts(2, 2)
	for _, name := range deleted {
		s.must(s.Delete(context.Background(), fakeapi.Read[corev1.Pod](t, s.API, name)))
	}
	return s
}

func (s *observed) must(err error) {
	s.Helper()
	fakeapi.Must(s, err)
}

// counts gives the set a count, for which its controller has left so many pods.
func (s *observed) counts(count, left int32) {
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Generation++
	set.Spec.Replicas = &count
	s.must(s.Update(context.Background(), set))
	set.Status.Replicas, set.Status.ObservedGeneration = left, set.Generation
	s.must(s.Status().Update(context.Background(), set))
}

// The pods of one comparison of a namespace are in memory at a time.
func TestCompareOne(t *testing.T) {
	s := fall(t, "web-0", "web-1")
	var lists atomic.Int64
	s.steerer.Later = bounded.NewReader(interceptor.NewClient(s.API, interceptor.Funcs{
		List: func(ctx context.Context, live client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, isPods := list.(*corev1.PodList); isPods {
				if lists.Add(1) > 1 {
					t.Error("several comparisons list pods")
				}
				defer lists.Add(-1)
				time.Sleep(20 * time.Millisecond)
			}
			return live.List(ctx, list, options...)
		},
	}), 3)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if c := s.steerer.Compare(context.Background(), s.Outcome); c.Without != "" {
				t.Error(c.Without)
			}
		})
	}
	group.Wait()
}

// The program compares a prediction with the pods that were deleted, and reports the result. A prediction that it
// cannot compare does not count as wrong.
func TestCompare(t *testing.T) {
	missed := []string{"web-1", "web-2"}
	for name, c := range map[string]struct {
		deleted []string
		change  func(*observed, *corev1.Pod)
		without string
		wrong   []string
		says    string
	}{
		"as predicted":                    {deleted: []string{"web-0", "web-1"}, says: "Scaled from 4 to 2: Kubernetes deleted 2 pods: web-0 (not-ready), web-1 (chance); as predicted: 1 certain, 1 of 3 by chance"},
		"as predicted, too":               {deleted: []string{"web-0", "web-3"}, says: "as predicted"},
		"one stays":                       {deleted: missed, wrong: []string{"web-0 was kept"}, says: "deleted 2 pods: web-1 (chance), web-2 (chance); not as predicted: web-0 was kept"},
		"one goes unexpected":             {[]string{"web-0", "web-1"}, func(s *observed, _ *corev1.Pod) { delete(s.Prediction.Possible, fakeapi.UID(3, 1)) }, "", []string{"web-1 was deleted"}, "web-1 was deleted"},
		"the count is as before":          {missed, func(s *observed, _ *corev1.Pod) { s.counts(4, 2) }, steer.NotFallen, nil, ""},
		"the count is another":            {missed, func(s *observed, _ *corev1.Pod) { s.counts(3, 2) }, steer.Changed, nil, ""},
		"the controller is still at work": {missed[:1], func(s *observed, _ *corev1.Pod) { s.counts(2, 3) }, steer.NotFallen, nil, ""},
		"the set is deleted": {missed, func(s *observed, _ *corev1.Pod) {
			s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")))
		}, steer.Deleted, nil, ""},
		"one more goes": {missed, func(s *observed, pod *corev1.Pod) { s.must(s.Delete(context.Background(), pod)) }, steer.PodsChanged, nil, ""},
		"one gets a cost": {missed, func(s *observed, pod *corev1.Pod) {
			pod.Annotations = map[string]string{corev1.PodDeletionCost: "1"}
			s.must(s.Update(context.Background(), pod))
		}, steer.PodsChanged, nil, ""},
		"one comes": {missed, func(s *observed, pod *corev1.Pod) {
			pod.Name, pod.UID, pod.ResourceVersion = "web-4", fakeapi.UID(9, 1), ""
			s.Make(t, pod)
		}, steer.PodsChanged, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := fall(t, c.deleted...)
			if c.change != nil {
				c.change(s, fakeapi.Read[corev1.Pod](t, s.API, "web-3"))
			}
			ctx, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			got := s.steerer.Compare(ctx, s.Outcome)
			if got.Without != c.without || !slices.Equal(got.Wrong, c.wrong) || c.without == "" && len(got.Deleted) != 2 {
				t.Fatalf("%+v", got)
			}
			if c.without != "" {
				return
			}
			reporter, events := s.NewReporter()
			reporter.Observed(context.Background(), s.Outcome, got)
			if event := <-events.Events; !strings.Contains(event, c.says) || strings.HasPrefix(event, "Warning") != (c.wrong != nil) {
				t.Errorf("event: %s", event)
			}
			down := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, s.API, "spot").Status.Workloads[0].LastScaleDown
			if result := map[bool]string{false: "Observed", true: "PredictedWrongly"}[c.wrong != nil]; down.Result != result || down.Selected != 2 || *down.Deleted != 2 || int(*down.Missed) != len(c.wrong) {
				t.Errorf("%+v", down)
			}
		})
	}
}
