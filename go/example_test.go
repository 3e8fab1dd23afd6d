package podrank_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	podrank "github.com/podrank/podrank/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	fmt.Println(names(victims), err)
	// Output: web-3 web-2 <nil>
}

// This chooses as the ReplicaSet controller does. Only among possible pods, for which the list order decides there, podrank
// decides by the pods.
func ExamplePodsToDelete_kubernetes() {
	active := []*corev1.Pod{pod("x", 1, 1, 0), pod("y", 3, 1, 5), pod("z", 2, 0, 0)}
	victims, err := podrank.PodsToDelete(active, nil, 1,
		podrank.Kubernetes(), podrank.WithBurst(podrank.BurstReplicas), podrank.WithNow(now))
	fmt.Println(names(victims), err)
	// Output: y <nil>
}

func ExampleRanker() {
	ranker := podrank.NewRanker(podrank.WithNow(now))
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 3), pod("web-3", 3, 0, 1)}
	for diff := range 4 {
		victims, err := ranker.PodsToDelete(active, active, diff)
		fmt.Println(len(victims), "of 3:", names(victims), err)
	}
	// Output:
	// 0 of 3:  <nil>
	// 1 of 3: web-2 <nil>
	// 2 of 3: web-2 web-3 <nil>
	// 3 of 3: web-2 web-3 web-1 <nil>
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

// Kubernetes' comparator is cyclic for three of these pods: x before z, z before y, y before x. Kubernetes certainly
// deletes a pod with a lower deletion cost.
func ExamplePredict() {
	active := []*corev1.Pod{pod("x", 1, 1, 0), pod("y", 3, 1, 5), pod("z", 2, 0, 0), pod("cheap", 4, 0, 0)}
	active[3].Annotations = map[string]string{corev1.PodDeletionCost: "-1"}
	prediction, err := podrank.Predict(active, nil, 2, podrank.WithNow(now))
	fmt.Println(names(prediction.Deleted), "certainly, and", prediction.Quota, "of", len(prediction.Possible), err)
	// Output: cheap certainly, and 1 of 3 <nil>
}

// Kubernetes deletes each of the three pods in a third of all orders in which the controller can list them.
func ExampleProbabilities() {
	active := []*corev1.Pod{pod("x", 1, 1, 0), pod("y", 3, 1, 5), pod("z", 2, 0, 0)}
	_, chances, err := podrank.Probabilities(active, nil, 1, podrank.WithNow(now))
	for _, chance := range chances {
		fmt.Printf("%s: %.0f%%\n", chance.Pod.Name, 100*chance.Share)
	}
	fmt.Println(err)
	// Unordered output:
	// x: 33%
	// y: 33%
	// z: 33%
	// <nil>
}

// You want to delete pods on pay-per-use nodes first, so that these nodes become empty and cost nothing. Kubernetes
// does not prefer them, but with these deletion costs it deletes them first.
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
	unsteerable, err := podrank.UnsteerablePods(active, payPerUseFirst)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range unsteerable {
		fmt.Printf("%s is still deleted before them: %s\n", b.Pod.Name, b.Rule)
	}
	prediction, err := podrank.Predict(active, nil, 4, podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("if Kubernetes deletes 4 pods, it certainly deletes:", names(prediction.Deleted))
	// Output:
	// 3 of 7 deletion costs change:
	//   web-4 on pay-per-use-1: -1
	//   web-5 on pay-per-use-1: -1
	//   web-6 on pay-per-use-2: -1
	// web-7 is still deleted before them: not-ready
	// if Kubernetes deletes 4 pods, it certainly deletes: web-7 web-4 web-5 web-6
}

func ExampleExplainVictims() {
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 3), pod("web-3", 3, 0, 0)}
	active[2].Annotations = map[string]string{corev1.PodDeletionCost: "-1"}
	victims, err := podrank.ExplainVictims(active, active, 2, podrank.WithNow(now))
	if err != nil {
		log.Fatal(err)
	}
	for _, victim := range victims {
		fmt.Printf("%s is deleted before %s by %s: %d, not %d\n",
			victim.Pod.Name, victim.Before.Name, victim.Rule, victim.Of, victim.Than)
	}
	// Output:
	// web-3 is deleted before web-1 by deletion-cost: -1, not 0
	// web-2 is deleted before web-1 by restarts: 3, not 0
}

