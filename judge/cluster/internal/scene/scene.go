// Package scene creates workloads with random facts on a control plane, for the rounds of the judge.
package scene

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Kinds are what a round can be about. Each names what happens in it.
var Kinds = []string{
	"replicaset",            // one that nobody owns is scaled
	"siblings",              // one of two ReplicaSets of one other owner is scaled
	"replicationcontroller", // one is scaled
}

// Scene is a namespace in which all is ready for the controllers to take pods.
type Scene struct {
	Namespace, Kind string
	Set             string                // as rs/NAME or rc/NAME, the one that loses pods
	Count           int32                 // what it is scaled to
	Await           func(context.Context) // waits for the time of the trigger, if there is one
	Trigger         func(context.Context) // scales it
	Reacted         func(*history.Namespace) bool
}

type builder struct {
	plane     *control.Plane
	history   *history.History
	r         *rand.Rand
	namespace string
	style     style
}

// CreateNodes makes the nodes of all scenes.
func CreateNodes(ctx context.Context, plane *control.Plane) {
	for i := range Nodes {
		plane.Ensure(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}})
	}
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// Build makes the scene of one round, of one of these kinds, in a namespace of its own.
func Build(ctx context.Context, plane *control.Plane, h *history.History, r *rand.Rand, prefix string, kinds []string) *Scene {
	namespace := plane.CreateNamespace(ctx, prefix)
	b := &builder{plane, h, r, namespace, drawStyle(r)}
	kind := kinds[r.IntN(len(kinds))]
	var s *Scene
	switch {
	case slices.Contains(OfChance, kind):
		s = b.chance(ctx, kind)
	case slices.Contains(OfEdges, kind):
		s = b.edge(ctx, kind)
	default:
		s = b.workload(ctx, kind)
		b.giveFacts(ctx)
	}
	s.Namespace, s.Kind = namespace, kind
	b.barrier(ctx)
	return s
}

const (
	// quiet is for how long a Deployment does nothing once it has done all it can.
	quiet  = 250 * time.Millisecond
	rolled = "rolled as far as it goes"
)

func (b *builder) workload(ctx context.Context, kind string) *Scene {
	size := int32(1 + b.r.IntN(40))
	if b.r.IntN(2) == 0 {
		size = int32(1 + b.r.IntN(10))
	}
	count := int32(b.r.IntN(int(size)))
	if kind == "replicationcontroller" {
		template := template(map[string]string{"app": "web"})
		b.plane.Create(ctx, &corev1.ReplicationController{
			ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: b.namespace},
			Spec: corev1.ReplicationControllerSpec{
				Replicas: &size, Selector: map[string]string{"app": "web"}, Template: &template,
			},
		})
		b.settled(ctx)
		return b.scaleSet("rc/a", "replicationcontrollers", count)
	}
	var owners []metav1.OwnerReference
	if kind == "siblings" {
		owners = append(owners, b.configMap(ctx, "other"))
		b.replicaSet(ctx, "b", map[string]string{"app": "web", "set": "b"}, int32(b.r.IntN(12)), owners...)
	}
	b.replicaSet(ctx, "a", map[string]string{"app": "web", "set": "a"}, size, owners...)
	b.settled(ctx)
	return b.scaleSet("rs/a", "replicasets", count)
}

func scaling(count int32) string { return fmt.Sprintf(`{"spec":{"replicas":%d}}`, count) }

// scaleSet is for the set called a.
func (b *builder) scaleSet(set, resource string, count int32) *Scene {
	return &Scene{
		Set: set, Count: count,
		Trigger: func(ctx context.Context) {
			b.plane.Patch(ctx, resource, b.namespace, "a", scaling(count), "scale")
		},
		Reacted: func(n *history.Namespace) bool {
			for _, set := range n.Sets {
				if set.Name == "a" && set.Replicas != count {
					return false
				}
			}
			return n.IsSettled()
		},
	}
}

// owned makes a ReplicaSet called a, which a ConfigMap owns, and returns its pods in a random order.
func (b *builder) owned(ctx context.Context, size int32) []*corev1.Pod {
	b.replicaSet(ctx, "a", map[string]string{"app": "web", "set": "a"}, size, b.configMap(ctx, "other"))
	b.settled(ctx)
	pods := b.history.Active(b.namespace)
	b.r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	return pods
}

func (b *builder) settled(ctx context.Context) { b.history.AwaitSettled(ctx, b.namespace) }

func (b *builder) configMap(ctx context.Context, name string) metav1.OwnerReference {
	made := b.plane.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: b.namespace}})
	return *metav1.NewControllerRef(made, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
}

func template(labels map[string]string) corev1.PodTemplateSpec {
	always := corev1.ContainerRestartPolicyAlways
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Name: "setup", Image: "none"}, {Name: "sidecar", Image: "none", RestartPolicy: &always},
			},
			Containers: []corev1.Container{{Name: "main", Image: "none"}, {Name: "helper", Image: "none"}},
		},
	}
}

