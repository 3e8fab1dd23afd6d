// Package scene creates workloads with random facts on a control plane, for the rounds of the judge.
package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
)

// Kinds are what a round can be about. Each names what happens in it.
var Kinds = []string{
	"replicaset",            // one that nobody owns is scaled
	"siblings",              // one of two ReplicaSets of one other owner is scaled
	"replicationcontroller", // one is scaled
	"idle",                  // a Deployment with one set is scaled
	"paused",                // a Deployment that is paused in the midst of a rollout is scaled
	"midway",                // a Deployment whose rollout waits for its pods is scaled
	"rolling",               // a Deployment's rollout goes on by itself
}

// OfDeployments are the kinds whose workload is a Deployment.
var OfDeployments = Kinds[3:]

// Scene is a namespace in which all is ready for the controllers to take pods.
type Scene struct {
	Namespace, Kind string
	Trigger         func(context.Context) error // makes them
	Count           *int32                      // what a Deployment is scaled to; nil if it only goes on
	Reacted         func(*history.Namespace) bool
	Quiet           time.Duration // how long nothing may happen before the controllers count as done
}

type builder struct {
	plane     *control.Plane
	history   *history.History
	r         *rand.Rand
	namespace string
	style     style
}

// CreateNodes makes the nodes of all scenes.
func CreateNodes(ctx context.Context, plane *control.Plane) error {
	for i := range Nodes {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i)}}
		_, err := plane.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// Build makes the scene of one round, of one of these kinds, in a namespace of its own.
func Build(ctx context.Context, plane *control.Plane, h *history.History, r *rand.Rand, prefix string,
	kinds []string) (*Scene, error) {
	created, err := plane.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	namespace := created.Name
	b := &builder{plane, h, r, namespace, drawStyle(r)}
	kind := kinds[r.IntN(len(kinds))]
	size := int32(1 + r.IntN(40))
	if r.IntN(2) == 0 {
		size = int32(1 + r.IntN(10))
	}
	s, err := b.workload(ctx, kind, size)
	if err != nil {
		return nil, err
	}
	if err := b.giveFacts(ctx); err != nil {
		return nil, err
	}
	if kind == "midway" { // it was paused while the pods were given their facts
		if err := b.patchDeployment(ctx, `{"spec":{"paused":false}}`); err != nil {
			return nil, err
		}
		if err := h.AwaitQuiet(ctx, namespace, "rolled as far as it goes", quiet, (*history.Namespace).IsSettled); err != nil {
			return nil, err
		}
	}
	s.Namespace, s.Kind = namespace, kind
	return s, b.barrier(ctx)
}

// quiet is for how long a Deployment does nothing once it has done all it can.
const quiet = 250 * time.Millisecond

func (b *builder) workload(ctx context.Context, kind string, size int32) (*Scene, error) {
	count := int32(b.r.IntN(int(size)))
	other, err := b.configMap(ctx, "other")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "replicaset", "siblings":
		var owner *metav1.OwnerReference
		if kind == "siblings" {
			owner = &other
		}
		if err := b.replicaSet(ctx, "a", map[string]string{"app": "web", "set": "a"}, size, owner); err != nil {
			return nil, err
		}
		if kind == "siblings" {
			labels := map[string]string{"app": "web", "set": "b"}
			if err := b.replicaSet(ctx, "b", labels, int32(b.r.IntN(12)), owner); err != nil {
				return nil, err
			}
		}
		return b.scaleSet("ReplicaSet", "a", count, func(patch []byte) error {
			_, err := b.plane.AppsV1().ReplicaSets(b.namespace).Patch(context.Background(), "a", types.MergePatchType, patch,
				metav1.PatchOptions{}, "scale")
			return err
		}), b.settled(ctx)
	case "replicationcontroller":
		template := template(map[string]string{"app": "web"})
		_, err := b.plane.CoreV1().ReplicationControllers(b.namespace).Create(ctx, &corev1.ReplicationController{
			ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec: corev1.ReplicationControllerSpec{
				Replicas: &size, Selector: map[string]string{"app": "web"}, Template: &template,
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, err
		}
		return b.scaleSet("ReplicationController", "a", count, func(patch []byte) error {
			_, err := b.plane.CoreV1().ReplicationControllers(b.namespace).Patch(context.Background(), "a",
				types.MergePatchType, patch, metav1.PatchOptions{}, "scale")
			return err
		}), b.settled(ctx)
	}
	if err := b.deployment(ctx, size, kind != "idle"); err != nil {
		return nil, err
	}
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, count)
	scaledTo := &count
	if kind == "rolling" {
		patch, scaledTo = `{"spec":{"paused":false}}`, nil
	}
	var generation int64
	return &Scene{
		Count: scaledTo,
		Trigger: func(ctx context.Context) error {
			deployment, err := b.plane.AppsV1().Deployments(b.namespace).Patch(ctx, "web", types.MergePatchType,
				[]byte(patch), metav1.PatchOptions{})
			if err == nil {
				generation = deployment.Generation
			}
			return err
		},
		Reacted: func(n *history.Namespace) bool {
			for _, deployment := range n.Deployments {
				if deployment.Status.ObservedGeneration < generation {
					return false
				}
			}
			return n.IsSettled()
		},
		Quiet: quiet,
	}, nil
}

