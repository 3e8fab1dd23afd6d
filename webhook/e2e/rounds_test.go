//go:build controlplane

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/steer"
)

var (
	rounds   = flag.Int("rounds", 0, "rounds of TestRounds")
	busy     = flag.Int("busy", 16, "clients that keep the control plane busy during TestRounds")
	churn    = flag.Bool("churn", false, "whether a ReplicaSet of another namespace grows and shrinks by 60 pods every 20 s during TestRounds")
	observed = flag.Bool("observe", false, "whether policies only observe during TestRounds")
	latest   = flag.Int("late", 10, "percentage of the rounds of TestRounds that may be late")
	restart  = flag.Int("restart", 0, "rounds of TestRounds after which kube-controller-manager is restarted, with other orders of its lists; 0: never")
)

// line is what came of a round.
type line struct {
	Round int    `json:"round"`
	Way   string `json:"way"`
	// Preference is what the policy asks for.
	Preference string `json:"preference"`
	Pods       int    `json:"pods"`
	To         int    `json:"to"`
	// Result is took, late, missed or wrong, or uncompared. Late ones are not confirmed, or are not steered; rollouts that are only
	// observed may continue too fast to be compared.
	Result string `json:"result"`
	// Unsteered is whether any request was let through without steering, and Exact whether the selected pods were deleted all the same.
	Unsteered bool   `json:"unsteered,omitempty"`
	Exact     bool   `json:"exact"`
	Message   string `json:"message,omitempty"`
	// Asked is how many requests the program got, and Refused how many it refused.
	Asked   int `json:"asked"`
	Refused int `json:"refused"`
	// Writes is how often costs changed, those that was removed included.
	Writes int `json:"writes"`
	// Milliseconds is how long the slowest request took.
	Milliseconds int64 `json:"ms"`
}

// TestRounds scales random workloads down in every way, beside busy clients, and compares the pods that were deleted with what a naive
// calculation says. It prints a line for each round.
func TestRounds(t *testing.T) {
	if *rounds == 0 {
		t.Skip("only if asked to, with -rounds N")
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for i := range *busy {
		go disturb(ctx, t, fmt.Sprint("busy-", i))
	}
	if *churn {
		go breathe(ctx, t)
	}
	group := *rounds
	if *restart > 0 {
		group = *restart
	}
	var played log
	for first := 1; first <= *rounds; first += group {
		t.Run(fmt.Sprint("from-", first), func(t *testing.T) {
			for number := first; number < first+group && number <= *rounds; number++ {
				t.Run(fmt.Sprint(number), func(t *testing.T) {
					t.Parallel()
					l := &line{Round: number, Result: "wrong"}
					// Also if it ends early.
					defer func() { played.add(t, l) }()
					play(t, l)
				})
			}
		})
		if *restart > 0 {
			w := NewWorld(t, 0)
			w.part("stop", "kube-controller-manager")
			w.part("start", "kube-controller-manager")
		}
	}
	summarise(t, played.lines)
}

// log has the rounds so far.
type log struct {
	mu    sync.Mutex
	lines []*line
}

// add prints a round, and fails if it is not as it should be.
func (all *log) add(t *testing.T, l *line) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.lines = append(all.lines, l)
	text, err := json.Marshal(l)
	if err != nil {
		t.Error(err)
	}
	fmt.Println(string(text))
	if l.Result == "missed" || l.Result == "wrong" || l.Refused > 0 {
		t.Errorf("%s: %s", l.Result, l.Message)
	}
}

// summarise prints how many rounds had each result.
func summarise(t *testing.T, lines []*line) {
	if len(lines) == 0 {
		return
	}
	results, refused, asked, exact, unsteered := map[string]int{}, 0, 0, 0, 0
	var took []int64
	for _, l := range lines {
		results[l.Result]++
		refused += l.Refused
		asked += l.Asked
		if l.Result == "late" && l.Unsteered {
			unsteered++
		} else if l.Result == "late" && l.Exact {
			exact++
		}
		took = append(took, l.Milliseconds)
	}
	slices.Sort(took)
	fmt.Printf("%d rounds: %v; %d requests, %d refused; slowest request of a round: median %d ms, p99 %d ms\n", len(took), results, asked,
		refused, took[len(took)/2], took[len(took)*99/100])
	if *observed {
		odds, err := plane.MetricLines("podrank_webhook_possible_pods_total")
		if err != nil || odds == "" {
			t.Errorf("no metric of possible pods: %v", err)
		}
		fmt.Printf("odds of possible pods:\n%s", odds)
		return
	}
	fmt.Printf("of the %d late ones, %d were not steered, and of the others the selected pods were deleted in %d, and no other\n",
		results["late"], unsteered, exact)
	if results["late"]*100 > len(lines)**latest {
		t.Errorf("%d of %d rounds are late, more than %d%%", results["late"], len(lines), *latest)
	}
}

