package judge

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/controller"

	podrank "github.com/podrank/podrank/go"
)

// Every combination that a claim depends on, through Kubernetes' own PodControllerRefManager.
func TestClaims(t *testing.T) {
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	kind := appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	cases, seen := 0, map[podrank.Claim]int{}
	for _, owner := range []types.UID{"", "set", "other"} {
		for bits := range 16 {
			set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "set"}}
			pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "shop", UID: "pod"}}
			if bits&1 != 0 {
				set.DeletionTimestamp = &metav1.Time{}
			}
			if bits&2 != 0 {
				pod.DeletionTimestamp = &metav1.Time{}
			}
			if bits&4 != 0 {
				pod.Labels = map[string]string{"app": "web"}
			}
			if bits&8 != 0 {
				pod.Namespace = "elsewhere"
			}
			if owner != "" {
				controls := true
				pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: owner, Controller: &controls}}
			}
			api := &controller.FakePodControl{}
			manager := controller.NewPodControllerRefManager(api, set, selector, kind, func(context.Context) error { return nil })
			claimed, err := manager.ClaimPods(context.Background(), []*v1.Pod{pod})
			if err != nil {
				t.Fatal(err)
			}
			want := map[[2]bool]podrank.Claim{
				{true, false}: podrank.ClaimKeep, {true, true}: podrank.ClaimAdopt, {false, true}: podrank.ClaimRelease,
			}[[2]bool{len(claimed) > 0, len(api.Patches) > 0}]
			cases++
			seen[want]++
			if got, err := podrank.ClaimPod(set, selector, pod); got != want || err != nil {
				t.Errorf("owner %q, %04b: %v, %v, want %v", owner, bits, got, err, want)
			}
		}
	}
	if cases != 48 || len(seen) != 4 {
		t.Errorf("%d cases, %v", cases, seen)
	}
}