func (b *builder) scaleSet(kind, name string, count int32, patch func([]byte) error) *Scene {
	return &Scene{
		Trigger: func(context.Context) error { return patch(fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count)) },
		Reacted: func(n *history.Namespace) bool {
			for _, set := range n.Sets {
				if set.Kind == kind && set.Name == name && set.Replicas != count {
					return false
				}
			}
			return n.IsSettled()
		},
	}
}

// settled waits until the controllers have made what the workloads want.
func (b *builder) settled(ctx context.Context) error {
	return b.history.Await(ctx, b.namespace, "settled", func(n *history.Namespace) bool {
		return len(n.Sets) > 0 && n.IsSettled()
	})
}

func (b *builder) configMap(ctx context.Context, name string) (metav1.OwnerReference, error) {
	made, err := b.plane.CoreV1().ConfigMaps(b.namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		return metav1.OwnerReference{}, err
	}
	return *metav1.NewControllerRef(made, corev1.SchemeGroupVersion.WithKind("ConfigMap")), nil
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

func (b *builder) replicaSet(ctx context.Context, name string, labels map[string]string, size int32,
	owner *metav1.OwnerReference) error {
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels),
		},
	}
	if owner != nil {
		set.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	_, err := b.plane.AppsV1().ReplicaSets(b.namespace).Create(ctx, set, metav1.CreateOptions{})
	return err
}

