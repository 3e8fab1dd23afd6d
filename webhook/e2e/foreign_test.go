//go:build controlplane

package e2e

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
)

var beside = flag.Int("foreign-costs", 2, "scale-downs of TestForeignCosts under each mode")

// Karpenter does at most once a minute.
var every = flag.Duration("every", time.Second, "how often it writes costs")

var program = flag.String("podrank", "", "the kubectl-podrank of TestForeignCostsAtTerminal")

// karpenter stands in for the controller of that name (sigs.k8s.io/karpenter v1.15.0, pkg/controllers/pod/deletioncost), which needs
// a newer Go and ranks once a minute at most. TestKarpenter runs that one. It writes as that does, though each second and not each
// minute, unless -every says otherwise: by a merge patch that fails if the pod has changed, the same cost for all pods of a node,
// the lowest of all on nodes that are being disrupted, negative ranks on others, and none on those that it cannot disrupt.
type karpenter struct {
	*World
	random *rand.Rand
	mu     sync.Mutex
	// wrote has the cost that it wrote on each pod, or "" if it took it off.
	wrote map[types.UID]string
	// overwritten is how often the program was killed while costs were overwritten.
	overwritten int
	// ranks are those of nodes. It changes its mind from time to time.
	ranks map[string]string
}

// ranking ranks the nodes again.
func (k *karpenter) ranking() {
	k.ranks = map[string]string{}
	order := k.random.Perm(len(k.Nodes))
	for place, i := range order {
		k.ranks[k.Nodes[i].Name] = fmt.Sprint(place - len(order))
	}
	if k.random.IntN(4) == 0 {
		k.ranks[k.Nodes[order[0]].Name] = fmt.Sprint(math.MinInt32)
	}
	if k.random.IntN(2) == 0 {
		k.ranks[k.Nodes[order[len(order)-1]].Name] = ""
	}
}