// A preference is a policy, and a naive check of the pods that are kept.
type preference struct {
	name string
	spec v1alpha1.ScaleDownPolicySpec
	// check says what is wrong with those that were deleted.
	check func(w *World, before, deleted []*corev1.Pod) error
}

var preferences = []preference{
	{"spot first", SpotFirst, func(w *World, before, deleted []*corev1.Pod) error { return first(before, deleted, w.IsSpot) }},
	{"zone balance", v1alpha1.ScaleDownPolicySpec{Spread: []string{corev1.LabelTopologyZone}}, balanced},
	{"draining", v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{
		{Type: v1alpha1.PreferencePods, Pods: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"draining": "true"}}},
	}}, func(_ *World, before, deleted []*corev1.Pod) error {
		return first(before, deleted, isDraining)
	}},
	{"whole nodes", v1alpha1.ScaleDownPolicySpec{EmptyNodes: v1alpha1.EmptyNodesPrefer}, emptied},
	{"idle", idleFirst("active_sessions"), idlest},
}

func isDraining(pod *corev1.Pod) bool { return pod.Labels["draining"] == "true" }

// sessionsOf is how many sessions a pod has, as far as an adapter says.
func sessionsOf(pod *corev1.Pod) float64 { return float64(pod.UID[0] % 5) }

// serve has an adapter say it.
func (w *World) serve(a *Adapter, pods []*corev1.Pod) {
	numbers := map[string]float64{}
	for _, pod := range pods {
		numbers[pod.Name] = sessionsOf(pod)
	}
	a.Set(w.Namespace, numbers)
}

// idlest returns an error if a pod was kept although one with more sessions was deleted.
func idlest(_ *World, before, deleted []*corev1.Pod) error {
	isDeleted, least, most := map[types.UID]bool{}, math.Inf(1), math.Inf(-1)
	for _, pod := range deleted {
		isDeleted[pod.UID], most = true, max(most, sessionsOf(pod))
	}
	for _, pod := range before {
		if !isDeleted[pod.UID] {
			least = min(least, sessionsOf(pod))
		}
	}
	if most > least {
		return fmt.Errorf("one with %v sessions went, and one with %v stayed", most, least)
	}
	return nil
}

// first compares how many of these pods were deleted with how many there were.
func first(before, deleted []*corev1.Pod, is func(*corev1.Pod) bool) error {
	if got, want := count(deleted, is), min(len(deleted), count(before, is)); got != want {
		return fmt.Errorf("%d that should be deleted first went, not %d", got, want)
	}
	return nil
}

// each counts pods by something.
func each(pods []*corev1.Pod, key func(*corev1.Pod) string) map[string]int {
	counts := map[string]int{}
	for _, pod := range pods {
		counts[key(pod)]++
	}
	return counts
}

// emptied compares how many nodes became empty with how many can: those with the fewest pods take the fewest deletions.
func emptied(_ *World, before, deleted []*corev1.Pod) error {
	node := func(pod *corev1.Pod) string { return pod.Spec.NodeName }
	had, lost, got, want, left := each(before, node), each(deleted, node), 0, 0, len(deleted)
	for node, count := range had {
		if lost[node] == count {
			got++
		}
	}
	for _, count := range slices.Sorted(maps.Values(had)) {
		if left -= count; left >= 0 {
			want++
		}
	}
	if got != want {
		return fmt.Errorf("%d nodes became empty, and %d could", got, want)
	}
	return nil
}

// balanced takes one pod after the other from the zone that has the most, and compares the numbers that are left.
func balanced(w *World, before, deleted []*corev1.Pod) error {
	zone := func(pod *corev1.Pod) string {
		return w.Nodes[slices.IndexFunc(w.Nodes, func(node *corev1.Node) bool { return node.Name == pod.Spec.NodeName })].Labels[corev1.LabelTopologyZone]
	}
	want, got := each(before, zone), each(before, zone)
	for range deleted {
		fullest := ""
		for zone, count := range want {
			if count > want[fullest] {
				fullest = zone
			}
		}
		want[fullest]--
	}
	for zone, count := range each(deleted, zone) {
		got[zone] -= count
	}
	sorted := func(counts map[string]int) (numbers []int) {
		for _, count := range counts {
			if count > 0 {
				numbers = append(numbers, count)
			}
		}
		slices.Sort(numbers)
		return numbers
	}
	if !slices.Equal(sorted(got), sorted(want)) {
		return fmt.Errorf("zones are left with %v, not %v", sorted(got), sorted(want))
	}
	return nil
}

