// Command shuffle shows what upstream's comparator does to an ordinary rollout,
// and what podrank does: the same pods, listed in 200 orders.
//
//	go run ./cmd/shuffle
//
// Its output depends on nothing but the pinned Kubernetes and the sort.Sort of
// the Go release.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge"
	"github.com/podrank/podrank/go/judge/upstream"
)

const (
	pods     = 30
	nodes    = 10
	victims  = 6
	shuffles = 200
	seed     = 1
)

var (
	rollout = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	now     = metav1.NewTime(rollout.Add(time.Hour))
)

func main() { show(os.Stdout) }

func show(w io.Writer) {
	fmt.Fprintf(w, "Kubernetes %s\n", judge.Kubernetes)
	cycle(w)
	fmt.Fprintln(w)
	scaleDown(w)
}

// pod is a running pod, ready some seconds after the rollout began.
func pod(name, uid string, seconds int, restarts int32) *v1.Pod {
	ready := metav1.NewTime(rollout.Add(time.Duration(seconds) * time.Second))
	p := &v1.Pod{}
	p.Name, p.UID, p.CreationTimestamp = name, types.UID(uid), metav1.NewTime(ready.Add(-5*time.Second))
	p.Spec.NodeName = "node-0"
	p.Status.Phase = v1.PodRunning
	p.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: ready}}
	p.Status.ContainerStatuses = []v1.ContainerStatus{{Name: "app", RestartCount: restarts}}
	return p
}

func cycle(w io.Writer) {
	x := pod("X", "00000000-0000-4000-8000-000000000001", 1, 0)
	y := pod("Y", "00000000-0000-4000-8000-000000000003", 1, 5)
	z := pod("Z", "00000000-0000-4000-8000-000000000002", 0, 0)
	for _, pair := range [][2]*v1.Pod{{x, z}, {z, y}, {y, x}} {
		a, b := pair[0], pair[1]
		fmt.Fprintf(w, "upstream: Less(%s, %s) = %t, Less(%s, %s) = %t\n",
			a.Name, b.Name, upstream.Less(a, b, 1, 1, now), b.Name, a.Name, upstream.Less(b, a, 1, 1, now))
	}
}

func scaleDown(w io.Writer) {
	r := rand.New(rand.NewPCG(seed, 0))
	list := make([]*v1.Pod, pods)
	for i := range list {
		restarts := int32(0)
		if i%4 == 3 {
			restarts = 1
		}
		uid := fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x",
			r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))
		list[i] = pod(fmt.Sprintf("web-%02d", i), uid, r.IntN(4), restarts)
		list[i].Spec.NodeName = fmt.Sprint("node-", i%nodes)
	}
	fmt.Fprintf(w, "%d pods, ready within 4 seconds, %d of them restarted; %d are to go\n", pods, pods/4, victims)

	theirs, ours, settled := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for range shuffles {
		r.Shuffle(pods, func(i, j int) { list[i], list[j] = list[j], list[i] })

		chosen, err := podrank.PodsToDelete(list, list, victims, podrank.WithNow(now.Time))
		s, err2 := podrank.Settle(list, list, victims, podrank.WithNow(now.Time))
		if err := errors.Join(err, err2); err != nil {
			panic(err)
		}
		ours[set(chosen)] = true
		settled[fmt.Sprintf("%d certain, %d safe, %d contested, of which %d go",
			len(s.Certain), len(s.Safe), len(s.Contested), s.Quota)] = true

		sorted, ranks := slices.Clone(list), upstream.Ranks(list, list)
		upstream.Sort(sorted, ranks, now)
		theirs[set(sorted[:victims])] = true
	}
	fmt.Fprintf(w, "upstream: %s of %d shuffles\n", sets(len(theirs)), shuffles)
	fmt.Fprintf(w, "podrank: %s of %d shuffles\n", sets(len(ours)), shuffles)
	for s := range settled { // one, or the test fails
		fmt.Fprintf(w, "podrank of upstream: %s\n", s)
	}
}

func sets(n int) string {
	if n == 1 {
		return "1 victim set"
	}
	return fmt.Sprint(n, " distinct victim sets")
}

// set is the pods' names, whatever their order.
func set(some []*v1.Pod) string {
	var names []string
	for _, p := range some {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}