// pass writes what is not as it should be.
func (k *karpenter) pass() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pod := range k.Pods() {
		rank, isKnown := k.ranks[pod.Spec.NodeName]
		if !isKnown || pod.Annotations[corev1.PodDeletionCost] == rank {
			continue
		}
		value := "null"
		if rank != "" {
			value = fmt.Sprintf("%q", rank)
		}
		patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"annotations":{%q:%s}}}`, pod.ResourceVersion, corev1.PodDeletionCost, value)
		if err := k.Patch(k.ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.FieldOwner("karpenter")); err == nil {
			k.wrote[pod.UID] = rank
		}
	}
}

// run makes passes until the context ends.
func (k *karpenter) run(ctx context.Context) {
	for ctx.Err() == nil {
		k.pass()
		select {
		case <-ctx.Done():
		case <-time.After(*every):
		}
	}
}

// differs returns the pods whose cost is not what it wrote last, or is not its own.
func (k *karpenter) differs() (wrong []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pod := range k.Pods() {
		want, got := k.wrote[pod.UID], pod.Annotations[corev1.PodDeletionCost]
		if writer := cost.WriterOf(pod); want != got || want != "" && writer != "karpenter" {
			wrong = append(wrong, fmt.Sprintf("%s has %q by %q, and not %q", pod.Name, got, writer, want))
		}
	}
	return wrong
}

// endings counts how scale-downs ended.
type endings struct {
	mu   sync.Mutex
	ends map[v1alpha1.ForeignCosts]map[string]int
	// stood is how long costs stood on pods that were deleted.
	stood []time.Duration
}

func (c *endings) stand(stood []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stood = append(c.stood, stood...)
}

// tell prints how far a mode has come, now and then.
func (c *endings) tell(mode v1alpha1.ForeignCosts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for _, count := range c.ends[mode] {
		sum += count
	}
	if sum%50 == 0 {
		fmt.Printf("so far, %s: %v\n", mode, c.ends[mode])
	}
}

func (c *endings) add(mode v1alpha1.ForeignCosts, end string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends[mode] == nil {
		c.ends[mode] = map[string]int{}
	}
	c.ends[mode][end]++
}

// underEachMode plays two worlds under each mode simultaneously.
func underEachMode(t *testing.T, play func(t *testing.T, mode v1alpha1.ForeignCosts, part uint64, ends *endings)) *endings {
	ends := &endings{ends: map[v1alpha1.ForeignCosts]map[string]int{}}
	t.Run("all", func(t *testing.T) {
		for _, mode := range []v1alpha1.ForeignCosts{v1alpha1.Keep, v1alpha1.Follow, v1alpha1.Override} {
			for part := range uint64(2) {
				t.Run(fmt.Sprint(mode, " ", part), func(t *testing.T) {
					t.Parallel()
					play(t, mode, part, ends)
				})
			}
		}
	})
	return ends
}

// While another program writes costs all the time, the selected pods are deleted, or the status says why not. No
// foreign cost is lost.
func TestForeignCosts(t *testing.T) {
	ends := underEachMode(t, func(t *testing.T, mode v1alpha1.ForeignCosts, part uint64, ends *endings) {
		spec := *SpotFirst.DeepCopy()
		spec.ForeignCosts = mode
		w, set := NewWorldOf(t, 6, spec, webSet, 18)
		k := &karpenter{World: w, random: rand.New(rand.NewPCG(31, part)), wrote: map[types.UID]string{}}
		for range *beside / 2 {
			ends.add(mode, k.scaleDown(set))
		}
		ends.stand(w.stood)
	})
	t.Run("killed", func(t *testing.T) {
		spec := *SpotFirst.DeepCopy()
		spec.ForeignCosts = v1alpha1.Override
		w, set := NewWorldOf(t, 6, spec, webSet, 18)
		k := &karpenter{World: w, random: rand.New(rand.NewPCG(31, 7)), wrote: map[types.UID]string{}}
		for range max(1, *beside/30) {
			k.killed(set)
		}
		fmt.Printf("killed: %d of %d times with overwritten costs on pods that stayed\n", k.overwritten, max(1, *beside/30))
	})
	for mode, counts := range ends.ends {
		fmt.Printf("%s: %v\n", mode, counts)
	}
	if slices.Sort(ends.stood); len(ends.stood) > 0 {
		fmt.Printf("costs stood %v at the median and %v at the 99th percentile\n", ends.stood[len(ends.stood)/2], ends.stood[len(ends.stood)*99/100])
	}
}

// The same at the terminal, where nobody steers but kubectl podrank.
func TestForeignCostsAtTerminal(t *testing.T) {
	if *program == "" {
		t.Skip("only with -podrank PROGRAM, a kubectl-podrank")
	}
	ends := underEachMode(t, func(t *testing.T, mode v1alpha1.ForeignCosts, part uint64, ends *endings) {
		w := NewWorld(t, 6)
		set := webSet(w.Namespace, 18)
		w.must(w.Create(w.ctx, set))
		k := &karpenter{World: w, random: rand.New(rand.NewPCG(32, part)), wrote: map[types.UID]string{}}
		for range *beside / 2 {
			ends.add(mode, k.terminal(set, mode))
			ends.tell(mode)
		}
	})
	for mode, counts := range ends.ends {
		fmt.Printf("terminal, %s: %v\n", mode, counts)
	}
}

// terminal has kubectl podrank let some pods are deleted beside passes, says how that ended, and fills the set again.
func (k *karpenter) terminal(set client.Object, mode v1alpha1.ForeignCosts) (end string) {
	k.Helper()
	k.ranking()
	k.pass()
	before := k.AwaitReady(18)
	ctx, stop := context.WithCancel(k.ctx)
	passes := make(chan struct{})
	go func() { k.run(ctx); close(passes) }()
	toDelete, earlier := 1+k.random.IntN(9), len(k.Deleted())
	isBarrierPod := func(pod *corev1.Pod) bool { return !strings.HasPrefix(pod.Name, "web-") }
	command := exec.Command(*program, "scale", "rs/web", "--replicas", fmt.Sprint(18-toDelete), "--prefer-nodes", "lifecycle=spot", "--empty-nodes=false",
		"--foreign-costs", string(mode), "--yes", "--timeout", "30s", "--namespace", k.Namespace, "--kubeconfig", k.Kubeconfig)
	out, err := command.CombinedOutput()
	stop()
	<-passes
	time.Sleep(time.Second)
	if wrong := k.differs(); len(wrong) > 0 {
		k.Errorf("costs are lost or wrong: %v\n%s", wrong, out)
	}
	deleted := slices.DeleteFunc(k.Deleted()[earlier:], isBarrierPod)
	switch status := command.ProcessState.ExitCode(); {
	case status == 0 && len(deleted) == toDelete && first(before, deleted, k.IsSpot) == nil:
		end = "took"
	case status == 3 && len(deleted) == toDelete:
		end = "others went, and it says so"
	case status == 1 && len(deleted) == 0 && strings.Contains(string(out), "leave no room") && strings.Contains(string(out), "karpenter"):
		end = "no room"
	case status == 1 && len(deleted) == 0 && strings.Contains(string(out), "somebody else keeps changing the deletion costs of"):
		end = "kept changing, and it says whose"
	default:
		k.Errorf("%v, %d went: %s", err, len(deleted), out)
	}
	k.must(k.Scale(set, 18))
	k.AwaitReady(18)
	return end
}

// scaleDown lets some pods are deleted beside passes, says how that ended, and fills the set again.
func (k *karpenter) scaleDown(set client.Object) string {
	k.Helper()
	k.ranking()
	k.pass()
	before := k.AwaitReady(18)
	downs := k.scaleDowns()
	ctx, stop := context.WithCancel(k.ctx)
	passes := make(chan struct{})
	go func() { k.run(ctx); close(passes) }()
	time.Sleep(time.Duration(k.random.IntN(1000)) * time.Millisecond)
	toDelete, earlier := 1+k.random.IntN(9), len(k.Deleted())
	k.must(k.Scale(set, int32(18-toDelete)))
	k.Await("gone", time.Minute, func() bool { return len(k.Deleted()) == earlier+toDelete })
	stop()
	<-passes
	k.Await("over", time.Minute, func() bool { return k.IsClean() && k.isOver() && k.scaleDowns() != downs })
	time.Sleep(time.Second)
	if wrong := k.differs(); len(wrong) > 0 {
		k.Errorf("costs are lost or wrong: %v", wrong)
	}
	deleted := k.Deleted()[earlier:]
	last := k.Status("spot").Workloads[0].LastScaleDown
	isRight := first(before, deleted, k.IsSpot) == nil
	end := last.Result
	switch {
	case last.Result == string(steer.Steered) && *last.Missed > 0 && strings.Contains(last.MissedMessage, "CostChanged") && strings.Contains(last.MissedMessage, "written by karpenter"):
		end = "CostChanged"
	case last.Result == string(steer.Steered) && *last.Missed > 0 && strings.Contains(last.MissedMessage, "OtherPodsDeleted") && strings.Contains(last.MissedMessage, "written by karpenter"):
		end = "OtherPodsDeleted"
	case last.Result == string(steer.Steered) && !isRight:
		k.Errorf("the selected pods did not go, and nobody said so: %+v", last)
	case last.Result == string(steer.NoRoom) && !strings.Contains(last.Message, "written by karpenter"), !slices.Contains([]string{"Steered", "NoRoom", "Unsettled", "DeadlineExceeded"}, last.Result):
		k.Errorf("%+v", last)
	}
	k.must(k.Scale(set, 18))
	k.AwaitReady(18)
	return end
}

// killed has the program killed while it steers. The next one puts all costs back.
func (k *karpenter) killed(set client.Object) {
	k.Helper()
	k.ranking()
	k.pass()
	k.AwaitReady(18)
	// The set is not scaled down, because somebody changes it first.
	dead, later := make(chan struct{}), time.Duration(k.random.IntN(20))*time.Millisecond
	k.must(k.Get(k.ctx, client.ObjectKeyFromObject(set), set))
	version := set.GetResourceVersion()
	go func() {
		defer close(dead)
		for end := time.Now().Add(10 * time.Second); k.IsClean() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		changed := fmt.Appendf(nil, `{"metadata":{"annotations":{"changed":%q}}}`, version)
		_ = k.Patch(k.ctx, set.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, changed))
		time.Sleep(later)
		k.Kill()
	}()
	patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"spec":{"replicas":9}}`, version)
	_ = k.Patch(k.ctx, set.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, patch))
	<-dead
	k.must(k.Scale(set, 18))
	k.AwaitReady(18)
	if len(k.differs()) > 0 {
		k.overwritten++
	}
	k.must(k.Run())
	k.Await("over", time.Minute, k.IsClean)
	time.Sleep(time.Second)
	if wrong := k.differs(); len(wrong) > 0 {
		k.Errorf("costs are lost or wrong: %v", wrong)
	}
}

