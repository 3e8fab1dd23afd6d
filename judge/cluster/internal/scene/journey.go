package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Journey is a Deployment `web` somewhere in its rollouts, and a change after which its controllers do all that they can.
type Journey struct {
	Namespace string
	// Kind is what is changed, and when: the count alone, while the controllers are at rest; mixed is the count, the template, a pause, or
	// several of them; and lagging is the same in the middle of their work.
	Kind   string
	Change map[string]any // of the Deployment, as a merge patch
	Count  *int32         // what it is scaled to, which is in the change, too

	b         *builder
	available bool // whether pods must have been ready for some time
	known     map[types.UID]bool
}

// rest is for how long nothing happens once the controllers have done all they can, also beside other rounds.
const rest = 3 * time.Second

// BuildJourney makes the Deployment, and brings it somewhere into its rollouts.
func BuildJourney(ctx context.Context, plane *control.Plane, h *history.History, r *rand.Rand, prefix string) *Journey {
	b := &builder{plane, h, r, plane.CreateNamespace(ctx, prefix), drawStyle(r)}
	b.style.notReady, b.style.unassigned = pick(r, 0, 0, 0.15, 0.4), pick(r, 0, 0, 0.2)
	b.style.pending, b.style.unknown = pick(r, 0, 0, 0.1), 0
	kind := pick(r, "count", "count", "mixed", "mixed", "lagging")
	j := &Journey{Namespace: b.namespace, Kind: kind, b: b, known: map[types.UID]bool{}}

	size := int32(1 + r.IntN(14))
	seconds := pick(r, 0, 0, 0, 600)
	j.available = seconds > 0
	strategy := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	if r.IntN(8) > 0 {
		surge, unavailable := drawBudget(r), drawBudget(r)
		if surge == (intstr.FromInt32(0)) && unavailable == (intstr.FromInt32(0)) {
			surge = intstr.FromInt32(1)
		}
		strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable}}
	}
	labels := map[string]string{"app": "web"}
	pods, deadline := template(labels), int32(3600)
	pods.Annotations = map[string]string{"revision": "0"}
	b.plane.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: b.namespace},
		Spec: appsv1.DeploymentSpec{Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods,
			Strategy: strategy, MinReadySeconds: int32(seconds), ProgressDeadlineSeconds: &deadline},
	})
	b.settled(ctx)
	j.giveFacts(ctx, 1)
	for range r.IntN(4) {
		b.patchDeployment(ctx, encode(drawChange(r, size, true)))
		j.await(ctx, quiet)
		j.giveFacts(ctx, pick(r, 0, 0.3, 0.7, 1))
	}
	if r.IntN(2) == 0 {
		b.patchDeployment(ctx, `{"spec":{"paused":false}}`)
	}
	if r.IntN(3) == 0 {
		j.disturb(ctx)
	}
	j.await(ctx, quiet)
	b.barrier(ctx)
	j.await(ctx, rest)
	if kind == "lagging" {
		b.plane.Patch(ctx, "deployments", b.namespace, "web", encode(drawChange(r, size, false)))
		time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
	}
	j.Change = drawChange(r, size, false)
	if kind == "count" {
		j.Change = map[string]any{"spec": map[string]any{"replicas": drawCount(r, size)}}
	}
	if count, ok := j.Change["spec"].(map[string]any)["replicas"].(int32); ok {
		j.Count = &count
	}
	return j
}

