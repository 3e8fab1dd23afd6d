package cost_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

func TestSteered(t *testing.T) {
	const set, request, tail = "6d3c2e1f-0000-4000-8000-000000000001", "6d3c2e1f-0000-4000-8000-000000000002", "/9/4/1763780000000/1"
	annotated := func(manager, text string) *corev1.Pod {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{cost.Annotation: text}
		fakeapi.Manage(pod, manager, cost.Annotation)
		return pod
	}
	of := func(rule string) cost.Steered {
		return cost.Steered{Set: set, Count: 7, Request: request, Selected: true, Rule: rule, From: 9, Generation: 4, First: 1763780000000, Decision: 1}
	}
	kept := of("")
	kept.Selected = false
	for text, want := range map[string]cost.Steered{
		set + "/7/" + request + "/not-ready" + tail:                  of("not-ready"),
		set + "/7/" + request + "/first[7]" + tail:                   of("first[7]"),
		set + "/7/" + request + "/" + strings.Repeat("a", 32) + tail: of(strings.Repeat("a", 32)),
		set + "/7/" + request + "/kept" + tail:                       kept,
	} {
		if got, ok := cost.SteeredOf(annotated(cost.Manager, text)); !ok || got != want || got.String() != text {
			t.Errorf("%s is %+v", text, got)
		}
		pod := annotated("kube-controller-manager", text)
		fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost)
		if _, ok := cost.SteeredOf(pod); ok {
			t.Error("an annotation of its template is taken for one of this program")
		}
		pod.ManagedFields = nil
		if _, ok := cost.SteeredOf(pod); ok {
			t.Error("an annotation that nobody manages is taken for one of this program")
		}
		if got, ok := cost.Cached(pod); !ok || got != want {
			t.Errorf("%s is %+v in the cache", text, got)
		}
	}
	// What has another form, such as a longer one, is none.
	for _, text := range []string{
		"", "x", "/kept", set, set + "/7", set + "/x/" + request, set + "/99999999999/" + request, "web/7/" + request, set + "/7/5a",
		set + "/7/" + request, set + "/7/" + request + "/Tier", set + "/7/" + request + "/" + strings.Repeat("a", 33), set + "/7/" + request + "/tier ",
		set + "/7/" + request + "/tier\n", set + "/7/" + request + "/a/b", set + "/007/" + request + "/tier", set + "/+7/" + request + "/tier",
		"{" + set + "}/7/" + request + "/tier", set + "/99999999999/" + request + "/tier", "web/7/" + request + "/tier", set + "/7/5a/tier",
		set + "/7/" + request + "/", set + "/7/" + request + "/kept/kept", set + "/007/" + request,
		set + "/+7/" + request, "{" + set + "}/7/" + request, set + "/7/" + request + "/tier/9/4/1", set + "/7/" + request + "/tier" + tail + "/1",
		set + "/7/" + request + "/tier/9/4/+1/1", set + "/007/" + request + "/tier" + tail, set + "/+7/" + request + "/tier" + tail,
		"{" + set + "}/7/" + request + "/tier" + tail, "web/7/" + request + "/tier" + tail, set + "/7/5a/tier" + tail, set + "/7/" + request + "/t_er" + tail,
	} {
		if got, ok := cost.SteeredOf(annotated(cost.Manager, text)); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
	// One that could not be read again is not written, whatever the rule is called.
	for _, rule := range []string{"", "kept", "No rule", strings.Repeat("a", 33)} {
		steered := cost.Steered{Set: set, Count: 7, Request: request, Selected: true, Rule: rule}
		if got, ok := cost.SteeredOf(annotated(cost.Manager, steered.String())); !ok || !got.Selected || !got.IsOf(steered) || !steered.IsOf(got) {
			t.Errorf("%q is written as %s", rule, steered)
		}
	}
	// Anyone who forges one spells it otherwise than the admission policy.
	for _, fields := range []string{
		`{"f:Metadata":{"f:annotations":{"f:podrank.dev/steered":{}}}}`, `{"f:metadata":{"f:Annotations":{"f:podrank.dev/steered":{}}}}`,
		`{"f:metadata":{"f:annotations":{"f:podrank.dev/Steered":{}}}}`, `{"f:metadata":[]}`, `[]`, ``,
	} {
		pod := annotated("creator", set+"/7/"+request)
		pod.ManagedFields[0].Manager, pod.ManagedFields[0].FieldsV1.Raw = cost.Manager, []byte(fields)
		if _, ok := cost.SteeredOf(pod); ok {
			t.Errorf("%s counts", fields)
		}
	}
	if _, ok := cost.SteeredOf(&corev1.Pod{}); ok {
		t.Error("a pod without an annotation has one")
	}
}

// What somebody else has written can be restored if it is a number, and if it is known whose it is.
func TestPrevious(t *testing.T) {
	for _, test := range []struct {
		cost, manager string
		isSound       bool
	}{
		{"0", "karpenter", true}, {"-2147483648", "karpenter", true}, {"2147483647", strings.Repeat("k", 128), true},
		{"2147483648", "karpenter", false}, {"+1", "karpenter", false}, {"007", "karpenter", false}, {"", "karpenter", false}, {"1.5", "karpenter", false},
		{"1", "", false}, {"1", cost.Manager, false}, {"1", cost.Terminal, false}, {"1", strings.Repeat("k", 129), false}, {"1", "kar\npenter", false},
	} {
		pod := &corev1.Pod{}
		pod.Annotations = map[string]string{corev1.PodDeletionCost: test.cost}
		if test.manager != "" {
			fakeapi.Manage(pod, test.manager, corev1.PodDeletionCost)
		}
		theirs := cost.Theirs(pod)
		if (theirs != nil) != test.isSound {
			t.Errorf("%+v: %v", test, theirs)
		}
		for i := range pod.ManagedFields {
			pod.ManagedFields[i].Operation = metav1.ManagedFieldsOperationApply
		}
		if got := cost.Theirs(pod); got != nil {
			t.Errorf("%+v is applied, and can be restored: %v", test, got)
		}
		pod.Annotations[cost.PreviousAnnotation] = cost.Previous{Value: test.cost, Manager: test.manager}.String()
		if got := cost.PreviousOf(pod); got != nil {
			t.Errorf("%+v is remembered, though nobody says that this program has written it", got)
		}
		fakeapi.Manage(pod, cost.Manager, cost.PreviousAnnotation)
		if got := cost.PreviousOf(pod); (got != nil) != test.isSound {
			t.Errorf("%+v: remembered as %v", test, got)
		}
		pod.Annotations[cost.PreviousAnnotation] += " "
		if got := cost.PreviousOf(pod); got != nil {
			t.Errorf("%+v: remembered in another form", test)
		}
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
