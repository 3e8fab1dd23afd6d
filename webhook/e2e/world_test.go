//go:build controlplane

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
)

// World is a namespace with nodes of its own, whose pods get nodes in turn.
type World struct {
	testing.TB
	*Plane
	ctx       context.Context
	Namespace string
	Nodes     []*corev1.Node
	mu        sync.Mutex
	pods      map[types.UID]*corev1.Pod
	// deleted are the deleted pods, in the order in which their deletion began.
	deleted []*corev1.Pod
	// costs is how often a cost of a pod changed, annotated since when pods have an annotation, and stood how long they had one until they began to go.
	costs     int
	annotated map[types.UID]time.Time
	stood     []time.Duration
}

// NewWorld makes a namespace and nodes. Every other node is a spot node, and they are in two zones.
func NewWorld(t testing.TB, nodes int) *World {
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	w := &World{TB: t, Plane: plane, ctx: ctx, pods: map[types.UID]*corev1.Pod{}, annotated: map[types.UID]time.Time{}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "shop-", Labels: map[string]string{v1alpha1.SteeringLabel: v1alpha1.SteeringEnabled},
	}}
	w.must(w.Create(ctx, namespace))
	w.Namespace = namespace.Name
	for i := range nodes {
		name := fmt.Sprintf("%s-%d", w.Namespace, i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"lifecycle":              []string{"reserved", "spot"}[i%2],
			corev1.LabelTopologyZone: []string{"a", "b"}[i/2%2],
			corev1.LabelHostname:     name,
		}}}
		w.must(w.Create(ctx, node))
		w.Nodes = append(w.Nodes, node)
	}
	t.Cleanup(func() {
		for _, node := range w.Nodes {
			_ = w.Delete(context.Background(), node)
		}
		_ = w.Delete(context.Background(), namespace)
	})
	go w.follow()
	return w
}

func (w *World) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Kubectl runs kubectl in the namespace.
func (w *World) Kubectl(arguments ...string) error {
	return w.Plane.Kubectl(append([]string{"-n", w.Namespace}, arguments...)...)
}

// follow assigns pods to nodes in turn, and records their deletions.
func (w *World) follow() {
	next := 0
	w.watchPods(w.ctx, func(event watch.EventType, pod *corev1.Pod) {
		w.note(event, pod)
		if pod.Spec.NodeName == "" && event == watch.Added && pod.Labels["unassigned"] == "" {
			target := corev1.ObjectReference{Kind: "Node", Name: w.Nodes[next%len(w.Nodes)].Name}
			next++
			binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: target}
			_ = w.Clients.CoreV1().Pods(w.Namespace).Bind(w.ctx, binding, metav1.CreateOptions{})
		}
	})
}

// watchPods shows each event about a pod, in order, until the context ends, even if the API server restarts.
func (w *World) watchPods(ctx context.Context, see func(watch.EventType, *corev1.Pod)) {
	version := ""
	for ctx.Err() == nil {
		events, err := w.Clients.CoreV1().Pods(w.Namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			// The API server may know no such version any more.
			version = ""
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for event := range events.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				version = ""
				break
			}
			version = pod.ResourceVersion
			see(event.Type, pod)
		}
		events.Stop()
	}
}

func (w *World) note(event watch.EventType, pod *corev1.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.pods[pod.UID]
	if known && before.Annotations[corev1.PodDeletionCost] != pod.Annotations[corev1.PodDeletionCost] {
		w.costs++
	}
	isGoing := pod.DeletionTimestamp != nil || event == watch.Deleted
	if isGoing && (!known || before.DeletionTimestamp == nil) && !slices.ContainsFunc(w.deleted, func(earlier *corev1.Pod) bool { return earlier.UID == pod.UID }) {
		w.deleted = append(w.deleted, pod)
		if since, ok := w.annotated[pod.UID]; ok {
			w.stood = append(w.stood, time.Since(since))
		}
	}
	if _, ok := cost.SteeredOf(pod); !ok {
		delete(w.annotated, pod.UID)
	} else if w.annotated[pod.UID].IsZero() {
		w.annotated[pod.UID] = time.Now()
	}
	if event == watch.Deleted {
		delete(w.pods, pod.UID)
		return
	}
	w.pods[pod.UID] = pod
}

// Pods are the pods that are not going.
func (w *World) Pods() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	pods := slices.DeleteFunc(slices.Collect(maps.Values(w.pods)), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return pods
}

