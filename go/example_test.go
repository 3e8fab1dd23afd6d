package podrank_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// pod returns a pod that became ready an hour before now, plus this many seconds.
func pod(name string, number, second int, restarts int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", number)),
		},
		Spec: corev1.PodSpec{NodeName: "worker-1"},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{
				Type: corev1.PodReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(now.Add(-time.Hour).Add(time.Duration(second) * time.Second)),
			}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "app", RestartCount: restarts}},
		},
	}
}

func ExamplePodsToDelete() {
	healthy, restarted, pending := pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 3), pod("web-3", 3, 0, 0)
	pending.Spec.NodeName, pending.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
	active := []*corev1.Pod{healthy, restarted, pending}

	victims, err := podrank.PodsToDelete(active, active, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, pod := range victims {
		fmt.Println(pod.Name)
	}
	// Output:
	// web-3
	// web-2
}

// This chooses as the ReplicaSet controller does. Only among contested pods, for which the list order decides there, podrank
// decides by the pods.
func ExamplePodsToDelete_kubernetes() {
	active := []*corev1.Pod{pod("x", 1, 1, 0), pod("y", 3, 1, 5), pod("z", 2, 0, 0)}
	victims, err := podrank.PodsToDelete(active, nil, 1,
		podrank.Kubernetes(), podrank.WithBurst(podrank.BurstReplicas), podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(victims[0].Name)
	// Output: y
}

func ExampleRanker() {
	ranker := podrank.NewRanker(podrank.WithNow(now))
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 3), pod("web-3", 3, 0, 1)}
	for diff := range 4 {
		victims, err := ranker.PodsToDelete(active, active, diff)
		if err != nil {
			log.Fatal(err)
		}
		for _, pod := range victims {
			fmt.Print(pod.Name, " ")
		}
		fmt.Println("of", len(active))
	}
	// Output:
	// of 3
	// web-2 of 3
	// web-2 web-3 of 3
	// web-2 web-3 web-1 of 3
}

func ExampleExplain() {
	a, b := pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0)
	a.Annotations = map[string]string{corev1.PodDeletionCost: "100"}
	explanation, err := podrank.Explain(a, b, nil, podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range explanation.Rows {
		if row.Decides {
			fmt.Printf("%s: %d to %d\n", row.Rule, row.A, row.B)
		}
	}
	// Output: deletion-cost: 100 to 0
}

// Kubernetes' comparator is cyclic for three of these pods: x before z, z before y, y before x. A pod with a lower deletion cost
// goes in any case.
func ExampleSettle() {
	active := []*corev1.Pod{pod("x", 1, 1, 0), pod("y", 3, 1, 5), pod("z", 2, 0, 0), pod("cheap", 4, 0, 0)}
	active[3].Annotations = map[string]string{corev1.PodDeletionCost: "-1"}
	settled, err := podrank.Settle(active, nil, 2, podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s goes, and %d of %d others\n", settled.Certain[0].Name, settled.Quota, len(settled.Contested))
	// Output: cheap goes, and 1 of 3 others
}

// Pods on pay-per-use nodes should go first, so that these nodes become empty and cost nothing. Kubernetes does not know
// that, but with these deletion costs it deletes them first.
func ExampleSteer() {
	var active []*corev1.Pod
	for i, node := range []string{
		"reserved-1", "reserved-1", "reserved-2", "pay-per-use-1", "pay-per-use-1", "pay-per-use-2", "reserved-2",
	} {
		active = append(active, pod(fmt.Sprint("web-", i+1), i+1, 0, 0))
		active[i].Spec.NodeName = node
	}
	active[4].Annotations = map[string]string{corev1.PodDeletionCost: "100"}
	active[6].Status.Conditions = nil // not ready

	payPerUseFirst := podrank.WithTier(func(pod *corev1.Pod) int {
		if strings.HasPrefix(pod.Spec.NodeName, "pay-per-use") {
			return 0
		}
		return 1
	})
	changes, err := podrank.Steer(active, payPerUseFirst)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(changes), "of", len(active), "deletion costs change:")
	for _, change := range changes {
		fmt.Printf("  %s on %s: %d\n", change.Pod.Name, change.Pod.Spec.NodeName, change.Cost)
		// Your program would write it to the API server.
		change.Pod.Annotations = map[string]string{corev1.PodDeletionCost: fmt.Sprint(change.Cost)}
	}
	blocked, err := podrank.BlockedPods(active, payPerUseFirst)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range blocked {
		fmt.Printf("%s still goes before them: %s\n", b.Pod.Name, b.Rule)
	}
	settled, err := podrank.Settle(active, nil, 4, podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print("if 4 pods go, Kubernetes certainly deletes:")
	for _, pod := range settled.Certain {
		fmt.Print(" ", pod.Name)
	}
	// Output:
	// 3 of 7 deletion costs change:
	//   web-4 on pay-per-use-1: -1
	//   web-5 on pay-per-use-1: -1
	//   web-6 on pay-per-use-2: -1
	// web-7 still goes before them: not-ready
	// if 4 pods go, Kubernetes certainly deletes: web-7 web-4 web-5 web-6
}