// play plays a round.
func play(t *testing.T, l *line) {
	r := rand.New(rand.NewPCG(21, uint64(l.Round)))
	nodes := 2 + r.IntN(6)
	chosen := preferences[r.IntN(len(preferences))]
	l.Preference, l.Pods = chosen.name, 2+r.IntN(19)
	l.To = 1 + r.IntN(l.Pods-1)
	ways := []string{"kubectl scale deployment", "deployments/scale", "replicasets/scale", "kubectl scale rc", "rollout"}
	l.Way = ways[l.Round%len(ways)]
	spec := *chosen.spec.DeepCopy()
	if l.Way == "rollout" {
		spec.Rollouts = v1alpha1.RolloutsSteer
	}
	if *observed {
		spec.Mode = v1alpha1.Observe
	}
	workload := map[string]func(string, int32) client.Object{"replicasets/scale": webSet, "kubectl scale rc": webController}[l.Way]
	if workload == nil {
		workload = webDeployment
	}
	w, object := NewWorldOf(t, nodes, spec, workload, int32(l.Pods))
	before := w.Pods()
	if l.Preference == "draining" {
		order, draining := r.Perm(len(before)), r.IntN(len(before)+1)
		for _, i := range order[:draining] {
			w.must(w.Kubectl("label", "pod", before[i].Name, "draining=true"))
		}
		w.Await("labels", 10*time.Second, func() bool {
			return count(w.Pods(), isDraining) == draining
		})
		before = w.Pods()
	}
	if l.Preference == "idle" {
		w.serve(NewAdapter(t), before)
	}
	var err error
	toDelete := l.Pods - l.To
	switch l.Way {
	case "kubectl scale deployment":
		err = w.Kubectl("scale", "deployment/web", fmt.Sprintf("--replicas=%d", l.To))
	case "kubectl scale rc":
		err = w.Kubectl("scale", "rc/web", fmt.Sprintf("--replicas=%d", l.To))
	case "rollout":
		l.To, toDelete = l.Pods, l.Pods
		err = w.Kubectl("set", "image", "deployment/web", "main=new")
	default:
		err = w.Scale(object, int32(l.To))
	}
	if err != nil {
		l.Result, l.Message = "wrong", err.Error()
		return
	}
	w.AwaitDeleted(toDelete)
	w.AwaitReady(l.To)
	if !w.Holds(30*time.Second, func() bool { return w.IsClean() && w.isOver() }) {
		l.Result, l.Message = "wrong", fmt.Sprintf("not over, clean: %v: %+v", w.IsClean(), w.Status("spot").Workloads)
		return
	}
	for _, call := range w.Proxy.Calls(w.Namespace) {
		l.Asked++
		l.Milliseconds = max(l.Milliseconds, call.Took.Milliseconds())
		if call.Response.Response != nil && !call.Response.Response.Allowed {
			l.Refused++
		}
	}
	l.Writes = w.CostChanges()
	if *observed {
		l.judgeObserved(w)
	} else {
		l.judge(w, chosen, before)
	}
}

// judgeObserved compares what the program says it predicted with what it says it saw, and that with the pods that were deleted.
func (l *line) judgeObserved(w *World) {
	compared := func() bool { return len(w.Status("spot").Workloads) > 0 }
	if l.Way == "rollout" {
		// Each of its steps may follow before the pods of the last one have been deleted.
		if time.Sleep(3 * time.Second); !compared() {
			l.Result = "uncompared"
			return
		}
	}
	w.Await("compared", 60*time.Second, compared)
	l.Exact, l.Result = l.Writes == 0, "took"
	for _, down := range w.History("spot") {
		if down.Result != string(steer.Observed) || l.Writes > 0 {
			l.Exact, l.Result, l.Message = false, "missed", down.Result+": "+down.Message
		}
	}
}

// isOver reports whether the program knows the end of the last scale-down of each workload.
func (w *World) isOver() bool {
	return !slices.ContainsFunc(w.Status("spot").Workloads, func(entry v1alpha1.WorkloadStatus) bool {
		return steer.Result(entry.LastScaleDown.Result).Holds() && entry.LastScaleDown.Deleted == nil
	})
}

