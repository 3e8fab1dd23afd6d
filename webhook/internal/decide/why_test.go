package decide_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// equals are so many pods that differ in their UIDs alone.
func equals(count int) (pods []*corev1.Pod) {
	for i := range count {
		pod := running(uint32(i), "a")
		pod.Name, pod.CreationTimestamp = fmt.Sprint(i), metav1.NewTime(now.Add(-time.Hour))
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = make([]corev1.ContainerStatus, 1), make([]corev1.ContainerStatus, 1)
		always := corev1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []corev1.Container{{RestartPolicy: &always}}
		pods = append(pods, pod)
	}
	return pods
}

func costs(pod *corev1.Pod, cost string) {
	pod.Annotations = map[string]string{corev1.PodDeletionCost: cost}
}

// asks which of these pods is deleted first. Their costs are somebody's, which may be overwritten.
func asks(pods []*corev1.Pod) decide.Question {
	return decide.Question{
		Active: pods, Related: pods, Delete: 1, Now: now, Tier: func(*corev1.Pod) int { return 3 },
		IsFixed: func(*corev1.Pod) bool { return false }, IsOurs: func(*corev1.Pod) bool { return false },
		MayOverwrite: func(*corev1.Pod) bool { return true },
		ForeignCost:  func(pod *corev1.Pod) string { return pod.Annotations[corev1.PodDeletionCost] },
	}
}

// The last pod is deleted by each rule, and that is what is said.
func TestWhys(t *testing.T) {
	for want, change := range map[string]func(q *decide.Question, last *corev1.Pod){
		"{unassigned 0 1}":       func(_ *decide.Question, last *corev1.Pod) { last.Spec.NodeName = "" },
		"{phase 0 2}":            func(_ *decide.Question, last *corev1.Pod) { last.Status.Phase = corev1.PodPending },
		"{not-ready 0 1}":        func(_ *decide.Question, last *corev1.Pod) { last.Status.Conditions = nil },
		"{deletion-cost -5 0}":   func(_ *decide.Question, last *corev1.Pod) { costs(last, "-5") },
		"{restarts 2 0}":         func(_ *decide.Question, last *corev1.Pod) { last.Status.ContainerStatuses[0].RestartCount = 2 },
		"{sidecar-restarts 2 0}": func(_ *decide.Question, last *corev1.Pod) { last.Status.InitContainerStatuses[0].RestartCount = 2 },
		"{tier 1 3}": func(q *decide.Question, last *corev1.Pod) {
			q.Tier = func(pod *corev1.Pod) int { return map[bool]int{true: 1, false: 3}[pod == last] }
		},
		"{tier 0 4}": func(q *decide.Question, last *corev1.Pod) {
			last.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-time.Second))
			q.Tier = func(pod *corev1.Pod) int { return map[bool]int{false: 0, true: 4}[decide.IsAvailable(pod, 60, now)] }
		},
		"{rank 4 1}": func(q *decide.Question, last *corev1.Pod) {
			q.Active[0].Spec.NodeName = "b"
			q.Active[4].UID, q.Active[1].UID = q.Active[1].UID, q.Active[4].UID
			q.Delete = 4
		},
	} {
		pods := equals(5)
		q := asks(pods)
		change(&q, pods[4])
		decision, err := decide.Decide(q)
		fakeapi.Must(t, err)
		index := 0
		for i, pod := range decision.Selected {
			if pod == pods[4] {
				index = i
			}
		}
		if got := decision.Whys[index]; decision.Selected[index] != pods[4] || fmt.Sprint(got) != want || decision.Next == "" || len(decision.Whys) != len(decision.Selected) {
			t.Errorf("%v, not %s; next %q, %s goes", got, want, decision.Next, decision.Selected[index].Name)
		}
	}
}

