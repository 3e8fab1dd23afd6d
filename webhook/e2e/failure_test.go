//go:build controlplane

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/app"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// web makes a world with a policy and a ReplicaSet of ready pods.
func web(t *testing.T, count int32, changes ...func(*corev1.PodTemplateSpec)) (*World, client.Object) {
	t.Helper()
	return NewWorldOf(t, 4, SpotFirst, func(namespace string, count int32) client.Object {
		return replicaSet(namespace, "web", count, changes...)
	}, count)
}

// let checks that a scale-down was let through with this result, that status, events and metric say so, and that no cost is left.
func (w *World) let(result steer.Result, count int) v1alpha1.ScaleDown {
	w.Helper()
	last := w.Last("spot", 1)
	if last.Result != string(result) {
		w.Fatalf("%s, not %s: %s", last.Result, result, last.Message)
	}
	w.Await("an event", 10*time.Second, func() bool { return w.hasEvent(string(result)) })
	if w.Metric(fmt.Sprintf(`podrank_webhook_admission_duration_seconds_count{result="%s"}`, result)) == 0 {
		w.Errorf("no metric for %s", result)
	}
	w.AwaitReady(count)
	w.AwaitClean()
	return last
}

func (w *World) hasEvent(reason string) bool {
	var events eventsv1.EventList
	w.must(w.List(w.ctx, &events, client.InNamespace(w.Namespace)))
	return slices.ContainsFunc(events.Items, func(event eventsv1.Event) bool {
		return event.Reason == reason && event.Regarding.Name == "web"
	})
}

// Metric sums the values of a metric whose name and labels begin with this text, and fails if it cannot read them. The sum is 0 if
// there is none, because a metric with labels has no line before it counts something.
func (w *World) Metric(name string) (sum float64) {
	w.Helper()
	lines, err := w.MetricLines(name)
	w.must(err)
	for line := range strings.Lines(lines) {
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		w.must(err)
		sum += value
	}
	return sum
}

// MetricLines are those of a metric now, one for each set of labels and each replica that runs.
func (p *Plane) MetricLines(name string) (lines string, err error) {
	for _, address := range p.metrics {
		response, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			return "", fmt.Errorf("metrics: %s: %w", response.Status, err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, name+"{") || strings.HasPrefix(line, name+" ") {
				lines += line
			}
		}
	}
	return lines, nil
}

// A cost of the template is not a foreign cost. The program overwrites it, and kept pods have it again at the end.
func TestCostOfTemplate(t *testing.T) {
	w, set := web(t, 6, func(pods *corev1.PodTemplateSpec) {
		pods.Annotations = map[string]string{corev1.PodDeletionCost: "-2147483648"}
	})
	w.must(w.Scale(set, 4))
	last := w.Last("spot", 1)
	if last.Result != string(steer.Steered) {
		t.Fatalf("%+v", last)
	}
	w.AwaitSpots(2)
	w.AwaitReady(4)
	w.Await("the template's cost again", 30*time.Second, func() bool {
		return !slices.ContainsFunc(w.Pods(), func(pod *corev1.Pod) bool {
			_, annotated := cost.SteeredOf(pod)
			return annotated || pod.Annotations[corev1.PodDeletionCost] != "-2147483648"
		})
	})
}

// If the controller does not answer, the program allows the request at the deadline. It keeps the costs, which the
// controller still sees.
func TestDeadline(t *testing.T) {
	w, set := web(t, 6)
	w.part("stop", "kube-controller-manager")
	began := time.Now()
	err := w.Scale(set, 4)
	took := time.Since(began)
	if err != nil || took < 1900*time.Millisecond || took > 4*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
	w.part("start", "kube-controller-manager")
	w.let(steer.Unconfirmed, 4)
	w.AwaitSpots(2)
	w.awaitEnd("spot", 2, 0)
}

// awaitEnd waits until the status tells the end of the last scale-down.
func (w *World) awaitEnd(policy string, earlier, missed int32) {
	w.Helper()
	w.Await("compared", 30*time.Second, func() bool { return w.Last(policy, 1).Deleted != nil })
	if last := w.Last(policy, 1); *last.Deleted != earlier || *last.Missed != missed {
		w.Errorf("deleted %d, missed %d: %+v", *last.Deleted, *last.Missed, last)
	}
}

