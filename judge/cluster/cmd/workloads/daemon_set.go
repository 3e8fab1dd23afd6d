package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
)

const (
	// nodeCount is how many nodes a round has. Its namespace's name is their label.
	nodeCount = 10
	nodeLabel = "podrank.dev/round"
)

// What makes a daemonSet's controller act.
const (
	// The strategy changes from OnDelete to RollingUpdate, without surge.
	replaces = "replaces"
	// The same with surge, and then a new pod becomes ready.
	surges = "surges"
	// Some nodes lose the label that the template selects by.
	moves = "moves"
)

// A daemonSet has ten nodes with a pod each, and replaces old pods, or leaves nodes.
type daemonSet struct {
	*round
	// by is what makes the controller act.
	by string
	// With surges, the new pod that becomes ready.
	ready *corev1.Pod
	// With moves, the nodes that lose the label.
	left []string
}

func (d *daemonSet) types() string { return "pods,daemonsets,controllerrevisions,nodes" }

func (d *daemonSet) prepare(ctx context.Context) {
	d.by = pick(d.r, replaces, replaces, replaces, surges, moves)
	for i := range nodeCount {
		d.Plane.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", d.namespace, i), Labels: map[string]string{nodeLabel: d.namespace}}})
	}
	d.create(ctx)
	// A new template, which OnDelete keeps from replacing anything yet.
	d.patch(ctx, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"agent:2"}]}}}}`, d.name))
	d.settle(ctx)
	d.change(ctx)
	d.settle(ctx)
	if d.by == surges {
		d.surge(ctx)
	}
}

// create makes a DaemonSet whose pods are all ready. There is no scheduler, so each is bound to its node.
func (d *daemonSet) create(ctx context.Context) {
	labels := map[string]string{"app": d.name}
	d.Plane.Create(ctx, &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: d.name, Namespace: d.namespace},
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: []string{finalizer}},
				Spec: corev1.PodSpec{
					Containers:   []corev1.Container{{Name: d.name, Image: "agent:1"}},
					NodeSelector: map[string]string{nodeLabel: d.namespace},
					// Nodes without a kubelet are not ready.
					Tolerations: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}},
				},
			},
		},
	})
	d.awaitPods(ctx, nodeCount)
	for _, pod := range d.podsByName(ctx) {
		d.bind(ctx, &pod)
		d.give(ctx, &pod, corev1.PodRunning, corev1.ConditionTrue)
	}
	d.settle(ctx)
}

func (d *daemonSet) bind(ctx context.Context, pod *corev1.Pod) {
	must.Do(d.Plane.Bind(ctx, pod, scene.DaemonNode(pod)))
}

// change makes some pods new, and some unready. In half of the rounds nothing is out of order, so that the whole budget is left to
// chance.
func (d *daemonSet) change(ctx context.Context) {
	if d.r.IntN(2) == 0 {
		return
	}
	pods := d.podsByName(ctx)
	revisions := must.Get(d.Plane.AppsV1().ControllerRevisions(d.namespace).List(ctx, metav1.ListOptions{})).Items
	newest := slices.MaxFunc(revisions, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, pod := range pods {
		if d.r.IntN(4) == 0 {
			const key = appsv1.DefaultDaemonSetUniqueLabelKey
			d.label(ctx, &pod, key, newest.Labels[key])
		}
		if d.r.IntN(5) == 0 {
			d.give(ctx, &pod, corev1.PodRunning, corev1.ConditionFalse)
		}
	}
}

// surge lets the controller create new pods beside old ones, and chooses one that becomes ready.
func (d *daemonSet) surge(ctx context.Context) {
	before := d.pods(ctx)
	d.patch(ctx, strategy(`3`, `0`))
	d.settle(ctx)
	for _, pod := range d.podsByName(ctx) {
		if _, ok := before[pod.UID]; !ok {
			d.bind(ctx, &pod)
			d.ready = &pod
		}
	}
	d.settle(ctx)
}

// strategy is a patch to a rolling update of these counts, in JSON.
func strategy(surge, unavailable string) string {
	return fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":%s,"maxUnavailable":%s}}}}`,
		surge, unavailable)
}

func (d *daemonSet) question(items []map[string]any) question {
	for _, item := range items {
		metadata := item["metadata"].(map[string]any)
		switch {
		case d.by == replaces && item["kind"] == "DaemonSet":
			item["spec"].(map[string]any)["updateStrategy"] = map[string]any{
				"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 0, "maxUnavailable": "30%"},
			}
		case d.by == surges && d.ready != nil && metadata["uid"] == string(d.ready.UID):
			item["status"].(map[string]any)["conditions"] = []any{map[string]any{
				"type": "Ready", "status": "True", "lastTransitionTime": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339),
			}}
			item["status"].(map[string]any)["phase"] = "Running"
		case d.by == moves && item["kind"] == "Node" && d.isOwn(metadata) && d.r.IntN(3) == 0:
			d.left = append(d.left, metadata["name"].(string))
			delete(metadata["labels"].(map[string]any), nodeLabel)
		}
	}
	// Moved nodes count in the status still.
	return question{Kind: "DaemonSet, " + d.by, Workload: "ds/" + d.name, Partial: d.by == moves}
}

// isOwn reports whether a node is this round's.
func (d *daemonSet) isOwn(metadata map[string]any) bool {
	labels, _ := metadata["labels"].(map[string]any)
	return labels[nodeLabel] == d.namespace
}

func (d *daemonSet) trigger(ctx context.Context) {
	switch {
	case d.by == replaces:
		d.patch(ctx, strategy(`0`, `"30%"`))
	case d.by == surges && d.ready != nil:
		d.give(ctx, d.ready, corev1.PodRunning, corev1.ConditionTrue)
	}
	for _, node := range d.left {
		d.Plane.Patch(ctx, "nodes", "", node, fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, nodeLabel))
	}
}
