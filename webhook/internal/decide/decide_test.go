package decide_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/decide"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func running(uid uint32, node string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", uid))
	pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
	return pod
}

// costCase is a question, and what a test knows of its pods: whose costs may not be written, whose annotation there is already, and which are
// selected.
type costCase struct {
	decide.Question
	round              int
	fixed, ours, named map[types.UID]bool
	costs              map[types.UID]int64
}

func randomCosts(r *rand.Rand, round int) *costCase {
	n := 1 + r.IntN(7)
	c := &costCase{
		Question: decide.Question{Delete: r.IntN(n), Now: now},
		round:    round,
		fixed:    map[types.UID]bool{}, ours: map[types.UID]bool{}, named: map[types.UID]bool{}, costs: map[types.UID]int64{},
	}
	for i := range n {
		cost := []int64{math.MinInt32, math.MinInt32 + 1, -1, 0, 0, 0, 1, math.MaxInt32}[r.IntN(8)]
		pod := running(r.Uint32(), "node")
		pod.Name = fmt.Sprint(i)
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))},
		}
		pod.Annotations = map[string]string{corev1.PodDeletionCost: strconv.FormatInt(cost, 10)}
		c.fixed[pod.UID], c.costs[pod.UID] = r.IntN(4) == 0, cost
		c.ours[pod.UID] = !c.fixed[pod.UID] && r.IntN(4) == 0
		c.Active = append(c.Active, pod)
	}
	c.IsFixed = func(pod *corev1.Pod) bool { return c.fixed[pod.UID] }
	c.IsOurs = func(pod *corev1.Pod) bool { return c.ours[pod.UID] }
	c.ForeignCost = func(*corev1.Pod) string { return "" }
	// The selected pods are named by a tier, so that they are not those of the lowest costs.
	for _, i := range r.Perm(n)[:c.Delete] {
		c.named[c.Active[i].UID] = true
	}
	c.Tier = func(pod *corev1.Pod) int {
		if c.named[pod.UID] {
			return 0
		}
		return 1
	}
	return c
}

// requests is the number of requests that write the cost of a pod and, if the pod is kept, remove it again. It is close
// to 0 for a pod that is deleted, because the program writes to it in any case.
func (c *costCase) requests(uid types.UID) int {
	switch {
	case c.named[uid]:
		return 1
	case c.ours[uid]:
		return 127
	}
	return 254
}

// fewestRequests tries every set of pods to write, and returns -1 if none makes the named pods are deleted first.
func (c *costCase) fewestRequests() int {
	fewest := -1
	for written := range 1 << len(c.Active) {
		requests, isAllowed := 0, true
		// A written cost of a named pod can be the lowest, and one of another the highest.
		highest, lowest := int64(math.MinInt32), int64(math.MaxInt32)
		hasNamed, hasOther := false, false
		for i, pod := range c.Active {
			isWritten := written>>i&1 == 1
			if isWritten {
				requests += c.requests(pod.UID)
				isAllowed = isAllowed && !c.fixed[pod.UID]
			}
			if c.named[pod.UID] {
				hasNamed = true
				if !isWritten {
					highest = max(highest, c.costs[pod.UID])
				}
			} else {
				hasOther = true
				if !isWritten {
					lowest = min(lowest, c.costs[pod.UID])
				}
			}
		}
		isInLine := !hasNamed || !hasOther || highest < lowest
		if isAllowed && isInLine && (fewest < 0 || requests < fewest) {
			fewest = requests
		}
	}
	return fewest
}

// carryOut writes the costs, and returns the number of requests, and whether it wrote to kept pods (false) and deleted
// pods (true).
func (c *costCase) carryOut(t *testing.T, writes []decide.Write) (requests int, written map[bool]bool) {
	t.Helper()
	written = map[bool]bool{}
	for _, write := range writes {
		if c.fixed[write.Pod.UID] {
			t.Fatalf("round %d: %+v", c.round, write)
		}
		requests += c.requests(write.Pod.UID)
		written[c.named[write.Pod.UID]] = true
		c.costs[write.Pod.UID] = int64(write.Cost)
	}
	return requests, written
}

// isInLine finds a selected pod whose cost is not below that of every other.
func (c *costCase) isInLine(t *testing.T) {
	t.Helper()
	for _, deleted := range c.Active {
		for _, kept := range c.Active {
			if c.named[deleted.UID] && !c.named[kept.UID] && c.costs[deleted.UID] >= c.costs[kept.UID] {
				t.Fatalf("round %d: %s at %d, %s at %d", c.round, deleted.Name, c.costs[deleted.UID], kept.Name, c.costs[kept.UID])
			}
		}
	}
}