func (w *World) part(what, part string) {
	w.Helper()
	_, err := script("part", what, w.Dir, part)
	w.must(err)
	if what == "stop" {
		w.Cleanup(func() { _, _ = script("part", "start", w.Dir, part) })
	}
}

// async does something, and sends what came of it.
func async(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// A pod that is not ready is deleted first whatever its cost. It is reported, and the rest is steered.
func TestUnsteerable(t *testing.T) {
	w, set := web(t, 8)
	unsteerable := w.Unready()
	// A status that changes meanwhile makes the API server ask again, which is another test's subject.
	w.Await("a status with 7 ready pods", 10*time.Second, func() bool {
		var now appsv1.ReplicaSet
		w.must(w.Get(w.ctx, client.ObjectKeyFromObject(set), &now))
		return now.Status.ReadyReplicas == 7
	})
	w.must(w.Scale(set, 5))
	last := w.let(steer.Steered, 5)
	if last.Unsteerable != 1 || !strings.Contains(last.Message, unsteerable.Name) {
		t.Errorf("%+v", last)
	}
	// The events on the set and on the policy name each other, and the selected pods for programs.
	var events eventsv1.EventList
	w.Await("two events", 10*time.Second, func() bool {
		w.must(w.List(w.ctx, &events, client.InNamespace(w.Namespace)))
		events.Items = slices.DeleteFunc(events.Items, func(event eventsv1.Event) bool { return event.ReportingController != "podrank-webhook" })
		return len(events.Items) == 2
	})
	for _, event := range events.Items {
		record := event.Annotations["podrank.dev/scale-down"]
		if event.Related == nil || event.Regarding.Kind+" "+event.Related.Kind != "ReplicaSet ScaleDownPolicy" && event.Regarding.Kind+" "+event.Related.Kind != "ScaleDownPolicy ReplicaSet" ||
			event.Type != corev1.EventTypeWarning || !strings.HasPrefix(record, `{"v":1,"mode":"Steer","from":8,"to":5,"pods":[{"uid":"`+string(unsteerable.UID)+`","rule":"not-ready"}`) {
			t.Errorf("%+v", event)
		}
	}
	if deleted := w.AwaitDeleted(3); w.Spots(deleted) != 2 || !slices.ContainsFunc(deleted, func(pod *corev1.Pod) bool { return pod.UID == unsteerable.UID }) {
		t.Errorf("%d of 3 on spot nodes", w.Spots(deleted))
	}
}

// apply writes a cost and these annotations in the name of this field manager.
func (w *World) apply(pod *corev1.Pod, manager string, annotations map[string]string) {
	w.Helper()
	annotations[corev1.PodDeletionCost] = "-1"
	apply := applycorev1.Pod(pod.Name, pod.Namespace).WithUID(pod.UID).WithAnnotations(annotations)
	by := w.Clients
	if manager == cost.Manager {
		// Nobody else may.
		by = w.asItself()
	}
	_, err := by.CoreV1().Pods(pod.Namespace).Apply(w.ctx, apply, metav1.ApplyOptions{FieldManager: manager})
	w.must(err)
}

// steeredOf is an annotation of the program for a fall of the set to this count.
func steeredOf(set client.Object, count int32) string {
	return cost.Steered{Set: set.GetUID(), Count: count, Request: "6d3c2e1f-0000-4000-8000-000000000001", Selected: true}.String()
}

// awaitCosts waits until costs have changed so often.
func (w *World) awaitCosts(changes int) {
	w.Helper()
	w.Await(fmt.Sprintf("%d changes of costs", changes), 5*time.Second, func() bool { return w.CostChanges() == changes })
}

// A policy says so if another one takes precedence for all of its sets, as these come and go.
func TestTwoPolicies(t *testing.T) {
	w, set := web(t, 1)
	w.Policy("zoo", SpotFirst)
	w.Await("shadowed", 10*time.Second, func() bool {
		conditions := w.Status("zoo").Conditions
		condition := meta.FindStatusCondition(conditions, v1alpha1.Ready)
		return condition != nil && condition.Status == metav1.ConditionFalse && condition.Reason == v1alpha1.Conflicted &&
			meta.IsStatusConditionTrue(conditions, v1alpha1.Conflicted)
	})
	w.must(w.Delete(w.ctx, set))
	reason := func(reason string) func() bool {
		return func() bool {
			return meta.FindStatusCondition(w.Status("zoo").Conditions, v1alpha1.Ready).Reason == reason
		}
	}
	w.Await("without workloads, as the other one", 10*time.Second, reason(v1alpha1.NoWorkloads))
	w.must(w.Create(w.ctx, replicaSet(w.Namespace, "other", 1)))
	w.must(w.Delete(w.ctx, &v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "spot"}}))
	w.Await("ready, since no other policy decides", 10*time.Second, reason(v1alpha1.Ready))
	w.must(w.Kubectl("label", "namespace", w.Namespace, v1alpha1.SteeringLabel+"-"))
	w.Await("not enabled", 10*time.Second, reason(v1alpha1.NamespaceNotEnabled))
}