// In the memory of the last list, a decision allocates nothing.
func ExampleRanker_AppendPodsToDelete() {
	ranker := podrank.NewRanker(podrank.WithNow(now), podrank.WithBurst(podrank.BurstReplicas))
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 3)}
	var victims []*corev1.Pod
	for diff := range 3 {
		var err error
		victims, err = ranker.AppendPodsToDelete(victims[:0], active, active, diff)
		fmt.Println(len(victims), err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
}

func ExamplePodError() {
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0)}
	active[1].Status.Phase = corev1.PodFailed
	_, err := podrank.PodsToDelete(active, active, 1)
	fmt.Println(err)
	fmt.Println(errors.Is(err, podrank.ErrInactive))
	var wrong *podrank.PodError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Index, wrong.Name)
	}
	// Output:
	// podrank: active[1] (shop/web-2): phase Failed
	// true
	// 1 web-2
}

func ExamplePointers() {
	list := corev1.PodList{Items: []corev1.Pod{*pod("web-1", 1, 0, 0), *pod("web-2", 2, 0, 1)}}
	active := podrank.Pointers(list.Items)
	victims, err := podrank.PodsToDelete(active, active, 1, podrank.WithNow(now))
	fmt.Println(victims[0].Name, err)
	// Output: web-2 <nil>
}

// Among pods of one deletion cost, the pod with the fewest connections is deleted first.
func ExampleWithRanks() {
	active := []*corev1.Pod{pod("busy", 1, 0, 0), pod("idle", 2, 0, 0)}
	connections := map[string]int{"busy": 90, "idle": 2}
	idleFirst := podrank.WithRanks(func(pod *corev1.Pod) int { return 1000 - connections[pod.Name] })
	victims, err := podrank.PodsToDelete(active, nil, 1, idleFirst, podrank.WithNow(now))
	fmt.Println(victims[0].Name, err)
	// Output: idle <nil>
}

// The clock is asked once for each decision. As time passes, the older pod's age reaches the next power of two, and the
// younger pod is then deleted first.
func ExampleWithClock() {
	clock := now
	ranker := podrank.NewRanker(podrank.WithClock(func() time.Time { return clock }))
	active := []*corev1.Pod{pod("older", 1, 0, 0), pod("younger", 2, 30, 0)}
	for range 2 {
		victims, err := ranker.PodsToDelete(active, active, 1)
		fmt.Println(victims[0].Name, err)
		clock = clock.Add(800 * time.Second)
	}
	// Output:
	// older <nil>
	// younger <nil>
}

// With the gate on, the deletion cost of -1 decides. With it off, nothing separates the pods but their UIDs.
func ExampleWithPodDeletionCost() {
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0)}
	active[1].Annotations = map[string]string{corev1.PodDeletionCost: "-1"}
	for _, on := range []bool{true, false} {
		victims, err := podrank.PodsToDelete(active, active, 1, podrank.WithPodDeletionCost(on), podrank.WithNow(now))
		fmt.Println(victims[0].Name, err)
	}
	// Output:
	// web-2 <nil>
	// web-1 <nil>
}

// With the gate on, ages of 60 minutes and of 59.5 minutes are equal, and the UIDs decide. With it off, the younger pod
// is deleted first.
func ExampleWithLogarithmicScaleDown() {
	active := []*corev1.Pod{pod("older", 1, 0, 0), pod("younger", 2, 30, 0)}
	for _, on := range []bool{true, false} {
		victims, err := podrank.PodsToDelete(active, active, 1, podrank.WithLogarithmicScaleDown(on), podrank.WithNow(now))
		fmt.Println(victims[0].Name, err)
	}
	// Output:
	// older <nil>
	// younger <nil>
}

func ExampleWithPreferForScaleDown() {
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0)}
	active[1].Labels = map[string]string{podrank.PreferForScaleDownLabel: ""}
	for _, on := range []bool{false, true} {
		victims, err := podrank.PodsToDelete(active, active, 1, podrank.WithPreferForScaleDown(on), podrank.WithNow(now))
		fmt.Println(victims[0].Name, err)
	}
	// Output:
	// web-1 <nil>
	// web-2 <nil>
}

