package steer_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
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

// fall has the count fall from 4 to 2, with a policy that only observes. web-0 is not ready, so it goes certainly, and any one of
// the other three does. Then the set and these pods change.
func fall(t *testing.T, change func(*appsv1.ReplicaSet), goes ...string) *observed {
	set, policy, pods := fakeapi.Shop(4)
	policy.Spec = v1alpha1.ScaleDownPolicySpec{}
	objects := []client.Object{set, policy}
	for _, pod := range pods {
		pod.Spec.NodeName = "node-1"
		objects = append(objects, pod)
	}
	pods[0].Status.Conditions = nil
	s := &observed{TB: t, API: fakeapi.New(objects...)}
	s.steerer = s.NewSteerer(nil, fakeapi.Now)
	live := fakeapi.Read[appsv1.ReplicaSet](t, s.API, "web")
	s.Outcome = s.steerer.Steer(context.Background(), steer.Request{
		UID: fakeapi.UID(5, 1), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 4, To: 2, Set: live.UID, Version: live.ResourceVersion,
	})
	if s.Result != steer.Observed || len(s.API.Written()) != 0 {
		t.Fatalf("%s: %s, written %v", s.Result, s.Message, s.API.Written())
	}
	s.must(s.steerer.Predict(s.Outcome))
	two := int32(2)
	live.Generation++
	live.Spec.Replicas, live.Status.Replicas, live.Status.ObservedGeneration = &two, 2, live.Generation
	change(live)
	status := live.Status
	s.must(s.Update(context.Background(), live))
	live.Status = status
	s.must(s.Status().Update(context.Background(), live))
	for _, name := range goes {
		s.must(s.Delete(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}))
	}
	return s
}

func (s *observed) must(err error) {
	s.Helper()
	fakeapi.Must(s, err)
}

func (s *observed) compare() steer.Comparison {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	return s.steerer.Compare(ctx, s.Outcome)
}

func nothing(*appsv1.ReplicaSet) {}

func TestPrediction(t *testing.T) {
	for _, test := range []struct {
		goes, wrong []string
		says        string
	}{
		{[]string{"web-0", "web-1"}, nil, "from 4 to 2: 2 pods went, as predicted: 1 certainly, 1 of 3 by chance"},
		{[]string{"web-0", "web-3"}, nil, "as predicted"},
		{[]string{"web-1", "web-2"}, []string{"web-0 stayed"}, "not as predicted: web-0 stayed"},
	} {
		s := fall(t, nothing, test.goes...)
		if p := s.Prediction; p.Delete != 2 || len(p.Certain) != 1 || len(p.Possible) != 4 || len(p.Chances) != 3 {
			t.Fatalf("%+v", p)
		}
		c := s.compare()
		if c.Without != "" || !slices.Equal(c.Wrong, test.wrong) || len(c.Gone) != len(test.goes) {
			t.Errorf("%v: %+v", test.goes, c)
		}
		reporter, events := s.NewReporter()
		reporter.Observed(context.Background(), s.Outcome, c)
		if event := <-events.Events; !strings.Contains(event, test.says) || strings.HasPrefix(event, "Warning") != (test.wrong != nil) {
			t.Errorf("event: %s", event)
		}
		down := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, s.API, "spot").Status.ScaleDowns[0]
		if down.Result != "Observed" || down.Wanted != 2 || *down.Gone != 2 || int(*down.Missed) != len(test.wrong) {
			t.Errorf("%+v", down)
		}
	}
}

// A pod that nobody expected goes.
func TestUnexpected(t *testing.T) {
	s := fall(t, nothing, "web-0", "web-1")
	delete(s.Prediction.Possible, s.Active[1].UID)
	if c := s.compare(); !slices.Equal(c.Wrong, []string{"web-1 went"}) {
		t.Errorf("%+v", c)
	}
}

// What cannot be compared is no wrong prediction.
func TestWithout(t *testing.T) {
	for want, change := range map[string]func(*appsv1.ReplicaSet){
		steer.NotFallen: func(set *appsv1.ReplicaSet) { *set.Spec.Replicas = 4 },
		steer.Changed:   func(set *appsv1.ReplicaSet) { *set.Spec.Replicas = 3 },
	} {
		if c := fall(t, change, "web-1", "web-2").compare(); c.Without != want || c.Wrong != nil {
			t.Errorf("%s: %+v", want, c)
		}
	}
	s := fall(t, nothing, "web-1", "web-2")
	s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](t, s.API, "web")))
	if c := s.compare(); c.Without != steer.Deleted {
		t.Errorf("%+v", c)
	}
	// One pod goes too many, one that stays gets a cost, or one comes.
	for what, change := range map[string]func(*observed){
		"goes": func(s *observed) {
			s.must(s.Delete(context.Background(), fakeapi.Read[corev1.Pod](t, s.API, "web-3")))
		},
		"gets a cost": func(s *observed) {
			pod := fakeapi.Read[corev1.Pod](t, s.API, "web-3")
			pod.Annotations = map[string]string{corev1.PodDeletionCost: "1"}
			s.must(s.Update(context.Background(), pod))
		},
		"comes": func(s *observed) {
			pod := fakeapi.Read[corev1.Pod](t, s.API, "web-3")
			pod.Name, pod.UID, pod.ResourceVersion = "web-4", fakeapi.UID(9, 1), ""
			s.must(s.Create(context.Background(), pod))
		},
	} {
		s = fall(t, nothing, "web-1", "web-2")
		change(s)
		if c := s.compare(); c.Without != steer.PodsChanged {
			t.Errorf("a pod %s: %+v", what, c)
		}
	}
	// The controller is still at work.
	s = fall(t, func(set *appsv1.ReplicaSet) { set.Status.Replicas = 3 }, "web-1")
	if c := s.compare(); c.Without != steer.NotFallen {
		t.Errorf("%+v", c)
	}
}