// The policy, its spread, and whole nodes are not taken for each other, though all of them are tiers or ranks to podrank.
func TestWhysOfDomains(t *testing.T) {
	byNode := []func(*corev1.Pod) string{func(pod *corev1.Pod) string { return pod.Spec.NodeName }}
	tiers := func(q *decide.Question) {
		q.Tier = func(pod *corev1.Pod) int { return map[bool]int{true: 0, false: 1}[pod.Spec.NodeName == "a"] }
	}
	for name, c := range map[string]struct {
		delete int
		change func(*decide.Question)
		want   string
	}{
		"ranks":                   {3, func(*decide.Question) {}, "[{rank 3 2} {rank 3 2} {rank 3 2}], next 0"},
		"spread":                  {1, func(q *decide.Question) { q.Domains = byNode }, "[{spread 0 0}], next 0"},
		"spread, override":        {1, func(q *decide.Question) { q.Domains, q.ForeignCosts = byNode, v1alpha1.Override }, "[{spread 0 0}], next 0"},
		"spread, follow":          {1, func(q *decide.Question) { q.Domains, q.ForeignCosts = byNode, v1alpha1.Follow }, "[{spread 0 0}], next 0"},
		"spread, within an entry": {3, func(q *decide.Question) { q.Domains = byNode; tiers(q) }, "[{tier 0 1} {tier 0 1} {tier 0 1}], next 0"},
		"follow, after an entry": {4, func(q *decide.Question) {
			q.Domains, q.ForeignCosts = byNode, v1alpha1.Follow
			tiers(q)
		}, "[{tier 0 1} {tier 0 1} {tier 0 1} {spread 0 0}], next 1"},
		"whole nodes":                   {2, func(q *decide.Question) { q.Empty, q.Domains = &decide.EmptyNodes{}, byNode }, "[{empty-nodes 0 0} {empty-nodes 0 0}], next 2"},
		"whole nodes, follow":           {2, func(q *decide.Question) { q.Empty, q.ForeignCosts = &decide.EmptyNodes{}, v1alpha1.Follow }, "[{empty-nodes 0 0} {empty-nodes 0 0}], next 2"},
		"whole nodes, within an entry":  {3, func(q *decide.Question) { q.Empty = &decide.EmptyNodes{}; tiers(q) }, "[{tier 0 1} {tier 0 1} {tier 0 1}], next 0"},
		"a part of a node":              {1, func(q *decide.Question) { q.Empty = &decide.EmptyNodes{} }, "[{uid 0 0}], next 1"},
		"all of them, so none by a why": {5, func(*decide.Question) {}, "[{ 0 0} { 0 0} { 0 0} { 0 0} { 0 0}], next "},
	} {
		pods := equals(5)
		for i, node := range []string{"b", "b", "a", "a", "a"} {
			pods[i].Spec.NodeName = node
		}
		q := asks(pods)
		q.Delete = c.delete
		c.change(&q)
		decision, err := decide.Decide(q)
		fakeapi.Must(t, err)
		if got := fmt.Sprintf("%v, next %s", decision.Whys, decision.Next); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// A cost that this program has written for an earlier request decides nothing: what made it write the cost does.
func TestWhysOfOwnCosts(t *testing.T) {
	for want, steered := range map[string]func(pods []*corev1.Pod){
		"{restarts 2 0}": func(pods []*corev1.Pod) { pods[4].Status.ContainerStatuses[0].RestartCount = 2 },
		"{restarts 3 2}": func(pods []*corev1.Pod) {
			pods[4].Status.ContainerStatuses[0].RestartCount, pods[2].Status.ContainerStatuses[0].RestartCount = 3, 2
		},
	} {
		pods := equals(5)
		steered(pods)
		q := asks(pods)
		// The cost of the pod that is deleted needs no room below 0, because all other costs have been raised.
		q.IsOurs = func(pod *corev1.Pod) bool { return pod != pods[4] }
		q.ForeignCost = func(*corev1.Pod) string { return "" }
		for _, pod := range pods[:4] {
			costs(pod, "1")
		}
		decision, err := decide.Decide(q)
		fakeapi.Must(t, err)
		if got := fmt.Sprint(decision.Whys[0]); decision.Selected[0] != pods[4] || got != want {
			t.Errorf("%s goes, %s, not %s", decision.Selected[0].Name, got, want)
		}
	}
}

// A certain pod has a reason, and a possible one has none.
func TestWhysOfKubernetes(t *testing.T) {
	pods := equals(5)
	pods[2].Status.Conditions = nil
	costs(pods[3], "-5")
	for k, want := range map[int]string{
		1: "map[00000002-0000-4000-8000-000000000000:{not-ready 0 1}], next 3",
		2: "map[00000002-0000-4000-8000-000000000000:{not-ready 0 1} 00000003-0000-4000-8000-000000000000:{deletion-cost -5 0}], next 0",
		3: "map[00000002-0000-4000-8000-000000000000:{not-ready 0 1} 00000003-0000-4000-8000-000000000000:{deletion-cost -5 0}], next ",
	} {
		p, err := decide.Predict(pods, pods, k, now)
		fakeapi.Must(t, err)
		if got := fmt.Sprintf("%v, next %s", p.Whys, p.Next); got != want {
			t.Errorf("%d: %s, not %s", k, got, want)
		}
	}
}