// deployment makes one; unless it is to be idle, it is brought into a rollout, which is then paused.
func (b *builder) deployment(ctx context.Context, size int32, rollout bool) error {
	labels := map[string]string{"app": "web"}
	surge, unavailable := intstr.FromInt32(int32(b.r.IntN(6))), intstr.FromInt32(int32(b.r.IntN(4)))
	if surge.IntVal == 0 && unavailable.IntVal == 0 {
		surge.IntVal = 1
	}
	_, err := b.plane.AppsV1().Deployments(b.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels),
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if err := b.settled(ctx); err != nil || !rollout {
		return err
	}
	for revision := range 1 + b.r.IntN(2) {
		patch := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"revision":"%d"}}}}}`, revision)
		if err := b.patchDeployment(ctx, patch); err != nil {
			return err
		}
		err := b.history.AwaitQuiet(ctx, b.namespace, "rolled as far as it goes", quiet, func(n *history.Namespace) bool {
			return len(n.Sets) >= 2+revision && n.IsSettled()
		})
		if err != nil {
			return err
		}
	}
	return b.patchDeployment(ctx, `{"spec":{"paused":true}}`)
}

func (b *builder) patchDeployment(ctx context.Context, patch string) error {
	patched, err := b.plane.AppsV1().Deployments(b.namespace).Patch(ctx, "web", types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	if err != nil {
		return err
	}
	return b.history.Await(ctx, b.namespace, "observed", func(n *history.Namespace) bool {
		for _, deployment := range n.Deployments {
			if deployment.Status.ObservedGeneration < patched.Generation {
				return false
			}
		}
		return true
	})
}

// giveFacts gives each pod its facts: first to those that fail or terminate, which the controllers replace.
func (b *builder) giveFacts(ctx context.Context) error {
	var pods []*corev1.Pod
	b.history.Look(b.namespace, func(n *history.Namespace) {
		for uid := range n.Sets {
			pods = append(pods, n.Active(uid)...)
		}
	})
	b.r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	if foreign := b.r.IntN(5); len(pods) > 0 && b.r.IntN(3) == 0 {
		if err := b.foreign(ctx, pods, 1+foreign); err != nil {
			return err
		}
	}
	if len(pods) > 0 && b.r.IntN(3) == 0 {
		lost := pods[:min(1+b.r.IntN(4), len(pods))]
		now := time.Now()
		err := b.each(ctx, lost, func(ctx context.Context, pod *corev1.Pod, f facts) error {
			f.node, f.phase = nodeName(int(f.setup)%Nodes), corev1.PodRunning
			f.conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
			f.failed, f.finalizer = f.restarts[0]%2 == 0, true
			return b.lose(ctx, pod, f)
		})
		if err != nil {
			return err
		}
		if err := b.settled(ctx); err != nil {
			return err
		}
	}
	pods = nil
	b.history.Look(b.namespace, func(n *history.Namespace) {
		for uid := range n.Sets {
			pods = append(pods, n.Active(uid)...)
		}
	})
	if err := b.each(ctx, pods, b.give); err != nil {
		return err
	}
	return b.settled(ctx)
}

// each draws facts for the pods in turn, and then hands them over, several at a time.
func (b *builder) each(ctx context.Context, pods []*corev1.Pod,
	f func(context.Context, *corev1.Pod, facts) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	now := time.Now()
	for _, pod := range pods {
		drawn := b.style.draw(b.r, now)
		group.Go(func() error { return f(ctx, pod, drawn) })
	}
	return group.Wait()
}

// lose makes a pod inactive that is still there.
func (b *builder) lose(ctx context.Context, pod *corev1.Pod, f facts) error {
	if f.failed {
		f.phase = corev1.PodFailed
	}
	if err := b.give(ctx, pod, f); err != nil || f.failed {
		return err
	}
	return b.plane.CoreV1().Pods(b.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
}

// give sets a pod's facts: by requests as kube-scheduler and kubelet make them, and in etcd what no request sets.
func (b *builder) give(ctx context.Context, pod *corev1.Pod, f facts) error {
	pods := b.plane.CoreV1().Pods(b.namespace)
	if f.node != "" && pod.Spec.NodeName == "" {
		binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name},
			Target: corev1.ObjectReference{Kind: "Node", Name: f.node}}
		if err := pods.Bind(ctx, binding, metav1.CreateOptions{}); err != nil {
			return err
		}
		status, err := json.Marshal(map[string]any{"status": f.status()})
		if err != nil {
			return err
		}
		if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
	}
	metadata := map[string]any{}
	if f.cost != nil && f.costIsValid {
		metadata["annotations"] = map[string]any{corev1.PodDeletionCost: *f.cost}
	}
	if f.finalizer {
		metadata["finalizers"] = []string{"podrank.dev/judge"}
	}
	if len(metadata) > 0 {
		patch, err := json.Marshal(map[string]any{"metadata": metadata})
		if err != nil {
			return err
		}
		if _, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	if f.created == nil && (f.cost == nil || f.costIsValid) {
		return nil
	}
	return b.plane.EditPod(ctx, b.namespace, pod.Name, func(pod *corev1.Pod) {
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
		"phase":      f.phase,
		"conditions": f.conditions,
		"containerStatuses": []corev1.ContainerStatus{
			container("main", f.restarts[0]), container("helper", f.restarts[1]),
		},
		"initContainerStatuses": []corev1.ContainerStatus{
			container("setup", f.setup), container("sidecar", f.sidecar),
		},
	}
}

// foreign makes pods that have labels of the workload's pods, and another controller.
func (b *builder) foreign(ctx context.Context, pods []*corev1.Pod, count int) error {
	owner, err := b.configMap(ctx, "stranger")
	if err != nil {
		return err
	}
	var made []*corev1.Pod
	for i := range count {
		like := pods[b.r.IntN(len(pods))]
		pod := template(like.Labels)
		created, err := b.plane.CoreV1().Pods(b.namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stranger-%d", i), Labels: like.Labels,
				OwnerReferences: []metav1.OwnerReference{owner}},
			Spec: pod.Spec,
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		made = append(made, created)
	}
	return b.each(ctx, made, b.give)
}
