//go:build controlplane

package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

var takings = flag.Int("taken", 0, "scale-downs of TestTaken of each kind")

// hold is a finalizer that keeps pods until they have been asked about. The stand-in for kubelet ends their readiness as kubelet does, and removes them
// once it is off.
const hold = "podrank.dev/hold"

// taken is what kubectl podrank says about a deleted pod.
type taken struct {
	Cause, Text, ReasonUnknown, SelectedBy string
	Reason                                 struct{ Rule, Text string }
	Terminating, Probable                  bool
}

// tallied are answers about pods, by what they are worth.
type tallied struct {
	mu     sync.Mutex
	counts map[string]int
	wrong  []string
}

func (a *tallied) add(kind, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts[kind+": "+what]++
}

// takes are ways in which pods are deleted: what happens to a Deployment, and what is to be said of it while its pods are there and when they have been deleted.
var takes = []struct {
	name  string
	takes func(w *World, name string, count int32) error
	by    string
	says  func(t *taken) bool
}{
	{"autoscaler", func(w *World, name string, count int32) error {
		target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name}
		return w.Create(w.ctx, &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
			Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: count},
		})
	}, "scale-down", func(t *taken) bool { return strings.Contains(t.Text, " by hpa/") }},
	{"kubectl scale", scaleByKubectl, "scale-down", func(t *taken) bool { return strings.HasSuffix(t.Text, " by kubectl") }},
	{"rollout", func(w *World, name string, _ int32) error {
		return w.Kubectl("set", "image", "deployment/"+name, "main=other")
	}, "rollout", func(t *taken) bool { return strings.Contains(t.Text, "the rollout of deploy/") }},
	{"terminal", func(w *World, name string, count int32) error {
		out, err := exec.Command(*program, "scale", "deploy/"+name, "--replicas", fmt.Sprint(count), "--prefer-nodes", "lifecycle=spot", "--yes",
			"-n", w.Namespace, "--kubeconfig", w.Kubeconfig).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
		// It may have given costs to the pods that are kept, which are off again.
	}, "scale-down", func(t *taken) bool { return strings.Contains(t.Text, " by kubectl") }},
	{"webhook", scaleByKubectl, "scale-down", func(t *taken) bool { return strings.HasSuffix(t.Text, " by kubectl") }},
}

func scaleByKubectl(w *World, name string, count int32) error {
	return w.Kubectl("scale", "deployment/"+name, fmt.Sprintf("--replicas=%d", count))
}

// Who took a pod, and why that one, is said rightly or not at all.
func TestTaken(t *testing.T) {
	if *program == "" || *takings == 0 {
		t.Skip("only with -podrank PROGRAM, a kubectl-podrank, and -taken N")
	}
	all := &tallied{counts: map[string]int{}}
	t.Run("all", func(t *testing.T) {
		for i, kind := range takes {
			t.Run(kind.name, func(t *testing.T) {
				t.Parallel()
				w := NewWorld(t, 4)
				if kind.name == "webhook" {
					w.Policy("spot", v1alpha1.ScaleDownPolicySpec{DeleteFirst: SpotFirst.DeleteFirst})
				}
				random := rand.New(rand.NewPCG(66, uint64(i)))
				var earlier []func()
				for number := range *takings {
					earlier = append(earlier, w.take(random, i, fmt.Sprintf("web%d", number), all))
				}
				time.Sleep(time.Minute)
				for _, ask := range earlier {
					ask()
				}
			})
		}
	})
	for _, what := range slices.Sorted(func(yield func(string) bool) {
		for what := range all.counts {
			if !yield(what) {
				return
			}
		}
	}) {
		fmt.Printf("%s: %d\n", what, all.counts[what])
	}
	for _, wrong := range all.wrong {
		t.Error(wrong)
	}
}

// victim is a Deployment that loses pods, and what is known of them before.
type victim struct {
	*World
	name            string
	count, toDelete int32
	unready, dump   string
	old             []*corev1.Pod
	// user is the pod that a user has deleted at the same time, before the controller.
	user atomic.Pointer[string]
}

// ours are those of its pods.
func (v *victim) ours(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Labels["app"] != v.name })
}

func (v *victim) isUsers(pod string) bool { return v.user.Load() != nil && *v.user.Load() == pod }

