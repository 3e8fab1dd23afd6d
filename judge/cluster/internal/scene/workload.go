package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/wish"
)

// A Workload is steered in a round. Its namespace has nodes of its own, its running pods, and pods of other owners.
// Replacements of its pods are bound immediately, and the stand-in for kubelet makes them ready.
type Workload struct {
	Namespace string
	Kind      string // deployment, replicaset or replicationcontroller; rolling in the middle of a rollout; owned if it must be refused
	Target    string // as TYPE/NAME
	Rolls     bool   // whether a rollout has begun
	Strangers []string
	Template  string // the deletion cost of its pod template

	plane   *control.Plane
	history *history.History
	r       *rand.Rand                   // draws the workload
	nodes   map[string]map[string]string // labels by name
	first   map[types.UID]bool           // the pods that were made with it
}

// WorkloadOptions narrow down what is drawn.
type WorkloadOptions struct {
	Steerable bool // nothing that must be refused as it is
	Ready     bool // all pods are ready
	Own       bool // no foreign costs
	Agents    bool // a DaemonSet has a pod on each node
	Size      int  // as many pods; 2 to 30 if 0
	Kind      string
}

// BuildWorkload makes the workload of one round.
func BuildWorkload(ctx context.Context, plane *control.Plane, h *history.History, r *rand.Rand, prefix string,
	options WorkloadOptions) *Workload {
	w := &Workload{Namespace: plane.CreateNamespace(ctx, prefix), plane: plane, history: h, r: r, nodes: map[string]map[string]string{},
		first: map[types.UID]bool{}}
	size := int32(2 + r.IntN(29))
	w.Kind = pick(r, "deployment", "deployment", "replicaset", "replicationcontroller")
	if !options.Steerable && r.IntN(10) == 0 {
		w.Kind = pick(r, "rolling", "rolling", "rolling", "owned")
	}
	if options.Kind != "" {
		w.Kind = options.Kind
	}
	if options.Size > 0 {
		size = int32(options.Size)
	}
	w.createNodes(ctx)
	w.create(ctx, size, options)
	w.giveFacts(ctx, options)
	w.createStrangers(ctx)
	if options.Agents {
		w.createAgents(ctx)
	}
	h.AwaitSettled(ctx, w.Namespace)
	return w
}

func (w *Workload) createNodes(ctx context.Context) {
	zones := []string{"a", "b", "c"}[:1+w.r.IntN(3)]
	for i := range 2 + w.r.IntN(7) {
		name := fmt.Sprintf("%s-%d", w.Namespace, i)
		w.nodes[name] = map[string]string{"round": w.Namespace, wish.Hostname: name, wish.Zone: pick(w.r, zones...),
			wish.Lifecycle: pick(w.r, "spot", "on-demand")}
		w.plane.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: w.nodes[name]}})
	}
}

func (w *Workload) nodeNames() []string { return slices.Sorted(maps.Keys(w.nodes)) }

// create makes the workload and waits for its pods.
func (w *Workload) create(ctx context.Context, size int32, options WorkloadOptions) {
	const name = "web"
	labels := map[string]string{"app": name}
	template := template(labels)
	if w.r.Float64() < 0.12 && !options.Own {
		w.Template = pick(w.r, "0", "5", "-3", "100")
		template.Annotations = map[string]string{corev1.PodDeletionCost: w.Template}
	}
	var minReady int32
	if w.r.Float64() < 0.15 {
		minReady = minReadySeconds
	}
	meta := metav1.ObjectMeta{Name: name, Namespace: w.Namespace}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	switch w.Kind {
	case "replicaset":
		w.Target = "rs/" + name
		w.plane.Create(ctx, &appsv1.ReplicaSet{ObjectMeta: meta,
			Spec: appsv1.ReplicaSetSpec{Replicas: &size, Selector: selector, Template: template, MinReadySeconds: minReady}})
	case "replicationcontroller":
		w.Target = "rc/" + name
		w.plane.Create(ctx, &corev1.ReplicationController{ObjectMeta: meta,
			Spec: corev1.ReplicationControllerSpec{Replicas: &size, Selector: labels, Template: &template, MinReadySeconds: minReady}})
	default:
		w.Target = "deploy/" + name
		deadline := minReady + 600
		w.plane.Create(ctx, &appsv1.Deployment{ObjectMeta: meta,
			Spec: appsv1.DeploymentSpec{Replicas: &size, Selector: selector, Template: template, MinReadySeconds: minReady,
				ProgressDeadlineSeconds: &deadline}})
	}
	w.history.AwaitSettled(ctx, w.Namespace)
	if w.Kind == "rolling" {
		w.stopMidway(ctx)
	}
	w.history.Look(w.Namespace, func(n *history.Namespace) {
		for uid, set := range n.Sets {
			if w.Kind == "owned" {
				w.Target = "rs/" + set.Name
			}
			for _, pod := range n.Active(uid) {
				w.first[pod.UID] = true
			}
		}
	})
}