// Nodes that are about to go say so in other ways than by labels.
func TestNodesThatGo(t *testing.T) {
	for what, entry := range map[string]v1alpha1.Preference{
		"taint":     {Type: v1alpha1.PreferenceTaint, Taint: &v1alpha1.Taint{Key: "example.com/going", Effect: corev1.TaintEffectPreferNoSchedule}},
		"condition": {Type: v1alpha1.PreferenceCondition, Condition: &v1alpha1.NodeCondition{Type: "Going", Status: corev1.ConditionTrue}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w, set := NewWorldOf(t, 3, v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{entry}}, webSet, 9)
			node := w.Nodes[1]
			switch what {
			case "taint":
				w.must(w.Kubectl("taint", "node", node.Name, "example.com/going=soon:PreferNoSchedule"))
			case "condition":
				w.must(w.Kubectl("patch", "node", node.Name, "--subresource=status", "-p", `{"status":{"conditions":[{"type":"Going","status":"True"}]}}`))
			}
			time.Sleep(time.Second)
			w.must(w.Scale(set, 6))
			for _, pod := range w.AwaitDeleted(3) {
				if pod.Spec.NodeName != node.Name {
					t.Errorf("%s goes, on %s: %+v", pod.Name, pod.Spec.NodeName, w.Last("spot", 1))
				}
			}
		})
	}
}

// scaleDowns identifies the last scale-down.
func (k *karpenter) scaleDowns() string {
	if all := k.Status("spot").Workloads; len(all) > 0 {
		return fmt.Sprint(all[0].LastScaleDown.Generation)
	}
	return ""
}