func (b *builder) replicaSet(ctx context.Context, name string, labels map[string]string, size int32, owners ...metav1.OwnerReference) {
	b.plane.Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: b.namespace, OwnerReferences: owners},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels),
		},
	})
}

// roll changes the Deployment's template, and waits until its rollout has so many sets and stands still.
func (b *builder) roll(ctx context.Context, patch string, sets int) {
	b.patchDeployment(ctx, patch)
	b.history.AwaitQuiet(ctx, b.namespace, rolled, quiet, func(n *history.Namespace) bool {
		return len(n.Sets) >= sets && n.IsSettled()
	})
}

func (b *builder) patchDeployment(ctx context.Context, patch string) {
	generation := b.plane.Patch(ctx, "deployments", b.namespace, "web", patch).GetGeneration()
	b.history.Await(ctx, b.namespace, "observed", func(n *history.Namespace) bool { return n.HasObserved(generation) })
}

// giveFacts gives each pod its facts: first to those that fail or terminate, which the controllers replace.
func (b *builder) giveFacts(ctx context.Context) {
	pods := b.history.Active(b.namespace)
	b.r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	if foreign := b.r.IntN(5); len(pods) > 0 && b.r.IntN(3) == 0 {
		b.foreign(ctx, pods, 1+foreign)
	}
	if len(pods) > 0 && b.r.IntN(3) == 0 {
		lost := pods[:min(1+b.r.IntN(4), len(pods))]
		now := time.Now()
		b.each(ctx, lost, func(ctx context.Context, pod *corev1.Pod, f facts) {
			f.node, f.phase = nodeName(int(f.setup)%Nodes), corev1.PodRunning
			f.conditions = isReady(true, now.Add(-time.Hour))
			f.failed, f.finalizer = f.restarts[0]%2 == 0, true
			b.lose(ctx, pod, f)
		})
		b.settled(ctx)
	}
	b.each(ctx, b.history.Active(b.namespace), b.give)
	b.settled(ctx)
}

// each draws facts for the pods in turn, and then hands them over, several at a time.
func (b *builder) each(ctx context.Context, pods []*corev1.Pod, f func(context.Context, *corev1.Pod, facts)) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	now := time.Now()
	for _, pod := range pods {
		drawn := b.style.draw(b.r, now)
		group.Go(func() error { return must.Try(func() { f(ctx, pod, drawn) }) })
	}
	must.Do(group.Wait())
}

// lose makes a pod inactive that is still there.
func (b *builder) lose(ctx context.Context, pod *corev1.Pod, f facts) {
	if f.failed {
		f.phase = corev1.PodFailed
	}
	b.give(ctx, pod, f)
	if !f.failed {
		must.Do(b.plane.Of("pods", b.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}))
	}
}

// give sets a pod's facts: by requests as kube-scheduler and kubelet make them, and in etcd what no request sets. The status comes before
// the node, so that the stand-in for kubelet leaves the pod alone.
func (b *builder) give(ctx context.Context, pod *corev1.Pod, f facts) {
	if f.node != "" && pod.Spec.NodeName == "" {
		b.plane.PatchPod(ctx, pod, map[string]any{"status": f.status()}, "status")
		must.Do(b.plane.Bind(ctx, pod, f.node))
	}
	metadata := map[string]any{}
	if f.cost != nil && f.costIsValid {
		metadata["annotations"] = map[string]any{corev1.PodDeletionCost: *f.cost}
	}
	if f.finalizer {
		metadata["finalizers"] = []string{"podrank.dev/judge"}
	}
	if len(metadata) > 0 {
		b.plane.PatchPod(ctx, pod, map[string]any{"metadata": metadata})
	}
	if f.created == nil && (f.cost == nil || f.costIsValid) {
		return
	}
	b.plane.EditPod(ctx, b.namespace, pod.Name, func(pod *corev1.Pod) {
		if f.created != nil {
			pod.CreationTimestamp = *f.created
		}
		if f.cost != nil && !f.costIsValid {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.PodDeletionCost, *f.cost)
		}
	})
}

func (f *facts) status() map[string]any {
	container := func(name string, restarts int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, RestartCount: restarts}
	}
	return map[string]any{
		"phase":                 f.phase,
		"conditions":            f.conditions,
		"containerStatuses":     []corev1.ContainerStatus{container("main", f.restarts[0]), container("helper", f.restarts[1])},
		"initContainerStatuses": []corev1.ContainerStatus{container("setup", f.setup), container("sidecar", f.sidecar)},
	}
}

// foreign makes pods that have labels of the workload's pods, and another controller.
func (b *builder) foreign(ctx context.Context, pods []*corev1.Pod, count int) {
	owner := b.configMap(ctx, "stranger")
	var made []*corev1.Pod
	for i := range count {
		like := pods[b.r.IntN(len(pods))]
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stranger-%d", i), Namespace: b.namespace, Labels: like.Labels,
				OwnerReferences: []metav1.OwnerReference{owner}},
			Spec: template(nil).Spec,
		}
		b.plane.Create(ctx, pod)
		made = append(made, pod)
	}
	b.each(ctx, made, b.give)
}