// minReadySeconds is longer than half of the ages of pods.
const minReadySeconds = 3600

// stopMidway pauses the Deployment in the midst of a rollout.
func (w *Workload) stopMidway(ctx context.Context) {
	b := &builder{plane: w.plane, history: w.history, namespace: w.Namespace}
	for revision := range 1 + w.r.IntN(2) {
		b.roll(ctx, fmt.Sprintf(`{"spec":{"strategy":{"rollingUpdate":{"maxUnavailable":%d,"maxSurge":%d}},`+
			`"template":{"metadata":{"annotations":{"revision":"%d"}}}}}`, w.r.IntN(3), 1+w.r.IntN(3), 2+revision), 2+revision)
	}
	b.patchDeployment(ctx, `{"spec":{"paused":true}}`)
	w.Rolls = true
}

// giveFacts draws what the pods are like, and makes it so.
func (w *Workload) giveFacts(ctx context.Context, options WorkloadOptions) {
	r := w.r
	chance := func(p float64) bool { return r.Float64() < p }
	notReady, unassigned := pick(r, 0, 0, 0.1), pick(r, 0, 0, 0, 0, 0, 0, 0.1)
	if options.Ready {
		notReady, unassigned = 0, 0
	}
	costs, cost := []string{"0"}, 0.0
	if !options.Own && chance(0.25) {
		cost = pick(r, 0.1, 0.3, 0.3, 0.6)
		costs = pick(r, []string{"-1", "0", "1", "5", "100"}, []string{"100", "1000"}, []string{"1000000"}, []string{"0"},
			[]string{"-1"}, []string{"-2147483648", "2147483647"}, []string{"-50", "50"})
	}
	b := &builder{plane: w.plane, namespace: w.Namespace}
	nodes := w.nodeNames()
	young := pick(r, 0, 0.5, 0.5)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, pod := range w.history.Active(w.Namespace) {
		f, since := facts{node: pick(r, nodes...), phase: corev1.PodRunning, restarts: []int32{0, 0}}, minReadySeconds+3600+r.IntN(1000000)
		isUnready := chance(notReady)
		if chance(unassigned) {
			f.node = ""
		}
		if chance(young) {
			since = 10 + r.IntN(600)
		}
		f.conditions = isReady(!isUnready, time.Now().Add(-time.Duration(since)*time.Second))
		if chance(0.2) {
			f.restarts[0] = int32(r.IntN(5))
		}
		labels := map[string]any{wish.Shard: strconv.Itoa(r.IntN(4))}
		if chance(0.3) {
			labels[wish.Draining] = "true"
		}
		foreign, apply := "", chance(0.5)
		if chance(cost) {
			foreign = pick(r, costs...)
		}
		group.Go(func() error {
			return must.Try(func() {
				b.give(ctx, pod, f)
				w.plane.PatchPod(ctx, pod, map[string]any{"metadata": map[string]any{"labels": labels}})
				if foreign != "" {
					must.Get(w.SetCost(ctx, pod.Name, foreign, apply))
				}
			})
		})
	}
	must.Do(group.Wait())
}

// SetCost gives a pod a deletion cost that is someone else's: by a server-side apply, or as `kubectl annotate` does. It reports
// whether the API server says whose it is: a patch to the value that was there already leaves no trace.
func (w *Workload) SetCost(ctx context.Context, pod, cost string, apply bool) (bool, error) {
	kind, options := types.MergePatchType, metav1.PatchOptions{FieldManager: "kubectl-annotate"}
	object := map[string]any{"metadata": map[string]any{"annotations": map[string]any{corev1.PodDeletionCost: cost}}}
	if apply {
		force := true
		kind, options = types.ApplyPatchType, metav1.PatchOptions{FieldManager: "autoscaler", Force: &force}
		object["apiVersion"], object["kind"] = "v1", "Pod"
	}
	written, err := w.plane.CoreV1().Pods(w.Namespace).Patch(ctx, pod, kind, must.Get(json.Marshal(object)), options)
	return err == nil && managesCost(written, options.FieldManager), err
}

