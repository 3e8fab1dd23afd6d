package steer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// anyPod has all that may count, from few values, and much that does not.
func anyPod(r *rand.Rand, number int) *corev1.Pod {
	ago := func() metav1.Time {
		return metav1.NewTime(now.Add(-pick(r, 0, 5*time.Second, time.Minute, time.Hour)))
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprint("web-", number), UID: types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", r.Uint32())),
		CreationTimestamp: ago(), Labels: map[string]string{"app": "web"}, Finalizers: []string{"example.com/stays"},
		Annotations: map[string]string{"example.com/large": strings.Repeat("x", 1000)},
	}}
	pod.Spec = corev1.PodSpec{
		NodeName: pick(r, "", "a", "b"), Volumes: []corev1.Volume{{Name: "large"}}, ServiceAccountName: "web",
		Containers: []corev1.Container{{Name: "main", Image: "large"}},
	}
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "large"}, {Name: "second", RestartPolicy: pick(r, nil, &always)}}
	pod.Status.Phase = pick(r, corev1.PodPending, corev1.PodRunning, corev1.PodRunning, corev1.PodUnknown, corev1.PodFailed)
	for _, kind := range pick(r, nil, []corev1.PodConditionType{corev1.PodReady}, []corev1.PodConditionType{corev1.PodInitialized, corev1.PodReady}) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: pick(r, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse), LastTransitionTime: ago(), Message: "large",
		})
	}
	for _, name := range []string{"main", "other"}[:r.IntN(3)] {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, RestartCount: r.Int32N(3), Image: "large"})
	}
	for _, name := range []string{"first", "second"}[:r.IntN(3)] {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: name, RestartCount: r.Int32N(3)})
	}
	manage := func(key, value string) {
		pod.Annotations[key] = value
		raw := fmt.Appendf(nil, `{"f:metadata":{"f:annotations":{"f:%s":{}}}}`, key)
		pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: pick(r, cost.Manager, cost.Terminal, "kube-controller-manager", "kubectl"), FieldsV1: &metav1.FieldsV1{Raw: raw},
		})
	}
	manage("example.com/other", "y")
	if r.IntN(2) == 0 {
		manage(corev1.PodDeletionCost, pick(r, "-1", "0", "7"))
	}
	if r.IntN(2) == 0 {
		manage(cost.Annotation, cost.Steered{Set: pod.UID, Count: r.Int32N(3), Request: pod.UID, Selected: true}.String())
	}
	if r.IntN(8) == 0 {
		pod.DeletionTimestamp = &metav1.Time{Time: now}
	}
	isController := true
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: pick(r, "ReplicaSet", "DaemonSet"), UID: types.UID(pick(r, "web", "old")), Controller: &isController}}
	return pod
}

// Slimmed pods give the same decisions as whole ones, and take much less memory.
func TestSlim(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for round := range 3_000 {
		var whole, slimmed []*corev1.Pod
		for i := range 1 + r.IntN(8) {
			pod := anyPod(r, i)
			small := slim(pod)
			steered, isSteered := cost.SteeredOf(pod)
			smallSteered, isSmallSteered := cost.Cached(small)
			if steered != smallSteered || isSteered != isSmallSteered || decide.IsActive(pod) != decide.IsActive(small) || cost.PodOf(pod) != cost.PodOf(small) ||
				pod.ResourceVersion != small.ResourceVersion {
				t.Fatalf("round %d: %+v is not %+v", round, small, pod)
			}
			if small.Size() > 600 || len(small.Spec.InitContainers) > 1 || len(small.Status.ContainerStatuses)+len(small.Status.InitContainerStatuses) > 2 ||
				small.Labels != nil || small.ManagedFields != nil || small.OwnerReferences != nil {
				t.Fatalf("%d bytes: %+v", small.Size(), small)
			}
			if decide.IsActive(pod) {
				whole, slimmed = append(whole, pod), append(slimmed, small)
			}
		}
		k, isOld := r.IntN(len(whole)+1), r.IntN(2) == 0
		ask := func(pods []*corev1.Pod) string {
			decision, err := decide.Decide(decide.Question{
				Active: pods, Related: pods, Delete: k, Now: now,
				Tier:    func(pod *corev1.Pod) int { return map[bool]int{true: 1}[!isOld || decide.IsAvailable(pod, 30, now)] },
				IsFixed: func(*corev1.Pod) bool { return true }, IsOurs: func(*corev1.Pod) bool { return false },
			})
			var names []string
			for _, pod := range decision.Selected {
				names = append(names, pod.Name)
			}
			return fmt.Sprint(names, err)
		}
		if want, got := ask(whole), ask(slimmed); want != got {
			t.Fatalf("round %d: %s, not %s", round, got, want)
		}
	}
}