// 600 deletions take several syncs of the controller. The program keeps the costs until all are done.
func TestManyDeletions(t *testing.T) {
	w, set := web(t, 0)
	w.must(w.Scale(set, 640))
	w.Await("640 ready pods", 3*time.Minute, func() bool { return w.areReady(640) })
	w.must(w.Scale(set, 40))
	last := w.Last("spot", 1)
	w.Await("600 pods gone", 3*time.Minute, func() bool { return len(w.Deleted()) >= 600 })
	if spots := w.Spots(w.Deleted()); last.Result != string(steer.Steered) || spots != 320 {
		t.Errorf("%d of 320 pods on spot nodes were deleted: %+v", spots, last)
	}
	w.AwaitClean()
}

// While the program is killed, scaling works as without it. When it runs again, it removes its old costs.
func TestKilled(t *testing.T) {
	w, set := web(t, 8)
	w.part("stop", "kube-controller-manager")
	answer := async(func() error { return w.Scale(set, 6) })
	w.awaitCosts(2)
	w.Kill()
	if err := <-answer; err != nil {
		t.Errorf("the request was refused: %v", err)
	}
	w.must(w.Scale(set, 5))
	w.part("start", "kube-controller-manager")
	w.AwaitReady(5)
	if w.IsClean() && w.Spots(w.Deleted()) < 2 {
		t.Error("nothing was left behind, so this shows nothing")
	}
	w.must(w.Run())
	w.AwaitClean()
	w.must(w.Scale(set, 4))
	w.AwaitReady(4)
}

// In the middle of a scale-down, the administrator switches the whole cluster to Observe. The program removes its costs
// immediately, the policies report the mode, and later scale-downs are only observed. Then the administrator switches
// back to Steer.
func TestModeObserve(t *testing.T) {
	w, set := web(t, 8)
	ready := func(mode v1alpha1.Mode, reason string) {
		t.Helper()
		w.Await(fmt.Sprintf("mode %s, ready: %s", mode, reason), 45*time.Second, func() bool {
			status := w.Status("spot")
			condition := meta.FindStatusCondition(status.Conditions, v1alpha1.Ready)
			return status.Mode == mode && condition != nil && condition.Reason == reason
		})
	}
	ready(v1alpha1.Steer, v1alpha1.Ready)
	w.part("stop", "kube-controller-manager")
	w.must(w.Scale(set, 6))
	w.awaitCosts(2)
	w.must(w.Stop())
	t.Cleanup(func() {
		w.Kill()
		w.must(w.Run())
	})
	w.must(w.Run("--mode", "Observe"))
	w.AwaitClean()
	ready(v1alpha1.Observe, v1alpha1.NotAllowed)
	w.part("start", "kube-controller-manager")
	w.AwaitReady(6)
	before := w.CostChanges()
	w.must(w.Scale(set, 5))
	w.AwaitReady(5)
	if last := w.Last("spot", 2); last.Result != string(steer.Observed) || w.CostChanges() != before {
		t.Errorf("%d changes of costs: %+v", w.CostChanges()-before, last)
	}
	ready(v1alpha1.Observe, v1alpha1.NotAllowed)
	w.must(w.Stop())
	w.must(w.Run())
	ready(v1alpha1.Steer, v1alpha1.Ready)
	deleted := w.Spots(w.Deleted())
	w.must(w.Scale(set, 4))
	w.AwaitReady(4)
	// The controller may be slow.
	if last := w.Last("spot", 3); !steer.Result(last.Result).Holds() || w.Spots(w.Deleted()) != deleted+1 {
		t.Errorf("%d more on spot nodes went: %+v", w.Spots(w.Deleted())-deleted, last)
	}
}