// Another program wrote the deletion cost of the pod to keep, so Steer sets the cost of the other pod below it.
func ExampleWithFixed() {
	stays, goes := pod("stays", 1, 0, 0), pod("goes", 2, 0, 0)
	stays.Annotations = map[string]string{corev1.PodDeletionCost: "-5", "cost-of": "autoscaler"}
	first := podrank.WithTier(func(pod *corev1.Pod) int { return map[string]int{"goes": 0, "stays": 1}[pod.Name] })
	others := podrank.WithFixed(func(pod *corev1.Pod) bool { return pod.Annotations["cost-of"] != "" })
	changes, err := podrank.Steer([]*corev1.Pod{stays, goes}, first, others)
	fmt.Println(len(changes), changes[0].Pod.Name, changes[0].Cost, err)
	// Output: 1 goes -6 <nil>
}

// All three pods cost 5. The fewest changes raise the cost of the pod to keep. If its price is 3, Steer lowers the two
// others instead.
func ExampleWithPrice() {
	goes, too, stays := pod("goes", 1, 0, 0), pod("too", 2, 0, 0), pod("stays", 3, 0, 0)
	for _, pod := range []*corev1.Pod{goes, too, stays} {
		pod.Annotations = map[string]string{corev1.PodDeletionCost: "5"}
	}
	tier := func(pod *corev1.Pod) int { return map[string]int{"goes": 0, "too": 0, "stays": 1}[pod.Name] }
	price := func(pod *corev1.Pod) int { return 1 + 2*tier(pod) }
	for _, options := range [][]podrank.Option{nil, {podrank.WithPrice(price)}} {
		changes, err := podrank.Steer([]*corev1.Pod{goes, too, stays}, append(options, podrank.WithTier(tier))...)
		for _, change := range changes {
			fmt.Print(change.Pod.Name, " ", change.Cost, " ")
		}
		fmt.Println(err)
	}
	// Output:
	// stays 6 <nil>
	// goes 4 too 4 <nil>
}

// For a program's -version: which core decides depends on how the program was built.
func ExampleEngine() {
	fmt.Println("podrank", podrank.LibraryVersion(), "by", podrank.Engine())
}

func ExampleWithSpread() {
	var active []*corev1.Pod
	for i, node := range []string{"a", "a", "a", "b", "b"} {
		active = append(active, pod(fmt.Sprint(node, "-", i), i, 0, 0))
		active[i].Spec.NodeName = node
	}
	for _, options := range [][]podrank.Option{nil, {podrank.WithSpread()}} {
		victims, err := podrank.PodsToDelete(active, active, 3, append(options, podrank.WithNow(now))...)
		fmt.Println(names(victims), err)
	}
	// Output:
	// a-0 a-1 a-2 <nil>
	// a-0 a-1 b-3 <nil>
}

func ExampleWithEmptyNodes() {
	var active []*corev1.Pod
	for i, node := range []string{"a", "a", "a", "b", "b", "c", "c"} {
		active = append(active, pod(fmt.Sprint(node, "-", i), i, 0, 0))
		active[i].Spec.NodeName = node
	}
	// A pod of a StatefulSet keeps node b.
	db := pod("db-0", 7, 0, 0)
	db.Spec.NodeName = "b"
	neighbours := podrank.Neighbours(append(active, db), active)
	for _, options := range [][]podrank.Option{nil, {podrank.WithEmptyNodes(podrank.EmptyNodes{Neighbours: neighbours})}} {
		victims, err := podrank.PodsToDelete(active, active, 2, append(options, podrank.WithNow(now))...)
		fmt.Println(names(victims), err)
	}
	// Output:
	// a-0 a-1 <nil>
	// c-5 c-6 <nil>
}

func ExampleNeighbours() {
	db, agent := pod("db-0", 1, 0, 0), pod("agent", 2, 0, 0)
	isController := true
	agent.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", UID: "3", Controller: &isController}}
	for _, pod := range []*corev1.Pod{db, agent} {
		pod.Spec.NodeName = "b"
	}
	for _, neighbour := range podrank.Neighbours([]*corev1.Pod{db, agent}, nil) {
		fmt.Println(neighbour.Node, neighbour.Set == db.UID)
	}
	// Output: b true
}

func ExampleUnsteerablePods() {
	ready, starting := pod("selected", 1, 0, 0), pod("kept", 2, 0, 0)
	starting.Status.Conditions = nil
	first := podrank.WithTier(func(pod *corev1.Pod) int { return map[string]int{"selected": 0, "kept": 1}[pod.Name] })
	unsteerable, err := podrank.UnsteerablePods([]*corev1.Pod{ready, starting}, first)
	one := unsteerable[0]
	fmt.Println(one.Pod.Name, "is deleted before", one.Before.Name, "by", one.Rule, err)
	// Output: kept is deleted before selected by not-ready <nil>
}

