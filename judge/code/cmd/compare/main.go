// Command compare races podrank against Kubernetes' own code: both choose min(n/2, 500) of the same n pods, which nobody
// has sorted yet, in one process, in turns. `make -C go compare` runs it.
//
//	n=… upstream=… cgo=… plain=… floor=… cgo-ratio=… plain-ratio=…
//
// upstream is kube-controller-manager's rank counting and sort.Sort. cgo and plain are a warm Ranker from []*v1.Pod to
// []*v1.Pod, with libpodrank and with plain Go. floor is a Go loop that reads once all that the decision depends on, and
// stores nothing. The times are medians, per decision. The ratios are upstream over cgo and over plain.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/cpodrank"
	"github.com/podrank/podrank/go/internal/engine"
	"github.com/podrank/podrank/go/internal/plain"
	"github.com/podrank/podrank/go/judge/upstream"
)

var sizes = []int{10, 100, 1_000, 10_000, 100_000}

func main() {
	for _, n := range sizes {
		r := newRace(n)
		r.check()
		t := r.run()
		fmt.Printf("n=%d upstream=%v cgo=%v plain=%v floor=%v cgo-ratio=%.1f plain-ratio=%.1f\n",
			n, round(t.upstream), round(t.cgo), round(t.plain), round(t.floor),
			float64(t.upstream)/float64(t.cgo), float64(t.upstream)/float64(t.plain))
	}
}