// When the leader is killed, the other replica takes its place, and removes what it left behind.
func TestNextLeader(t *testing.T) {
	w, set := web(t, 4)
	address := func() string { return fmt.Sprintf("127.0.0.1:%d", freePort()) }
	other, err := w.launch(freePort(), address(), address())
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	w.must(err)
	w.Kill()
	w.apply(w.Pods()[0], cost.Manager, map[string]string{cost.Annotation: steeredOf(set, 3)})
	w.awaitCosts(1)
	w.AwaitClean()
	w.must(w.Run())
}

// A rollout takes the old sets down step by step. Without rollouts, it is left alone.
func TestRollout(t *testing.T) {
	for _, rollouts := range []v1alpha1.Rollouts{v1alpha1.RolloutsSteer, v1alpha1.RolloutsIgnore} {
		t.Run(string(rollouts), func(t *testing.T) {
			spec := *SpotFirst.DeepCopy()
			spec.Rollouts = rollouts
			w, _ := NewWorldOf(t, 4, spec, webDeployment, 8)
			old := w.Pods()
			w.must(w.Kubectl("set", "image", "deployment/web", "main=new"))
			w.AwaitDeleted(8)
			w.AwaitReady(8)
			w.AwaitClean()
			w.must(onlyOld(old, w.Deleted()))
			calls := w.Proxy.Calls(w.Namespace)
			if len(calls) == 0 {
				t.Fatal("nothing was asked")
			}
			if rollouts == v1alpha1.RolloutsIgnore {
				if downs := w.Status("spot").Workloads; len(downs) != 0 || w.CostChanges() != 0 {
					t.Errorf("steered: %+v", downs)
				}
				return
			}
			// A step deletes at most 25% of the pods, which is 2. At most one step may have deleted unselected pods
			// among the first 4.
			deleted := w.Deleted()
			if spots := w.Spots(deleted[:4]); spots < 4 {
				t.Errorf("%d of the first 4 were on spot nodes", spots)
			}
		})
	}
}

// The program makes its certificates, and the API server trusts them.
func TestCertificates(t *testing.T) {
	w := NewWorld(t, 2)
	w.must(w.Stop())
	dir := t.TempDir()
	ctx, stop := context.WithCancel(w.ctx)
	// Kubelet would mount the Secret.
	mounting := async(func() error {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			w.mount(dir)
		}
		return nil
	})
	t.Cleanup(func() {
		stop()
		<-mounting
		w.Kill()
		w.must(w.Run())
		w.must(w.Plane.register())
	})
	if err := w.Run("--rotate-certificates", "--cert-dir", dir); err != nil {
		t.Fatalf("%v\n%s", err, w.log())
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	w.must(w.Get(w.ctx, client.ObjectKey{Name: "podrank-webhook"}, &configuration))
	for _, webhook := range configuration.Webhooks {
		if err := w.trusts(webhook.ClientConfig.CABundle); err != nil {
			t.Errorf("%s: %v", webhook.Name, err)
		}
	}
	// A GitOps tool does not have the authorities, and leaves them.
	for i, webhook := range w.reconcileAsGitOps(t).Webhooks {
		if !bytes.Equal(webhook.ClientConfig.CABundle, configuration.Webhooks[i].ClientConfig.CABundle) {
			t.Errorf("%s has other authorities", webhook.Name)
		}
	}
}

// An event names the leader.
func TestLeaderEvent(t *testing.T) {
	w := NewWorld(t, 1)
	w.Await("an event about the leader", 20*time.Second, func() bool {
		events, err := w.Clients.CoreV1().Events(system).List(w.ctx, metav1.ListOptions{FieldSelector: "reason=LeaderElection"})
		w.must(err)
		return slices.ContainsFunc(events.Items, func(event corev1.Event) bool { return event.InvolvedObject.Name == app.Lease })
	})
}

// A request that waits for the barrier when SIGTERM comes is steered.
func TestSteersUntilTheEnd(t *testing.T) {
	w, set := web(t, 6)
	w.signal(syscall.SIGSTOP, "kube-controller-manager")
	answer := async(func() error { return w.Scale(set, 4) })
	w.awaitCosts(2)
	stopped := async(w.Stop)
	time.Sleep(500 * time.Millisecond)
	w.signal(syscall.SIGCONT, "kube-controller-manager")
	w.must(<-answer)
	w.must(<-stopped)
	if last := w.Last("spot", 1); last.Result != string(steer.Steered) {
		t.Errorf("%+v", last)
	}
	w.must(w.Run())
	w.AwaitSpots(2)
}