func ExampleClaimPod() {
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1"}}
	selector := labels.SelectorFromSet(labels.Set{"app": "web"})
	orphan, stranger := pod("web-1", 1, 0, 0), pod("db-1", 2, 0, 0)
	orphan.Labels = map[string]string{"app": "web"}
	for _, pod := range []*corev1.Pod{orphan, stranger} {
		claim, err := podrank.ClaimPod(set, selector, pod)
		fmt.Println(pod.Name, claim, err)
	}
	// Output:
	// web-1 adopt <nil>
	// db-1 ignore <nil>
}

func ExampleStatusOf() {
	ready, starting, ending := pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0), pod("web-3", 3, 0, 0)
	starting.Status.Conditions = nil
	ending.DeletionTimestamp = &metav1.Time{Time: now}
	status, err := podrank.StatusOf([]*corev1.Pod{ready, starting, ending}, nil, 0, now)
	fmt.Println(status.Replicas, status.Available, status.Terminating, err)
	// Output: 2 1 1 <nil>
}

func ExampleUpdateReplicaFailure() {
	conditions := podrank.UpdateReplicaFailure(nil, 3, 0, errors.New("the quota is used up"), now)
	fmt.Println(conditions[0].Type, conditions[0].Reason)
	fmt.Println(len(podrank.UpdateReplicaFailure(conditions, 0, 0, nil, now)))
	// Output:
	// ReplicaFailure FailedCreate
	// 0
}

func ExamplePlan() {
	creations, deletions, err := podrank.Plan(podrank.State{Desired: 3, Active: 5}, true)
	fmt.Println(creations, deletions, err)
	// Output: 0 2 <nil>
}

func ExampleIsActive() {
	running, done := pod("web-1", 1, 0, 0), pod("web-2", 2, 0, 0)
	done.Status.Phase = corev1.PodSucceeded
	fmt.Println(podrank.IsActive(running), podrank.IsActive(done))
	// Output: true false
}

func ExampleAvailability() {
	active := []*corev1.Pod{pod("web-1", 1, 0, 0), pod("web-2", 2, 30, 0)}
	ready, available, nextCheckAfter, err := podrank.Availability(active, 3590, now)
	fmt.Println(ready, available, nextCheckAfter, err)
	// Output: 2 1 20s <nil>
}

func ExampleCreateInBatches() {
	created, err := podrank.CreateInBatches(context.Background(), 100, func(context.Context) error {
		return errors.New("the quota is used up")
	})
	fmt.Println(created, err)
	// Output: 0 the quota is used up
}

func ExampleExpectations() {
	web := pod("web-1", 1, 0, 0)
	var expectations podrank.Expectations
	if err := expectations.ExpectDeletions([]*corev1.Pod{web}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(expectations.Satisfied(), expectations.Deletions())
	fmt.Println(expectations.DeletionObserved(web), expectations.DeletionObserved(web), expectations.Satisfied())
	expectations.ExpectCreations(3)
	expectations.CreationsObserved(2)
	fmt.Println(expectations.Satisfied(), expectations.Creations())
	expectations.Clear() // The set is gone.
	// Output:
	// false 1
	// true false true
	// false 1
}

// The pods of both ReplicaSets of a Deployment count on a node.
func ExampleRelatedPods() {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "d"}}
	// In a controller, they are client-go's listers of one namespace.
	var sets setLister
	var pods podLister
	for i, version := range []string{"v1", "v2"} {
		set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-" + version}}
		set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"version": version}}
		sets, pods = append(sets, set), append(pods, pod("web-"+version+"-1", i+1, 0, 0))
		pods[i].Labels = map[string]string{"version": version}
	}
	related, err := podrank.RelatedPods(sets[0], sets, pods)
	fmt.Println(names(related), err)
	// Output: web-v1-1 web-v2-1 <nil>
}

// A controller keeps slim pods, and notices by their records whether a decision may have become another one.
func ExampleSlim() {
	web := pod("web-1", 1, 0, 0)
	web.Spec.Containers = []corev1.Container{{Image: "large"}}
	slim := podrank.Slim(web)
	before := podrank.RecordOf(slim)
	web.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 1}}
	fmt.Println(len(slim.Spec.Containers), before == podrank.RecordOf(web))
	// Output: 0 false
}