// Deleted are the pods that were deleted, in order.
func (w *World) Deleted() []*corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.deleted)
}

// CostChanges is how often costs changed.
func (w *World) CostChanges() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.costs
}

// Await waits until a condition holds.
func (w *World) Await(what string, longest time.Duration, holds func() bool) {
	w.Helper()
	if !w.Holds(longest, holds) {
		w.Fatalf("not %s after %v\n%s", what, longest, w.log())
	}
}

// Holds waits for a condition, and reports whether it holds in time.
func (w *World) Holds(longest time.Duration, holds func() bool) bool {
	for end := time.Now().Add(longest); ; time.Sleep(20 * time.Millisecond) {
		if holds() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// AwaitReady waits until there are this many pods, all ready.
func (w *World) AwaitReady(count int) []*corev1.Pod {
	w.Helper()
	w.Await(fmt.Sprintf("%d ready pods", count), time.Minute, func() bool { return w.areReady(count) })
	return w.Pods()
}

// areReady reports whether there are this many pods, all ready.
func (w *World) areReady(count int) bool {
	pods := w.Pods()
	return len(pods) == count && !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !isReady(pod) })
}

// AwaitClean waits until no pod has a cost or annotation of this program.
func (w *World) AwaitClean() {
	w.Helper()
	w.Await("clean", 60*time.Second, func() bool { return w.IsClean() })
}

// IsClean reports whether no pod that is kept has a cost or annotation of this program.
func (w *World) IsClean() bool {
	return !slices.ContainsFunc(w.Pods(), func(pod *corev1.Pod) bool {
		_, annotated := cost.SteeredOf(pod)
		return annotated || slices.ContainsFunc(pod.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == cost.Manager })
	})
}

func template(name string) corev1.PodTemplateSpec {
	seconds := int64(1)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}, TerminationGracePeriodSeconds: &seconds},
	}
}

func replicaSet(namespace, name string, count int32, changes ...func(*corev1.PodTemplateSpec)) *appsv1.ReplicaSet {
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	set.Spec.Replicas, set.Spec.Template = &count, template(name)
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	for _, change := range changes {
		change(&set.Spec.Template)
	}
	return set
}

func deployment(namespace, name string, count int32) *appsv1.Deployment {
	set := replicaSet(namespace, name, count)
	return &appsv1.Deployment{ObjectMeta: set.ObjectMeta, Spec: appsv1.DeploymentSpec{
		Replicas: &count, Template: set.Spec.Template, Selector: set.Spec.Selector,
	}}
}

func controller(namespace, name string, count int32) *corev1.ReplicationController {
	c := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	pods := template(name)
	c.Spec.Replicas, c.Spec.Template, c.Spec.Selector = &count, &pods, map[string]string{"app": name}
	return c
}

func webSet(namespace string, count int32) client.Object { return replicaSet(namespace, "web", count) }

func webDeployment(namespace string, count int32) client.Object {
	return deployment(namespace, "web", count)
}

func webController(namespace string, count int32) client.Object {
	return controller(namespace, "web", count)
}

// NewWorldOf makes a world with a policy, and in it a workload of ready pods.
func NewWorldOf(t testing.TB, nodes int, spec v1alpha1.ScaleDownPolicySpec, workload func(namespace string, count int32) client.Object, count int32) (*World, client.Object) {
	t.Helper()
	w := NewWorld(t, nodes)
	w.Policy("spot", spec)
	object := workload(w.Namespace, count)
	w.must(w.Create(w.ctx, object))
	w.AwaitReady(int(count))
	return w, object
}

// Policy creates a policy, for all workloads unless the spec names some, and waits until the program knows it.
func (w *World) Policy(name string, spec v1alpha1.ScaleDownPolicySpec) *v1alpha1.ScaleDownPolicy {
	w.Helper()
	if spec.TargetRef == nil && spec.Selector == nil {
		spec.Selector = &v1alpha1.LabelSelector{}
	}
	policy := &v1alpha1.ScaleDownPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Spec: spec}
	w.must(w.Create(w.ctx, policy))
	// After a leader was killed, the next one is elected 15 s later.
	w.Await("accepted", 45*time.Second, func() bool { return w.Status(name) != nil && len(w.Status(name).Conditions) > 0 })
	w.awaitAsked()
	return policy
}