// signal sends a signal to a part of the control plane.
func (w *World) signal(signal syscall.Signal, part string) {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.Dir, part+".pid"))
	w.must(err)
	number, err := strconv.Atoi(strings.TrimSpace(string(text)))
	w.must(err)
	w.must(syscall.Kill(number, signal))
	if signal == syscall.SIGSTOP {
		w.Cleanup(func() { _ = syscall.Kill(number, syscall.SIGCONT) })
	}
}

// A program that hangs slows only namespaces that have a policy, and each request there by the timeout of the webhook at most.
func TestHung(t *testing.T) {
	const timeout, load = 3 * time.Second, time.Second
	var undisturbed time.Duration
	for _, c := range []struct {
		name            string
		hangs, isPolicy bool
	}{{"answers", false, false}, {"hangs", true, false}, {"hangs and is asked", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			const count, pods = 12, 4
			w := NewWorld(t, 4)
			if c.isPolicy {
				w.Policy("spot", SpotFirst)
			} else {
				w.disable()
			}
			for i := range count {
				w.must(w.Create(w.ctx, deployment(w.Namespace, fmt.Sprint("web-", i), pods)))
			}
			w.AwaitReady(count * pods)
			if c.hangs {
				for _, running := range w.running {
					w.must(running.Process.Signal(syscall.SIGSTOP))
				}
				// It may have lost its lease by then.
				w.Cleanup(func() {
					w.Kill()
					w.must(w.Run())
				})
			}
			start := time.Now()
			w.must(w.Kubectl("set", "image", "deployment", "--all", "main=new"))
			w.AwaitDeleted(count * pods)
			w.AwaitReady(count * pods)
			took := time.Since(start)
			fmt.Printf("%d rollouts, podrank-webhook %s: %v\n", count, c.name, took.Round(100*time.Millisecond))
			if !c.hangs {
				undisturbed = took
			}
			calls, slowest := w.Proxy.Calls(w.Namespace), time.Duration(0)
			asked := map[string]int{}
			for _, call := range calls {
				slowest = max(slowest, call.Took)
				asked[call.Review.Request.Name]++
			}
			if c.isPolicy != (len(calls) > 0) || slowest > timeout+load {
				t.Errorf("%d requests, of which the slowest took %v", len(calls), slowest)
			}
			// The Deployment controller works on all of them simultaneously. Each waits for its own requests, one after the other.
			longest := undisturbed*2 + load + time.Duration(slices.Max(append(slices.Collect(maps.Values(asked)), 0)))*(timeout+load)
			if took > longest {
				t.Errorf("%v, and not at most %v: %v without podrank-webhook, requests: %v", took, longest, undisturbed, asked)
			}
		})
	}
}

// The ReplicaSets of another controller than a Deployment are steered only if the policy says so.
func TestOtherOwner(t *testing.T) {
	for rollouts, result := range map[v1alpha1.Rollouts]steer.Result{
		v1alpha1.RolloutsIgnore: steer.RolloutIgnored, v1alpha1.RolloutsSteer: steer.Steered,
	} {
		spec := *SpotFirst.DeepCopy()
		spec.Rollouts, spec.Selector = rollouts, nil
		spec.TargetRef = &v1alpha1.WorkloadReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner"}
		w := NewWorld(t, 4)
		w.Policy("spot", spec)
		// Anything may be a controller.
		owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "owner"}}
		w.must(w.Create(w.ctx, owner))
		set := replicaSet(w.Namespace, "web", 6)
		set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		w.must(w.Create(w.ctx, set))
		w.AwaitReady(6)
		w.must(w.Scale(set, 4))
		w.AwaitDeleted(2)
		// The controller may be slow to see the costs.
		isSlow := func() bool { return result == steer.Steered && w.hasEvent(string(steer.Unconfirmed)) }
		w.Await("told", 10*time.Second, func() bool { return w.hasEvent(string(result)) || isSlow() })
		if (rollouts == v1alpha1.RolloutsSteer) != (w.CostChanges() > 0) {
			t.Errorf("rollouts: %s, %d changes of costs", rollouts, w.CostChanges())
		}
	}
}