// SetReady changes the condition Ready of a pod, if it is still there.
func (w *Workload) SetReady(ctx context.Context, pod string, ready bool) {
	text := must.Get(json.Marshal(map[string]any{"status": map[string]any{"conditions": isReady(ready, time.Now())}}))
	_, err := w.plane.CoreV1().Pods(w.Namespace).Patch(ctx, pod, types.StrategicMergePatchType, text,
		metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	must.Do(control.IgnoreNotFound(err))
}

// Roll starts a rollout of the Deployment.
func (w *Workload) Roll(ctx context.Context) {
	w.plane.Patch(ctx, "deployments", w.Namespace, "web", `{"spec":{"template":{"metadata":{"annotations":{"revision":"2"}}}}}`)
}

// Remove deletes a pod, if it is still there.
func (w *Workload) Remove(ctx context.Context, pod string) {
	must.Do(control.IgnoreNotFound(w.plane.Of("pods", w.Namespace).Delete(ctx, pod, metav1.DeleteOptions{})))
}

// Resource is the one that has the workload, and name its name there.
func (w *Workload) Resource() (resource, name string) {
	kind, name, _ := strings.Cut(w.Target, "/")
	return map[string]string{"deploy": "deployments", "rs": "replicasets", "rc": "replicationcontrollers"}[kind], name
}

// Scale changes the count as anybody may.
func (w *Workload) Scale(ctx context.Context, count int32) {
	resource, name := w.Resource()
	w.plane.Patch(ctx, resource, w.Namespace, name, scaling(count), "scale")
}

// createStrangers makes pods of nobody on the workload's nodes, or of the node itself, as mirror pods are.
func (w *Workload) createStrangers(ctx context.Context) {
	for i := range w.r.IntN(4) {
		name := fmt.Sprintf("stranger-%d", i)
		spec := template(nil).Spec
		spec.NodeName = pick(w.r, w.nodeNames()...)
		meta := metav1.ObjectMeta{Name: name, Namespace: w.Namespace, Labels: map[string]string{"app": "stranger"}}
		if w.r.IntN(3) == 0 {
			node := must.Get(w.plane.CoreV1().Nodes().Get(ctx, spec.NodeName, metav1.GetOptions{}))
			meta.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(node, corev1.SchemeGroupVersion.WithKind("Node"))}
		}
		w.plane.Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: spec})
		w.Strangers = append(w.Strangers, name)
	}
}

// createAgents makes a DaemonSet and waits for its pods, which are bound as a scheduler would.
func (w *Workload) createAgents(ctx context.Context) {
	labels := map[string]string{"app": "agent"}
	pods := template(labels)
	pods.Spec.NodeSelector = map[string]string{"round": w.Namespace}
	pods.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	w.plane.Create(ctx, &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: w.Namespace},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pods}})
	var agents []*corev1.Pod
	w.history.Await(ctx, w.Namespace, "on each node", func(n *history.Namespace) bool {
		agents = slices.DeleteFunc(slices.Collect(maps.Values(n.Pods)), func(pod *corev1.Pod) bool { return pod.Labels["app"] != "agent" })
		return len(agents) == len(w.nodes)
	})
	for _, pod := range agents {
		w.first[pod.UID] = true
		must.Do(w.plane.Bind(ctx, pod, DaemonNode(pod)))
	}
}

// DaemonNode is the node for which a DaemonSet's controller has made a pod.
func DaemonNode(pod *corev1.Pod) string {
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	return required.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

// Schedule binds new pods of the workload, until the context ends. The seed and the name of a pod decide its node.
func (w *Workload) Schedule(ctx context.Context) {
	nodes := w.nodeNames()
	begun := map[types.UID]bool{}
	for ctx.Err() == nil {
		var found *corev1.Pod
		// An error is that of the context, or that nothing is to be done.
		_ = must.Try(func() {
			w.history.Await(ctx, w.Namespace, "waiting for a node", func(n *history.Namespace) bool {
				found = nil
				for uid, pod := range n.Pods {
					if pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) == 0 && pod.DeletionTimestamp == nil &&
						!w.first[uid] && !begun[uid] {
						found = pod
					}
				}
				return found != nil
			})
		})
		if found == nil {
			continue
		}
		begun[found.UID] = true
		hash := fnv.New32a()
		hash.Write([]byte(found.Name))
		node := nodes[int(hash.Sum32())%len(nodes)]
		if err := w.plane.Bind(ctx, found, node); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) &&
			!apierrors.IsConflict(err) {
			delete(begun, found.UID)
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// count reads the workload's count.
func (w *Workload) count(ctx context.Context) int32 {
	resource, name := w.Resource()
	object := must.Get(w.plane.Of(resource, w.Namespace).Get(ctx, name, metav1.GetOptions{}))
	replicas, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	must.Do(err)
	return int32(replicas)
}

// CleanUp removes the workload and its nodes.
func (w *Workload) CleanUp(ctx context.Context) {
	CleanUp(ctx, w.plane, w.history, w.Namespace)
	w.plane.DeleteNodes(ctx, "round", w.Namespace)
}