// awaitAsked waits until the API server asks about scale-downs in the namespace, because it has observed the label of the namespace and the
// webhook configuration.
func (w *World) awaitAsked() {
	w.Helper()
	w.Await("asked", 20*time.Second, w.isAsked)
}

// disable takes the label from the namespace, and waits until the API server no longer asks.
func (w *World) disable() {
	w.Helper()
	w.must(w.Kubectl("label", "namespace", w.Namespace, v1alpha1.SteeringLabel+"-"))
	w.Await("no longer asked", 20*time.Second, func() bool { return !w.isAsked() })
}

// isAsked reports whether the API server asks about a dry run of a scale-down in the namespace.
func (w *World) isAsked() bool {
	w.Helper()
	set := replicaSet(w.Namespace, trial, 2, func(pods *corev1.PodTemplateSpec) {
		pods.Spec.PriorityClassName = "none" // so that the API server refuses its pods
	})
	w.must(w.Create(w.ctx, set))
	before := w.Proxy.tried(w.Namespace)
	w.must(w.Scale(set, 1, client.DryRunAll))
	w.must(w.Delete(w.ctx, set))
	return w.Proxy.tried(w.Namespace) > before
}

// Status is that of a policy.
func (w *World) Status(name string) *v1alpha1.ScaleDownPolicyStatus {
	var policy v1alpha1.ScaleDownPolicy
	if err := w.Get(w.ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, &policy); err != nil {
		return nil
	}
	return &policy.Status
}

// Last waits until a policy has decided about this many scale-downs, and returns the last one, as the status has it.
func (w *World) Last(name string, count int) (last v1alpha1.ScaleDown) {
	w.Helper()
	w.Await(fmt.Sprintf("%d scale-downs of %s", count, name), 20*time.Second, func() bool {
		all := w.History(name)
		if len(all) < count || all[0].Result == "" {
			return false
		}
		if entry := w.Status(name).Workload(all[0].UID); entry != nil && entry.LastScaleDown.Generation >= all[0].Generation {
			last = entry.LastScaleDown
			return true
		}
		return false
	})
	return last
}

// SpotFirst wants pods on spot nodes to be deleted first.
var SpotFirst = v1alpha1.ScaleDownPolicySpec{DeleteFirst: []v1alpha1.Preference{
	{Type: v1alpha1.PreferenceNodes, Nodes: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"lifecycle": "spot"}}},
}}

// Scale sets the count of a set or Deployment through its subresource, as an autoscaler does.
func (w *World) Scale(object client.Object, count int32, options ...client.SubResourcePatchOption) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, count))
	options = append(options, &client.SubResourcePatchOptions{SubResourceBody: &autoscalingv1.Scale{}})
	return w.SubResource("scale").Patch(w.ctx, object, patch, options...)
}

// IsSpot reports whether a pod is on a spot node.
func (w *World) IsSpot(pod *corev1.Pod) bool {
	for _, node := range w.Nodes {
		if node.Name == pod.Spec.NodeName {
			return node.Labels["lifecycle"] == "spot"
		}
	}
	return false
}

// Spots counts pods on spot nodes.
func (w *World) Spots(pods []*corev1.Pod) int { return count(pods, w.IsSpot) }

func count(pods []*corev1.Pod, is func(*corev1.Pod) bool) (count int) {
	for _, pod := range pods {
		if is(pod) {
			count++
		}
	}
	return count
}

// AwaitDeleted waits until this many pods were deleted.
func (w *World) AwaitDeleted(count int) []*corev1.Pod {
	w.Helper()
	w.Await(fmt.Sprintf("%d pods gone", count), time.Minute, func() bool { return len(w.Deleted()) >= count })
	return w.Deleted()
}

// AwaitSpots waits until this many pods were deleted, all on spot nodes.
func (w *World) AwaitSpots(count int) {
	w.Helper()
	if deleted := w.AwaitDeleted(count); w.Spots(deleted) != count {
		w.Errorf("%d of %d on spot nodes", w.Spots(deleted), count)
	}
}

// onlyOld returns an error if any deleted pod was not there before.
func onlyOld(before, deleted []*corev1.Pod) error {
	var problems []error
	for _, pod := range deleted {
		if !slices.ContainsFunc(before, func(old *corev1.Pod) bool { return old.UID == pod.UID }) {
			problems = append(problems, fmt.Errorf("the new pod %s went", pod.Name))
		}
	}
	return errors.Join(problems...)
}