// newVictim makes a Deployment whose pods became ready some time ago, of which half have one that is not ready. Only
// chance decides between the ready pods.
func (w *World) newVictim(random *rand.Rand, name string, isRollout bool) *victim {
	w.Helper()
	v := &victim{World: w, name: name, count: int32(4 + random.IntN(5))}
	v.toDelete = min(1+random.Int32N(5), v.count-1)
	if isRollout {
		v.toDelete = v.count
	}
	set, seconds := deployment(w.Namespace, name, v.count), int64(30)
	set.Spec.Template.Finalizers = []string{hold}
	set.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds
	w.must(w.Create(w.ctx, set))
	w.Await("ready", time.Minute, func() bool {
		pods := v.ours(w.Pods())
		return len(pods) == int(v.count) && count(pods, isReady) == len(pods)
	})
	if random.IntN(2) == 0 {
		v.unready = v.ours(w.Pods())[0].Name
		w.must(w.Kubectl("patch", "pod", v.unready, "--subresource=status", "-p", `{"status":{"conditions":[{"type":"Ready","status":"False","lastTransitionTime":"`+
			metav1.Now().Add(-20*time.Second).UTC().Format(time.RFC3339)+`"}]}}`))
	}
	// What became ready within 5 s of the request may have been ready then, or not.
	time.Sleep(7 * time.Second)
	v.dump, v.old = w.dumpOf(name), v.ours(w.Pods())
	return v
}

// deletes has a user delete one of the pods, unless somebody else has touched it before.
func (v *victim) deletes(pod *corev1.Pod, later time.Duration) {
	time.Sleep(later)
	if v.Delete(v.ctx, pod.DeepCopy(), client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}) == nil {
		v.user.Store(&pod.Name)
	}
}

// take lets pods of a new Deployment go, asks about each while it is going, and returns what asks about them when they have been deleted.
func (w *World) take(random *rand.Rand, kind int, name string, all *tallied) func() {
	w.Helper()
	how := takes[kind]
	v := w.newVictim(random, name, how.by == "rollout")
	by := &sync.WaitGroup{}
	if random.IntN(3) == 0 && how.by != "rollout" {
		pod, later := v.old[random.IntN(len(v.old))], time.Duration(random.IntN(1500))*time.Millisecond
		by.Go(func() { v.deletes(pod, later) })
	}
	by.Go(func() {
		if err := how.takes(w, name, v.count-v.toDelete); err != nil {
			w.Logf("%s: %v", how.name, err)
		}
	})
	asked := map[string]bool{}
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until) && len(asked) < int(v.toDelete); time.Sleep(50 * time.Millisecond) {
		asks := sync.WaitGroup{}
		for _, pod := range v.ours(w.Deleted()) {
			if asked[pod.Name] {
				continue
			}
			asked[pod.Name] = true
			asks.Go(func() {
				answer := w.ask(pod.Name)
				all.judge(w, kind, "going", pod.Name, v.isUsers(pod.Name), answer)
				if v.user.Load() == nil {
					all.judgeWhy(w, kind, pod, answer, v.dump, pod.Name == v.unready)
				}
			})
		}
		asks.Wait()
		if how.by == "rollout" {
			w.release(v.ours(w.Deleted()))
		}
	}
	w.release(v.ours(w.Deleted()))
	by.Wait()
	return func() {
		asks := sync.WaitGroup{}
		for pod := range asked {
			asks.Go(func() { all.judge(w, kind, "gone", pod, v.isUsers(pod), w.ask(pod)) })
		}
		asks.Wait()
	}
}

// release lets pods end that have been asked about.
func (w *World) release(pods []*corev1.Pod) {
	for _, pod := range pods {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		_ = w.Patch(w.ctx, pod.DeepCopy(), patch)
	}
}

// dumpOf is a file with the sets of a Deployment and its pods as they are.
func (w *World) dumpOf(name string) string {
	w.Helper()
	out, err := exec.Command("kubectl", "--kubeconfig", w.Kubeconfig, "-n", w.Namespace, "get", "replicasets,pods", "-l", "app="+name, "-o", "json").Output()
	w.must(err)
	file := filepath.Join(w.TempDir(), name+".json")
	w.must(os.WriteFile(file, out, 0o600))
	return file
}

