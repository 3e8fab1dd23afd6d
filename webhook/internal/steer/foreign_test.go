package steer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// newShopBeside is a shop in which karpenter has written costs, those of web-0, web-1 and so on. "" is none.
func newShopBeside(t *testing.T, others v1alpha1.ForeignCosts, costs ...string) *shop {
	s := newShop(t, func(s *shop, pods []*corev1.Pod) {
		s.policy.Spec.ForeignCosts = others
		for i, text := range costs {
			if text != "" {
				other(pods[i], "karpenter", text)
			}
		}
	})
	s.Steerer.ForeignCosts = []v1alpha1.ForeignCosts{v1alpha1.Follow, v1alpha1.Override}
	return s
}

// annotate writes a cost as somebody else does.
func (s *shop) annotate(name, manager, text string) {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop", "uid": %q, "annotations": {%q: %q}}}`,
		name, fakeapi.Read[corev1.Pod](s, s.API, name).UID, corev1.PodDeletionCost, text)
	fakeapi.Must(s, s.Patch(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}},
		client.RawPatch("application/merge-patch+json", []byte(patch)), client.FieldOwner(manager)))
}

// has reports the cost of a pod, whose it is, and what was overwritten.
func (s *shop) has(name string) string {
	s.Helper()
	pod := fakeapi.Read[corev1.Pod](s, s.API, name)
	text := pod.Annotations[corev1.PodDeletionCost]
	if writer := cost.WriterOf(pod); writer != "" {
		text += " by " + writer
	}
	if before := cost.PreviousOf(pod); before != nil {
		text += " over " + before.Value
	}
	return text
}

// The selected pods are on node-1: web-1, web-3 and web-5.
func TestOverride(t *testing.T) {
	costs := []string{"-5", "-1", "", "-1", "7", "+10"}
	keep := newShopBeside(t, v1alpha1.Keep, costs...)
	keep.fall(3, steer.NoRoom, "lower cost of pod web-5 (cost +10, written by karpenter) than of pod web-0 (cost -5, written by karpenter)")
	s := newShopBeside(t, v1alpha1.Override, "-5", "-1", "", "-1", "7", "")
	o := s.fall(3, steer.Steered, "")
	for name, want := range map[string]string{
		"web-0": "-5 by karpenter", "web-1": "-6 over -1", "web-2": "", "web-3": "-6 over -1", "web-4": "7 by karpenter", "web-5": "-6",
	} {
		if got := s.has(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if o.Written != 3 {
		t.Errorf("%d written", o.Written)
	}
	// What cannot be restored is not overwritten.
	odd := newShopBeside(t, v1alpha1.Override, costs...)
	odd.fall(3, steer.NoRoom, "web-5 (cost")
	// Nothing is lower than the lowest.
	full := newShopBeside(t, v1alpha1.Override, "-2147483648")
	full.fall(3, steer.NoRoom, "web-0 (cost -2147483648, written by karpenter)")
	if len(full.Written())+len(keep.Written())+len(odd.Written()) != 0 {
		t.Error("costs were written although there was no room")
	}
}

// Foreign costs decide between equals.
func TestFollow(t *testing.T) {
	for others, want := range map[v1alpha1.ForeignCosts]string{v1alpha1.Follow: "web-5", v1alpha1.Override: "web-1"} {
		s := newShopBeside(t, others, "-9", "-1", "", "-2", "", "-3")
		if got := s.fall(5, steer.Steered, "").Selected; len(got) != 1 || got[0].Key.Name != want {
			t.Errorf("%s: %v", others, got)
		}
	}
}

// What the administrator does not allow is as if there were no policy.
func TestNotAllowed(t *testing.T) {
	s := newShopBeside(t, v1alpha1.Override)
	s.Steerer.ForeignCosts = []v1alpha1.ForeignCosts{v1alpha1.Follow}
	s.fall(3, steer.NoPolicy, "")
}

// The cost of somebody else comes back at the end, but for one that was written since, and continues from one request to the next.
func TestRestore(t *testing.T) {
	s := newShopBeside(t, v1alpha1.Override, "-5", "-1", "", "-1", "", "8")
	s.fall(3, steer.Steered, "")
	s.annotate("web-3", "karpenter", "4")
	s.fails(2)
	for name, want := range map[string]string{"web-1": "-6 over -1", "web-3": "-6 over 4"} {
		if got := s.has(name); got != want {
			t.Errorf("%s while the second request waits: %q", name, got)
		}
	}
	s.annotate("web-5", "somebody", "9")
	s.removesAll()
	for name, want := range map[string]string{"web-0": "-5 by karpenter", "web-5": "9 by somebody", "web-1": "-1 by karpenter", "web-3": "4 by karpenter"} {
		if got := s.has(name); got != want {
			t.Errorf("%s at the end: %q", name, got)
		}
	}
	if got := s.costs(); strings.Contains(fmt.Sprint(got), " to ") {
		t.Errorf("annotations are left: %v", got)
	}
}

// What somebody has written between two requests comes back, although the pod had a cost of the first before.
func TestRestoreBetween(t *testing.T) {
	s := newShopBeside(t, v1alpha1.Override, "", "7")
	s.fall(3, steer.Steered, "")
	s.barrier = func(context.Context) error {
		if s.has("web-1") == "4 by karpenter" || strings.HasSuffix(s.has("web-1"), "over 4") {
			return errors.New("no barrier pod")
		}
		s.annotate("web-1", "karpenter", "4")
		return nil
	}
	s.fall(2, steer.Unsettled, "no barrier pod")
	if got := s.has("web-1"); !strings.HasSuffix(got, "over 4") {
		t.Fatalf("%q, so this shows nothing", got)
	}
	s.removesAll()
	if got := s.has("web-1"); got != "4 by karpenter" {
		t.Errorf("%q", got)
	}
}

// removesAll removes all costs, as the leader does at the end.
func (s *shop) removesAll() {
	s.Helper()
	var pods corev1.PodList
	fakeapi.Must(s, s.List(context.Background(), &pods))
	for _, pod := range pods.Items {
		if steered, ok := cost.SteeredOf(&pod); ok {
			fakeapi.Must(s, s.Costs.Remove(context.Background(), []cost.Undo{{Pod: cost.PodOf(&pod), Steered: steered}})[0])
		}
	}
}

// A pass in the middle: if a cost changes while the program waits for the barrier pod, it decides once more, but not
// forever. It writes web-1's cost, web-3's is low enough, and web-2 is kept.
func TestPassInTheMiddle(t *testing.T) {
	for _, others := range []v1alpha1.ForeignCosts{v1alpha1.Override, v1alpha1.Keep} {
		for name, first := range map[string]int{"web-1": 1, "web-3": 1, "web-2": -200} {
			s := newShopBeside(t, others, "", "", "", "-100", "", "")
			passes := 0
			s.barrier = func(context.Context) error {
				s.annotate(name, "karpenter", fmt.Sprint(first+passes))
				passes++
				return nil
			}
			message, want := "pods changed after the last decision", 2
			if others == v1alpha1.Keep && name == "web-2" {
				// web-3 cannot be deleted before it.
				message, want = "no room", 1
			}
			if s.fall(3, steer.Unsettled, message); passes != want {
				t.Errorf("%s: %d passes that write to %s", others, passes, name)
			}
		}
	}
}
