package cost_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

func TestMark(t *testing.T) {
	for text, want := range map[string]cost.Mark{
		"6d3c2e1f-0000-4000-8000-000000000001/7/5a":       {Set: "6d3c2e1f-0000-4000-8000-000000000001", Count: 7, Request: "5a", Goes: true},
		"6d3c2e1f-0000-4000-8000-000000000001/7/5a/stays": {Set: "6d3c2e1f-0000-4000-8000-000000000001", Count: 7, Request: "5a"},
	} {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{cost.Annotation: text}
		got, ok := cost.MarkOf(pod)
		if !ok || got != want || got.String() != text {
			t.Errorf("%s is %+v", text, got)
		}
	}
	for _, text := range []string{"", "x", "uid/", "uid/x", "uid/99999999999", "/stays"} {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{cost.Annotation: text}
		if got, ok := cost.MarkOf(pod); !ok || got.Goes || got.Set != "" {
			t.Errorf("%q is %+v", text, got)
		}
	}
	pod := &corev1.Pod{}
	pod.Annotations = map[string]string{cost.Annotation: "uid/7/5a"}
	fakeapi.Manage(pod, "kube-controller-manager", cost.Annotation)
	fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost)
	if _, ok := cost.MarkOf(pod); ok {
		t.Error("a mark of its template is taken for one of this program")
	}
	if _, ok := cost.MarkOf(&corev1.Pod{}); ok {
		t.Error("a pod without a mark has one")
	}
}

func TestOwner(t *testing.T) {
	template := map[string]string{corev1.PodDeletionCost: "10"}
	for _, test := range []struct {
		cost     string
		managers []string
		want     cost.Owner
	}{
		{"10", []string{"kube-controller-manager"}, cost.FromTemplate},
		{"11", []string{"kube-controller-manager"}, cost.Other},
		{"1", []string{cost.Manager}, cost.Ours},
		{"1", []string{"somebody"}, cost.Other},
		{"1", []string{cost.Terminal}, cost.OfTerminal},
		{"1", nil, cost.Other},
		// Of several owners of one value, the strictest counts.
		{"10", []string{"kube-controller-manager", cost.Manager}, cost.FromTemplate},
		{"10", []string{cost.Manager, "kube-controller-manager"}, cost.FromTemplate},
		{"1", []string{cost.Manager, "somebody"}, cost.Other},
		{"1", []string{cost.Manager, "somebody", cost.Terminal}, cost.OfTerminal},
	} {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{corev1.PodDeletionCost: test.cost}
		fakeapi.Manage(pod, "stranger", "example.com/other")
		for _, manager := range test.managers {
			fakeapi.Manage(pod, manager, corev1.PodDeletionCost)
		}
		if got := cost.OwnerOf(pod, template); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
	if got := cost.OwnerOf(&corev1.Pod{}, template); got != cost.Nobody {
		t.Errorf("no cost: %d", got)
	}
}