// ask asks kubectl podrank about a pod. It returns the zero value for a field that is unknown.
func (w *World) ask(pod string) *taken {
	out, err := exec.Command(*program, "pod/"+pod, "-o", "json", "-n", w.Namespace, "--kubeconfig", w.Kubeconfig).Output()
	answer := &taken{}
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		answer.Reason.Text = err.Error()
	}
	return answer
}

// names reports whether the controller of a set says that it has deleted a pod.
func (w *World) names(pod string) bool {
	events, err := w.Clients.CoreV1().Events(w.Namespace).List(w.ctx, metav1.ListOptions{FieldSelector: "reason=SuccessfulDelete"})
	w.must(err)
	return slices.ContainsFunc(events.Items, func(event corev1.Event) bool { return strings.HasSuffix(event.Message, " "+pod) })
}

// judge counts an answer about who took a pod.
func (a *tallied) judge(w *World, kind int, when, pod string, isUsers bool, answer *taken) {
	how, what := takes[kind], "right"
	switch {
	case isUsers && answer.Cause == "":
		what = "a user's deletion is not blamed on the scale-down"
	case answer.Cause == "":
		what = "not known"
	case isUsers && w.names(pod):
		what = "both a user and the scale-down deleted it"
	case isUsers, answer.Cause != how.by, !how.says(answer):
		what = "wrong"
		a.mu.Lock()
		a.wrong = append(a.wrong, fmt.Sprintf("%s, %s: %s (of a user: %v): %+v", how.name, when, pod, isUsers, *answer))
		a.mu.Unlock()
	}
	if answer.Probable && what == "right" {
		what = "right, probably"
	}
	a.add(how.name, "who, "+when+": "+what)
}

// judgeWhy counts an answer about why a pod was deleted, by what a preview says of the pods before.
func (a *tallied) judgeWhy(w *World, kind int, pod *corev1.Pod, answer *taken, before string, isUnready bool) {
	how := takes[kind]
	if answer.Cause == "" || how.by == "rollout" {
		return
	}
	if answer.Reason.Text == "" {
		a.add(how.name, "why: "+answer.ReasonUnknown)
		return
	}
	// All other pods are ready. For a pod with a cost of podrank, which it got after the dump, the cost decides.
	want := ""
	switch {
	case isUnready:
		want = "not-ready"
	case pod.Annotations[corev1.PodDeletionCost] != "" || answer.Reason.Rule == "deletion-cost" && how.name == "terminal":
		// Or the pods that are kept have one.
		want = "deletion-cost"
	default:
		rules := w.rules(pod, before)
		want = strings.Join(rules, " or ")
		if slices.Contains(rules, answer.Reason.Rule) {
			want = answer.Reason.Rule
		}
	}
	if answer.Reason.Rule == want {
		a.add(how.name, "why: right")
		return
	}
	a.add(how.name, "why: wrong")
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf("%s: %s went by %s, and not by %q: %+v", how.name, pod.Name, want, answer.Reason.Rule, *answer))
}

// rules are those by which previews of the pods before say that a pod is deleted, at any count.
func (w *World) rules(pod *corev1.Pod, before string) (rules []string) {
	owner := metav1.GetControllerOf(pod)
	var set appsv1.ReplicaSet
	w.must(w.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: owner.Name}, &set))
	for count := range 9 {
		out, err := exec.Command(*program, "rs/"+owner.Name, "-f", before, "--replicas", fmt.Sprint(count), "--partial", "-o", "json", "-n", w.Namespace,
			"--now", pod.DeletionTimestamp.Add(-30*time.Second).UTC().Format(time.RFC3339)).Output()
		var preview struct {
			Groups []struct {
				Pods []struct {
					Name, Verdict string
					Reason        struct{ Rule string }
				}
			}
		}
		if err != nil || json.Unmarshal(out, &preview) != nil {
			continue
		}
		// A ReplicaSet has one group.
		for _, each := range preview.Groups[0].Pods {
			if each.Name == pod.Name && each.Verdict != "kept" {
				rules = append(rules, each.Reason.Rule)
			}
		}
	}
	return rules
}
