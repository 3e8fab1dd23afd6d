package judge

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// GOGC=800 go test -run TestDaemonSets -v -timeout 0 -daemonsets 1000000 .
var daemonSets = flag.Int("daemonsets", 20_000, "how many random DaemonSets TestDaemonSets judges")

// Kubernetes' whole DaemonSet controller but for history and status, on random DaemonSets: it deletes the pods that podrank
// predicts, and creates as many.
func TestDaemonSets(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *daemonSets, func() (judge, error) {
		controller, err := upstream.NewDaemonSetController()
		return func(number int, tally map[string]int) error { return judgeDaemonSet(controller, number, tally) }, err
	})
	for _, reason := range []string{
		"keep kept", "delete not-wanted", "delete succeeded", "delete failed", "contested failed", "keep backed-off", "delete surplus",
		"delete old-not-ready", "delete replaced", "delete no-node", "delete old-unavailable", "delete old-available",
		"contested old-available", "keep old-available", "keep awaits-new", "delete not-startable", "delete not-startable-available",
		"contested not-startable-available", "keep not-startable-available", "keep unsettled", "keep on-delete",
		"keep after-first-part", "keep node-missing", "keep next-sync", "contested not-wanted",
	} {
		if tally[reason] == 0 && !t.Failed() {
			t.Errorf("no %s", reason)
		}
	}
}

// Kubernetes lets pods start and run where the vectors say, which the preview reads.
func TestDaemonNodes(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Name              string
		Spec              v1.PodSpec
		Node              v1.Node
		MayStart, MayKeep bool
	}
	if err := vectors.Read("daemon_nodes.json", &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		set := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: v1.PodTemplateSpec{Spec: c.Spec}}}
		if start, keep := upstream.NodeShouldRunDaemonPod(&c.Node, set); start != c.MayStart || keep != c.MayKeep {
			t.Errorf("%s: Kubernetes says %t and %t", c.Name, start, keep)
		}
	}
}

const revision = "new"

func judgeDaemonSet(controller *upstream.DaemonSetController, number int, tally map[string]int) error {
	r, now := seeded(22, number), time.Now()
	set, nodes, pods := newDaemonSetCase(r, fmt.Sprintf("agent-%d", number), now)
	var backedOff []string
	seen := make([]podrank.DaemonNode, len(nodes))
	for i, node := range nodes {
		seen[i].Name = node.Name
		seen[i].MayStart, seen[i].MayKeep = upstream.NodeShouldRunDaemonPod(node, set)
		if r.IntN(6) == 0 {
			seen[i].InBackoff = true
			backedOff = append(backedOff, node.Name)
		}
	}
	step, err := podrank.NextDaemonSet(set, revision, seen, pods, now)
	if err != nil {
		return err
	}
	sync := func() (upstream.PodSync, error) {
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		return controller.Sync(set, revision, nodes, pods, backedOff)
	}
	result, err := sync()
	wrong := checkOutcomes(step.Outcomes, result.Deleted, tally)
	if (err != nil) != (step.BlockedBy != nil) {
		wrong = fmt.Errorf("upstream's error is %v, and podrank's blocker %v", err, step.BlockedBy)
	} else if wrong == nil && (step.Deleted != len(result.Deleted) || step.Created != result.Created) {
		wrong = fmt.Errorf("%d go and %d are created, and %d and %d were predicted", len(result.Deleted), result.Created,
			step.Deleted, step.Created)
	}
	if wrong != nil {
		return fmt.Errorf("%w\n%s", wrong, describe(set, seen, pods))
	}
	if number%512 == 5 && len(pods) <= 8 {
		seen := fates{}
		for run := range 300 {
			rename(set, pods, fmt.Sprintf("agent-%d-%d", number, run))
			if result, err = sync(); err != nil && step.BlockedBy == nil {
				return err
			}
			seen.add(step.Outcomes, result.Deleted)
		}
		return seen.check(step.Outcomes)
	}
	return nil
}

