package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	agent = "agent"
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

func (d *daemonSet) prepare(ctx context.Context) error {
	d.by = pick(d.r, replaces, replaces, replaces, surges, moves)
	for i := range nodeCount {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: d.node(i), Labels: map[string]string{nodeLabel: d.namespace}}}
		if _, err := d.plane.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := d.create(ctx); err != nil {
		return err
	}
	// A new template, which OnDelete keeps from replacing anything yet.
	patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"agent:2"}]}}}}`, agent)
	if err := d.patch(ctx, patch); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := d.change(ctx); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil || d.by != surges {
		return err
	}
	return d.surge(ctx)
}

func (d *daemonSet) node(i int) string { return fmt.Sprintf("%s-%d", d.namespace, i) }

// create makes a DaemonSet whose pods are all ready. There is no scheduler, so each is bound to its node.
func (d *daemonSet) create(ctx context.Context) error {
	labels := map[string]string{"app": agent}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: agent},
		Spec: appsv1.DaemonSetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: []string{finalizer}},
				Spec: corev1.PodSpec{
					Containers:   []corev1.Container{{Name: agent, Image: "agent:1"}},
					NodeSelector: map[string]string{nodeLabel: d.namespace},
					// Nodes without a kubelet are not ready.
					Tolerations: []corev1.Toleration{{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists}},
				},
			},
		},
	}
	if _, err := d.plane.AppsV1().DaemonSets(d.namespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := d.awaitPods(ctx, nodeCount); err != nil {
		return err
	}
	pods, err := d.podsByName(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		if err := d.bind(ctx, &pods[i]); err != nil {
			return err
		}
		if err := d.give(ctx, &pods[i], corev1.PodRunning, corev1.ConditionTrue); err != nil {
			return err
		}
	}
	return d.settle(ctx)
}

func (d *daemonSet) bind(ctx context.Context, pod *corev1.Pod) error {
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	node := required.NodeSelectorTerms[0].MatchFields[0].Values[0]
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	return d.plane.CoreV1().Pods(d.namespace).Bind(ctx, binding, metav1.CreateOptions{})
}

// change makes some pods new, and some unready. In half of the rounds nothing is out of order, so that the whole budget is left to
// chance.
func (d *daemonSet) change(ctx context.Context) error {
	if d.r.IntN(2) == 0 {
		return nil
	}
	pods, err := d.podsByName(ctx)
	if err != nil {
		return err
	}
	revisions, err := d.plane.AppsV1().ControllerRevisions(d.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	newest := revisions.Items[0]
	for _, revision := range revisions.Items {
		if revision.Revision > newest.Revision {
			newest = revision
		}
	}
	for i := range pods {
		if d.r.IntN(4) == 0 {
			hash := newest.Labels[appsv1.DefaultDaemonSetUniqueLabelKey]
			if err := d.label(ctx, &pods[i], appsv1.DefaultDaemonSetUniqueLabelKey, hash); err != nil {
				return err
			}
		}
		if d.r.IntN(5) == 0 {
			if err := d.give(ctx, &pods[i], corev1.PodRunning, corev1.ConditionFalse); err != nil {
				return err
			}
		}
	}
	return nil
}

// surge lets the controller create new pods beside old ones, and chooses one that becomes ready.
func (d *daemonSet) surge(ctx context.Context) error {
	before, err := d.pods(ctx)
	if err != nil {
		return err
	}
	if err := d.patch(ctx, strategy(intstr.FromInt32(3), intstr.FromInt32(0))); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	pods, err := d.podsByName(ctx)
	if err != nil {
		return err
	}
	for i := range pods {
		if _, ok := before[pods[i].UID]; !ok {
			if err := d.bind(ctx, &pods[i]); err != nil {
				return err
			}
			d.ready = &pods[i]
		}
	}
	return d.settle(ctx)
}

func strategy(surge, unavailable intstr.IntOrString) string {
	text := func(value intstr.IntOrString) string {
		if value.Type == intstr.Int {
			return value.String()
		}
		return fmt.Sprintf("%q", value.String())
	}
	return fmt.Sprintf(`{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":%s,"maxUnavailable":%s}}}}`,
		text(surge), text(unavailable))
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
	return question{Kind: "DaemonSet, " + d.by, Workload: "ds/" + agent, Partial: d.by == moves}
}

// isOwn reports whether a node is this round's.
func (d *daemonSet) isOwn(metadata map[string]any) bool {
	labels, _ := metadata["labels"].(map[string]any)
	return labels[nodeLabel] == d.namespace
}

func (d *daemonSet) trigger(ctx context.Context, _ map[types.UID]*corev1.Pod) error {
	switch {
	case d.by == replaces:
		return d.patch(ctx, strategy(intstr.FromInt32(0), intstr.FromString("30%")))
	case d.by == surges && d.ready != nil:
		return d.give(ctx, d.ready, corev1.PodRunning, corev1.ConditionTrue)
	}
	for _, node := range d.left {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, nodeLabel)
		if _, err := d.plane.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func (d *daemonSet) patch(ctx context.Context, patch string) error {
	kind := types.StrategicMergePatchType
	_, err := d.plane.AppsV1().DaemonSets(d.namespace).Patch(ctx, agent, kind, []byte(patch), metav1.PatchOptions{})
	return err
}

func (d *daemonSet) settle(ctx context.Context) error {
	return d.awaitQuiet(ctx, func() (string, bool, error) {
		set, err := d.plane.AppsV1().DaemonSets(d.namespace).Get(ctx, agent, metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		return set.ResourceVersion, set.Status.ObservedGeneration == set.Generation, nil
	})
}

func (d *daemonSet) delete(ctx context.Context) error {
	if err := d.plane.AppsV1().DaemonSets(d.namespace).Delete(ctx, agent, orphan()); err != nil {
		return err
	}
	for i := range nodeCount {
		if err := d.plane.CoreV1().Nodes().Delete(ctx, d.node(i), metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}