// round keeps three digits.
func round(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

type race struct {
	pods []*v1.Pod
	// One copy of the list for each decision of a batch: upstream sorts its list, and a sorted one sorts faster.
	lists  [][]*v1.Pod
	now    metav1.Time
	k      int
	ranker *podrank.Ranker
}

func newRace(n int) *race {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	r := &race{
		pods: pods(n, now), now: metav1.NewTime(now), k: min(n/2, 500),
		ranker: podrank.NewRanker(podrank.WithNow(now)),
	}
	// A batch takes long enough for the clock.
	r.lists = make([][]*v1.Pod, max(1, 2_000/n))
	for i := range r.lists {
		r.lists[i] = make([]*v1.Pod, n)
	}
	return r
}

func (r *race) upstream(list []*v1.Pod) []*v1.Pod {
	upstream.Sort(list, upstream.Ranks(list, list), r.now)
	return list[:r.k]
}

func (r *race) cgo(list []*v1.Pod) []*v1.Pod   { return r.podrank(cpodrank.Engine{}, list) }
func (r *race) plain(list []*v1.Pod) []*v1.Pod { return r.podrank(plain.Engine{}, list) }

func (r *race) podrank(by core.Engine, list []*v1.Pod) []*v1.Pod {
	engine.Current = by
	victims, err := r.ranker.PodsToDelete(list, list, r.k)
	if err != nil {
		log.Fatal(err)
	}
	return victims
}

// check checks that all choose: podrank's certain victims are among those of upstream, and both engines choose the same.
func (r *race) check() {
	list := slices.Clone(r.pods)
	settled, err := podrank.Predict(list, list, r.k, podrank.WithNow(r.now.Time))
	if err != nil {
		log.Fatal(err)
	}
	goes := map[*v1.Pod]bool{}
	for _, pod := range r.upstream(list) {
		goes[pod] = true
	}
	for _, pod := range settled.Deleted {
		if !goes[pod] {
			log.Fatalf("%d pods: %s certainly goes, and upstream keeps it", len(r.pods), pod.Name)
		}
	}
	if len(r.cgo(r.pods)) != r.k || len(goes) != r.k || !slices.Equal(r.plain(r.pods), r.cgo(r.pods)) {
		log.Fatalf("%d pods: not %d victims", len(r.pods), r.k)
	}
}

// times are medians, per decision.
type times struct{ upstream, cgo, plain, floor time.Duration }

// run times batches that take turns.
func (r *race) run() times {
	batches := max(7, min(301, 1_000_000/(len(r.pods)*len(r.lists))))
	var all [4][]time.Duration
	for range batches {
		for i, decide := range []func([]*v1.Pod){
			func(list []*v1.Pod) { r.upstream(list) },
			func(list []*v1.Pod) { r.cgo(list) },
			func(list []*v1.Pod) { r.plain(list) },
			func(list []*v1.Pod) { sink += read(list) },
		} {
			for _, list := range r.lists {
				copy(list, r.pods)
			}
			start := time.Now()
			for _, list := range r.lists {
				decide(list)
			}
			all[i] = append(all[i], time.Since(start)/time.Duration(len(r.lists)))
			// Upstream's garbage is not to be collected at another's cost.
			if i == 0 && len(r.pods) >= 1_000 {
				runtime.GC()
			}
		}
	}
	for i := range all {
		slices.Sort(all[i])
	}
	return times{all[0][batches/2], all[1][batches/2], all[2][batches/2], all[3][batches/2]}
}

var sink uint64

// read is the floor: every field that the order depends on, once, in a loop as anyone would write it.
func read(list []*v1.Pod) (sum uint64) {
	for _, pod := range list {
		if pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed || pod.DeletionTimestamp != nil {
			continue
		}
		for i := range len(pod.UID) {
			sum += uint64(pod.UID[i])
		}
		for i := range len(pod.Spec.NodeName) {
			sum += uint64(pod.Spec.NodeName[i])
		}
		sum += uint64(pod.CreationTimestamp.Unix())
		for i := range pod.Status.Conditions {
			if condition := &pod.Status.Conditions[i]; condition.Type == v1.PodReady {
				if condition.Status == v1.ConditionTrue {
					sum += uint64(condition.LastTransitionTime.Unix())
				}
				break
			}
		}
		sum += uint64(len(pod.Annotations[v1.PodDeletionCost]))
		sum += uint64(len(pod.Labels[podrank.PreferForScaleDownLabel]))
		for i := range pod.Status.ContainerStatuses {
			sum += uint64(pod.Status.ContainerStatuses[i].RestartCount)
		}
		for i := range pod.Status.InitContainerStatuses {
			status := &pod.Status.InitContainerStatuses[i]
			for j := range pod.Spec.InitContainers {
				container := &pod.Spec.InitContainers[j]
				if container.Name == status.Name && container.RestartPolicy != nil {
					sum += uint64(status.RestartCount)
				}
			}
		}
	}
	return sum
}

// pods are those of a large Deployment at rest: ready, in waves of rollouts, some restarted, a few with a cost. Each has
// its structs, maps, UID and node name to itself, as when decoded from the API (only the texts of keys are shared), and
// their list is in no order, as an informer's is not.
func pods(n int, now time.Time) []*v1.Pod {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	list := make([]*v1.Pod, n)
	for i := range list {
		list[i] = pod(r, i, max(3, n/20), now)
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func pod(r *rand.Rand, i, nodes int, now time.Time) *v1.Pod {
	created := now.Add(-time.Duration(1+r.IntN(5)) * 7 * time.Hour).Add(-time.Duration(r.IntN(120)) * time.Second)
	ready := metav1.NewTime(created.Add(time.Duration(5+r.IntN(20)) * time.Second))
	always := v1.ContainerRestartPolicyAlways
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-7d9c5b6f48-%05d", i), Namespace: "shop", GenerateName: "web-7d9c5b6f48-",
			UID: types.UID(fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x",
				r.Uint32(), r.IntN(1<<16), r.IntN(1<<12), r.IntN(1<<12), r.Int64N(1<<48))),
			CreationTimestamp: metav1.NewTime(created),
			Labels: map[string]string{
				"app.kubernetes.io/name": "web", "app.kubernetes.io/instance": "web-production",
				"app.kubernetes.io/component": "frontend", "pod-template-hash": "7d9c5b6f48",
			},
			Annotations: map[string]string{
				"kubernetes.io/config.seen": "2026-03-10T09:00:00Z", "prometheus.io/scrape": "true",
				"prometheus.io/port": "9090", "cni.projectcalico.org/podIP": "10.1.2.3/32",
			},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-7d9c5b6f48"}},
		},
		Spec: v1.PodSpec{
			NodeName:       fmt.Sprintf("ip-10-0-%d-%d.eu-central-1.compute.internal", r.IntN(nodes)/250, r.IntN(nodes)%250),
			InitContainers: []v1.Container{{Name: "mesh-init"}, {Name: "mesh", RestartPolicy: &always}},
		},
		Status: v1.PodStatus{Phase: v1.PodRunning, PodIP: "10.1.2.3"},
	}
	if r.IntN(5) == 0 {
		p.Annotations[v1.PodDeletionCost] = fmt.Sprint(r.IntN(3) * 100)
	}
	for _, name := range []string{"app", "metrics", "logs"} {
		p.Spec.Containers = append(p.Spec.Containers, v1.Container{
			Name: name, Image: "registry.example.com/" + name + ":1.2.3",
			Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("100m")}},
		})
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status(r, name, ready))
	}
	for _, container := range p.Spec.InitContainers {
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status(r, container.Name, ready))
	}
	for _, kind := range []v1.PodConditionType{v1.PodInitialized, v1.PodReady, v1.ContainersReady, v1.PodScheduled} {
		p.Status.Conditions = append(p.Status.Conditions,
			v1.PodCondition{Type: kind, Status: v1.ConditionTrue, LastTransitionTime: ready})
	}
	return p
}

func status(r *rand.Rand, name string, since metav1.Time) v1.ContainerStatus {
	restarts := int32(0)
	if r.IntN(10) == 0 {
		restarts = int32(1 + r.IntN(3))
	}
	return v1.ContainerStatus{
		Name: name, Ready: true, RestartCount: restarts,
		State: v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: since}},
	}
}