func drawBudget(r *rand.Rand) intstr.IntOrString {
	return pick(r, intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%"), intstr.FromString("50%"), intstr.FromString("100%"))
}

func drawCount(r *rand.Rand, size int32) int32 {
	if r.IntN(3) > 0 {
		return r.Int32N(size + 1)
	}
	return r.Int32N(2*size + 2)
}

// drawChange changes the count, the template (also back to an earlier one), or whether the Deployment is paused, or several of these.
func drawChange(r *rand.Rand, size int32, rolls bool) map[string]any {
	spec := map[string]any{}
	if r.IntN(2) == 0 {
		spec["replicas"] = drawCount(r, size)
	}
	if rolls || r.IntN(3) == 0 {
		revision := map[string]any{"revision": fmt.Sprint(r.IntN(4))}
		spec["template"] = map[string]any{"metadata": map[string]any{"annotations": revision}}
	}
	if r.IntN(4) == 0 || len(spec) == 0 {
		spec["paused"] = r.IntN(2) == 0
	}
	return map[string]any{"spec": spec}
}

// await waits until the controllers have done all they can.
func (j *Journey) await(ctx context.Context, quiet time.Duration) {
	j.b.history.AwaitQuiet(ctx, j.Namespace, "at rest", quiet, (*history.Namespace).IsSettled)
}

// giveFacts gives this share of the pods that have none theirs, so that they may be ready.
func (j *Journey) giveFacts(ctx context.Context, share float64) {
	var pods []*corev1.Pod
	for _, pod := range j.b.history.Active(j.Namespace) {
		if !j.known[pod.UID] && j.b.r.Float64() < share {
			j.known[pod.UID] = true
			pods = append(pods, pod)
		}
	}
	j.b.each(ctx, pods, func(ctx context.Context, pod *corev1.Pod, f facts) {
		// As pods become ready, the controllers continue and delete other pods.
		err := must.Try(func() { j.b.give(ctx, pod, f) })
		if _, gone := j.b.plane.CoreV1().Pods(j.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); !apierrors.IsNotFound(gone) {
			must.Do(err)
		}
	})
	j.await(ctx, quiet)
}

// disturb makes some pods unready.
func (j *Journey) disturb(ctx context.Context) {
	for _, pod := range j.b.history.Active(j.Namespace) {
		if history.IsReady(pod) && j.b.r.IntN(3) == 0 {
			j.b.plane.PatchPod(ctx, pod, map[string]any{"status": map[string]any{"conditions": isReady(false, time.Now())}}, "status")
		}
	}
}

// Go makes the change, and waits until the controllers have done all they can.
func (j *Journey) Go(ctx context.Context) {
	generation := j.b.plane.Patch(ctx, "deployments", j.Namespace, "web", encode(j.Change)).GetGeneration()
	j.b.history.AwaitQuiet(ctx, j.Namespace, "at rest", rest, func(n *history.Namespace) bool {
		return n.HasObserved(generation) && n.IsSettled()
	})
}

// Linger waits longer, in case the controllers were slow.
func (j *Journey) Linger(ctx context.Context) { j.await(ctx, 5*rest) }

// NextPod returns the next pod to become ready, and the changes of its fields, or nil if there is none. Mostly it is
// one of the newest.
func (j *Journey) NextPod() (*corev1.Pod, map[string]any) {
	pods := slices.DeleteFunc(j.b.history.Active(j.Namespace), history.IsReady)
	if len(pods) == 0 {
		return nil, nil
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	pod := pods[j.b.r.IntN(min(len(pods), 3))]
	since := time.Hour
	if !j.available {
		since = time.Duration(j.b.r.IntN(4000)) * time.Second
	}
	change := map[string]any{"status": map[string]any{"phase": "Running", "conditions": isReady(true, time.Now().Add(-since))}}
	if pod.Spec.NodeName == "" {
		change["spec"] = map[string]any{"nodeName": nodeName(j.b.r.IntN(Nodes))}
	}
	return pod, change
}

// MakeReady makes that change, and waits until the controllers have done all they can.
func (j *Journey) MakeReady(ctx context.Context, pod *corev1.Pod, change map[string]any) {
	if spec, ok := change["spec"].(map[string]any); ok {
		must.Do(j.b.plane.Bind(ctx, pod, spec["nodeName"].(string)))
	}
	j.b.plane.PatchPod(ctx, pod, map[string]any{"status": change["status"]}, "status")
	j.await(ctx, rest)
}

func encode(fields map[string]any) string { return string(must.Get(json.Marshal(fields))) }