// After the writes, every selected pod has a lower cost than every other, no fixed cost was written, and no other
// writes need fewer requests.
func TestCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var noRoom, survivors, none, both int
	for round := range 5_000 {
		c := randomCosts(r, round)
		fewest := c.fewestRequests()
		decision, err := decide.Decide(c.Question)
		if full := (*decide.NoRoomError)(nil); errors.As(err, &full) {
			noRoom++
			if fewest >= 0 {
				t.Fatalf("round %d: there is room: %v, %v, %v", round, c.costs, c.named, c.fixed)
			}
			continue
		}
		fakeapi.Must(t, err)
		if len(decision.Selected) != c.Delete {
			t.Fatalf("round %d: %d selected, not %d", round, len(decision.Selected), c.Delete)
		}
		requests, written := c.carryOut(t, decision.Writes)
		if requests != fewest {
			t.Fatalf("round %d: %d requests, not %d: %v", round, requests, fewest, decision.Writes)
		}
		c.isInLine(t)
		if requests == 0 {
			none++
		}
		if written[false] {
			survivors++
		}
		if len(written) == 2 {
			both++
		}
	}
	if noRoom < 100 || survivors < 100 || none < 100 || both < 50 {
		t.Errorf("%d without room, %d survivors written, %d of both, %d without writes", noRoom, survivors, both, none)
	}
}

// The probabilities of many pods would take seconds, so they are missing. The possible pods are predicted nevertheless.
func TestPredictsMany(t *testing.T) {
	for _, count := range []int{500, 501} {
		var pods []*corev1.Pod
		for i := range count {
			pods = append(pods, running(uint32(i), "node"))
		}
		p, err := decide.Predict(pods, nil, 1, now)
		if err != nil || len(p.Possible) != count || len(p.Certain) != 0 || len(p.Chances) != map[int]int{500: 500}[count] {
			t.Errorf("%d pods: %d may be deleted, %d certainly, %d by chance: %v", count, len(p.Possible), len(p.Certain), len(p.Chances), err)
		}
	}
}

// All that Kubernetes' order asks of a pod, and of pods of other sets where they are, and nothing else.
func TestStates(t *testing.T) {
	made := func() (own, other *corev1.Pod) {
		own = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "own"}}
		own.Spec.NodeName, own.Status.Phase = "a", corev1.PodRunning
		own.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		own.Status.ContainerStatuses, own.Status.InitContainerStatuses = make([]corev1.ContainerStatus, 1), make([]corev1.ContainerStatus, 1)
		always := corev1.ContainerRestartPolicyAlways
		own.Spec.InitContainers = []corev1.Container{{RestartPolicy: &always}}
		other = own.DeepCopy()
		other.UID = "other"
		return own, other
	}
	of := func(own, other *corev1.Pod) decide.States {
		return decide.StatesOf([]*corev1.Pod{own}, []*corev1.Pod{own, other})
	}
	before := of(made())
	for what, change := range map[string]func(own, other *corev1.Pod){
		"node":             func(own, _ *corev1.Pod) { own.Spec.NodeName = "b" },
		"phase":            func(own, _ *corev1.Pod) { own.Status.Phase = corev1.PodPending },
		"readiness":        func(own, _ *corev1.Pod) { own.Status.Conditions[0].Status = corev1.ConditionFalse },
		"ready time":       func(own, _ *corev1.Pod) { own.Status.Conditions[0].LastTransitionTime = metav1.Unix(7, 0) },
		"cost":             func(own, _ *corev1.Pod) { own.Annotations = map[string]string{corev1.PodDeletionCost: "1"} },
		"restarts":         func(own, _ *corev1.Pod) { own.Status.ContainerStatuses[0].RestartCount++ },
		"sidecar restarts": func(own, _ *corev1.Pod) { own.Status.InitContainerStatuses[0].RestartCount++ },
		"another's node":   func(_, other *corev1.Pod) { other.Spec.NodeName = "b" },
		"another":          func(_, other *corev1.Pod) { other.UID = "third" },
	} {
		own, other := made()
		change(own, other)
		if maps.Equal(of(own, other), before) {
			t.Errorf("%s: not seen", what)
		}
	}
	own, other := made()
	own.Labels, other.Status.Conditions = map[string]string{"a": "b"}, nil
	if !maps.Equal(of(own, other), before) {
		t.Error("labels, and what other sets' pods are like, do not count")
	}
}