func (l *line) judge(w *World, chosen preference, before []*corev1.Pod) {
	deleted := w.Deleted()
	var problems []error
	if len(deleted) != l.Pods-l.To && l.Way != "rollout" {
		problems = append(problems, fmt.Errorf("%d pods were deleted", len(deleted)))
	}
	late := false
	for _, down := range w.History("spot") {
		switch steer.Result(down.Result) {
		case steer.Steered:
		case steer.Unconfirmed:
			late = true
		case steer.DeadlineExceeded:
			late, l.Unsteered = true, true
		default:
			problems = append(problems, errors.New(down.Result+": "+down.Message))
		}
		if down.wasMissed() {
			problems = append(problems, errors.New(down.Message))
		}
		if err := w.isFalse(down); err != nil {
			// Whether late or not.
			l.Result, l.Message = "wrong", err.Error()
			return
		}
	}
	if l.Way == "rollout" {
		// All old pods are deleted. Its steps are compared by the program, whose status says so.
		if err := onlyOld(before, deleted); err != nil {
			problems = append(problems, err)
		}
	} else if err := chosen.check(w, before, deleted); err != nil {
		problems = append(problems, err)
	}
	if l.Asked == 0 {
		problems = append(problems, errors.New("nothing was asked"))
	}
	err := errors.Join(problems...)
	l.Exact = err == nil
	switch {
	case late && l.Milliseconds < soonest.Milliseconds():
		l.Result, l.Message = "wrong", fmt.Sprintf("late after %d ms", l.Milliseconds)
	case late && !l.Unsteered && err != nil && !w.saysMissed():
		l.Result, l.Message = "wrong", fmt.Sprintf("no report of a late scale-down says so: %v", err)
	case late:
		l.Result = "late"
		if err != nil {
			l.Message = err.Error()
		}
	case err != nil:
		l.Result, l.Message = "missed", err.Error()
	default:
		l.Result = "took"
	}
}

// soonest is how long a request waits at least before it is let through as late.
const soonest = 900 * time.Millisecond

// saysMissed reports whether a report of a scale-down names pods that were missed.
func (w *World) saysMissed() bool {
	return slices.ContainsFunc(w.History("spot"), (*past).wasMissed)
}

// isFalse returns an error if the report of a scale-down is not what became of the pods, as the test saw it. A report of the only
// scale-down of a workload has to account for each pod that the policy selected.
func (w *World) isFalse(down *past) error {
	if down.Deleted == nil {
		return nil
	}
	if only := len(w.History("spot")) == 1; only && *down.Deleted+*down.Missed != down.Selected {
		return fmt.Errorf("false report: deleted %d, missed %d of %d selected", *down.Deleted, *down.Missed, down.Selected)
	}
	deleted := 0
	for _, pod := range w.Deleted() {
		if owner := metav1.GetControllerOf(pod); owner != nil && owner.UID == down.UID {
			deleted++
		}
	}
	if int(*down.Deleted) > deleted || *down.Deleted+*down.Missed > down.Selected {
		return fmt.Errorf("false report: deleted %d, missed %d of %d selected, but %d were deleted", *down.Deleted, *down.Missed, down.Selected, deleted)
	}
	return nil
}

// breathe has a ReplicaSet of another tenant grow and shrink, so that its controller waits for its turn.
func breathe(ctx context.Context, t *testing.T) {
	const namespace = "breathing"
	set := replicaSet(namespace, "lung", 0)
	if err := errors.Join(plane.namespace(ctx, namespace), plane.Create(ctx, set)); err != nil {
		t.Error(err)
		return
	}
	for count := 60; ctx.Err() == nil; count = 60 - count {
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count))
		_ = plane.Patch(ctx, set, patch)
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
	}
}

func (p *Plane) namespace(ctx context.Context, name string) error {
	return p.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// disturb makes pods, changes them and deletes them as fast as it is answered, so that the controllers' watches lag.
func disturb(ctx context.Context, t *testing.T, namespace string) {
	if err := plane.namespace(ctx, namespace); err != nil {
		t.Error(err)
		return
	}
	pods, none := plane.Clients.CoreV1().Pods(namespace), int64(0)
	for turn := 0; ctx.Err() == nil; turn++ {
		name := fmt.Sprint("pod-", turn%8)
		_ = pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &none})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template("busy").Spec}
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/busy"}}
		_, _ = pods.Create(ctx, pod, metav1.CreateOptions{})
		for change := range 6 {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"turn":"%d-%d"}}}`, turn, change)
			_, _ = pods.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	}
}