func newDaemonSetCase(r *rand.Rand, name string, now time.Time) (*appsv1.DaemonSet, []*v1.Node, []*v1.Pod) {
	labels, history := map[string]string{"app": "agent"}, int32(10)
	budget := func() *intstr.IntOrString {
		value := intstr.FromInt32(pick(r, int32(0), 0, 0, 1, 2, 3, 300))
		if r.IntN(3) == 0 {
			value = intstr.FromString(pick(r, "0%", "1%", "10%", "25%", "34%", "50%", "100%"))
		}
		return &value
	}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, RevisionHistoryLimit: &history,
			MinReadySeconds: pick(r, 0, 0, int32(60)),
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: v1.PodSpec{NodeSelector: map[string]string{"agent": "yes"}}},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: budget(), MaxUnavailable: budget()}},
		},
	}
	if r.IntN(5) == 0 {
		set.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}
	} else if r.IntN(2) == 0 {
		set.Spec.UpdateStrategy.RollingUpdate.MaxSurge = new(intstr.FromInt32(0))
	}
	if r.IntN(4) == 0 {
		set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: pick(r, "3", "03", "x", "")}
	}
	// Tidy sets reach the update, others its first part.
	tidy, n := r.IntN(3) > 0, r.IntN(7)
	// Of a crowd, more pods go than one sync deletes.
	unwanted, unavailable := false, false
	if r.IntN(300) == 0 {
		n = 240 + r.IntN(160)
		unwanted, unavailable = r.IntN(3) == 0, r.IntN(3) == 0
	}
	nodes := make([]*v1.Node, n)
	for i := range nodes {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"agent": "yes"}}}
		if (r.IntN(12) == 0) != unwanted {
			node.Labels = nil
		}
		if r.IntN(6) == 0 {
			node.Spec.Taints = []v1.Taint{{Key: "k", Effect: pick(r, v1.TaintEffectNoSchedule, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)}}
		}
		nodes[i] = node
	}
	// Old pods on nodes where none may start any more, and new ones on the others.
	sunset := (r.IntN(8) == 0 || unavailable) && set.Spec.UpdateStrategy.RollingUpdate != nil
	if sunset {
		tidy, set.Spec.UpdateStrategy.RollingUpdate.MaxSurge = true, new(intstr.FromInt32(1))
		for _, node := range nodes {
			node.Labels, node.Spec.Taints = map[string]string{"agent": "yes"}, nil
			if r.IntN(2) == 0 || unavailable && r.IntN(6) > 0 {
				node.Spec.Taints = []v1.Taint{{Key: "k", Effect: v1.TaintEffectNoSchedule}}
			}
		}
	}
	var pods []*v1.Pod
	add := func(node string) {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: fmt.Sprintf("p%d", len(pods)), UID: types.UID(fmt.Sprintf("u%d", len(pods))),
			Labels: map[string]string{"app": "agent"}, CreationTimestamp: metav1.Unix(1_700_000_000+int64(r.IntN(3)), 0),
			OwnerReferences: owned(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet")),
		}}
		pod.Status.Phase = v1.PodRunning
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = pick(r, revision, "old", "old", "older")
		if r.IntN(4) == 0 {
			pod.Labels["pod-template-generation"] = pick(r, "2", "3")
		}
		if r.IntN(10) > 0 {
			pod.Spec.NodeName = node
		} else if r.IntN(20) > 0 {
			pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{
				NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{
					{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{node}}}}}}}}
		}
		if r.IntN(3) > 0 {
			since := metav1.NewTime(now.Add(-pick(r, time.Second, 30*time.Second, 90*time.Second, time.Hour)))
			pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: since}}
			if r.IntN(12) == 0 {
				pod.Status.Conditions[0].LastTransitionTime = metav1.Time{}
			}
		}
		if !tidy && r.IntN(4) == 0 {
			pod.Status.Phase = pick(r, v1.PodPending, v1.PodSucceeded, v1.PodFailed, v1.PodFailed)
		}
		if tidy && r.IntN(20) == 0 {
			pod.Status.Phase = v1.PodFailed
		}
		if r.IntN(12) == 0 {
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
		}
		pods = append(pods, pod)
	}
	for i := range nodes {
		switch {
		case tidy:
			add(nodes[i].Name)
			if pods[len(pods)-1].DeletionTimestamp == nil && !sunset && r.IntN(4) == 0 {
				add(nodes[i].Name)
			}
		default:
			for range r.IntN(4) {
				add(nodes[i].Name)
			}
		}
	}
	if sunset {
		for i, pod := range pods {
			isOld := len(nodes[i].Spec.Taints) > 0
			pod.Spec.NodeName, pod.DeletionTimestamp, pod.Status.Phase = nodes[i].Name, nil, v1.PodRunning
			pod.Labels = map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: revision}
			if isOld {
				pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "old"
			}
			pod.Status.Conditions = nil
			if (r.IntN(8) > 0) != unavailable {
				pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue,
					LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}}
			}
		}
	} else if r.IntN(8) == 0 {
		for range 1 + r.IntN(3) {
			add(pick(r, "gone", "lost"))
		}
	}
	return set, nodes, pods
}
