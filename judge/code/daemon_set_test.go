package judge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// go test -run TestDaemonSets -v -timeout 0 -daemonsets 1000000 .
var daemonSets = flag.Int("daemonsets", 20_000, "how many random DaemonSets TestDaemonSets judges")

// Kubernetes' whole DaemonSet controller but for history and status, on random DaemonSets: it deletes the pods that the
// preview names, and creates as many as its note says.
func TestDaemonSets(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *daemonSets, withPreview(t, func(ctx context.Context, p *previewer) (judge, error) {
		controller, err := upstream.NewDaemonSetController(ctx)
		return func(number int, tally map[string]int) error { return judgeDaemonSet(controller, p, number, tally) }, err
	}))
	for _, reason := range []string{
		"kept kept", "deleted not-wanted", "deleted succeeded", "deleted failed", "possible failed", "deleted surplus",
		"deleted old-not-ready", "deleted replaced", "deleted no-node", "deleted old-unavailable", "deleted old-available",
		"possible old-available", "waiting old-available", "waiting old-available", "waiting awaits-new", "waiting awaits-new", "deleted not-startable", "deleted not-startable-available",
		"possible not-startable-available", "kept not-startable-available", "kept unsettled", "kept on-delete",
		"kept after-first-part", "waiting node-missing", "kept next-sync", "possible not-wanted", "says how many are created", "may back off",
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

var daemonSetKind = appsv1.SchemeGroupVersion.WithKind("DaemonSet")

// askDaemonSet asks the preview what the next sync does.
func (p *previewer) askDaemonSet(set *appsv1.DaemonSet, nodes []*v1.Node, pods []*v1.Pod, now time.Time) (*preview, error) {
	revisions := []*appsv1.ControllerRevision{{Revision: 1, ObjectMeta: metav1.ObjectMeta{
		Namespace: set.Namespace, Name: set.Name + "-" + revision, OwnerReferences: owned(set, daemonSetKind),
		Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: revision}}}}
	return p.ask(question{Workload: "ds/" + set.Name, Now: now},
		list{"apps/v1", "DaemonSetList", []*appsv1.DaemonSet{set}}, list{"apps/v1", "ControllerRevisionList", revisions},
		list{"v1", "NodeList", nodes}, list{"v1", "PodList", pods})
}

// goesOn is how the preview says what the first part of a sync does, which comes before the update.
var goesOn = regexp.MustCompile(`the next sync deletes \d+ pods? and creates (\d+),`)

func judgeDaemonSet(controller *upstream.DaemonSetController, p *previewer, number int, tally map[string]int) error {
	r, now := seeded(22, number), time.Now()
	set, nodes, pods := newDaemonSetCase(r, fmt.Sprintf("agent-%d", number), now)
	preview, err := p.askDaemonSet(set, nodes, pods, now)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, describe(set, nodes, pods))
	}
	sync := func(backedOff []string) (upstream.PodSync, error) {
		r.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		return controller.Sync(set, revision, nodes, pods, backedOff)
	}
	result, err := sync(nil)
	wrong := preview.check(pods, result.Deleted, tally)
	fails := slices.ContainsFunc(preview.pods(), func(pod podPreview) bool { return pod.Reason.Rule == "node-missing" })
	creates := goesOn.FindStringSubmatch(preview.note("continues"))
	switch {
	case wrong != nil:
	case fails && err == nil:
		wrong = errors.New("the preview says that the update fails, and upstream's does not")
	case err != nil && !fails && slices.ContainsFunc(preview.pods(), isToBeUpdated):
		wrong = fmt.Errorf("the preview knows nothing of upstream's error: %w", err)
	case creates != nil && creates[1] != fmt.Sprint(result.Created):
		wrong = fmt.Errorf("%d are created: %s", result.Created, creates[0])
	case creates != nil:
		tally["says how many are created"]++
	}
	if wrong == nil && r.IntN(6) == 0 {
		wrong = judgeBackoff(preview, set, nodes, pods, sync, tally)
	}
	if wrong != nil {
		return fmt.Errorf("%w\n%s", wrong, describe(set, nodes, pods))
	}
	if number%512 == 5 && len(pods) <= 8 {
		seen := fates{}
		for run := range 300 {
			rename(set, pods, fmt.Sprintf("agent-%d-%d", number, run))
			if result, err = sync(nil); err != nil && !fails {
				return err
			}
			seen.add(preview.pods(), result.Deleted)
		}
		return seen.check(preview.pods())
	}
	return nil
}

// isToBeUpdated is whether the update would look at the pod.
func isToBeUpdated(pod podPreview) bool {
	return slices.Contains([]string{"old-unavailable", "old-available", "awaits-new", "unsettled"}, pod.Reason.Rule)
}

// judgeBackoff checks that the preview has a note if the controller may keep a failed pod because it has just deleted
// another one on that node.
func judgeBackoff(preview *preview, set *appsv1.DaemonSet, nodes []*v1.Node, pods []*v1.Pod,
	sync func(backedOff []string) (upstream.PodSync, error), tally map[string]int,
) error {
	rename(set, pods, set.Name+"-again")
	var all []string
	for _, node := range nodes {
		all = append(all, node.Name)
	}
	// Whether the update fails was judged.
	result, _ := sync(all)
	for _, pod := range preview.pods() {
		if pod.Verdict != "deleted" || result.Deleted[pod.Name] {
			continue
		}
		if !strings.Contains(preview.note("changes-soon"), "a failed pod") {
			return fmt.Errorf("%s stays after a failure of its node, and no note says so", pod.Name)
		}
		tally["may back off"]++
	}
	return nil
}

// A daemonSetCase is a DaemonSet with its nodes and pods.
type daemonSetCase struct {
	r     *rand.Rand
	now   time.Time
	set   *appsv1.DaemonSet
	nodes []*v1.Node
	pods  []*v1.Pod
	// tidy sets reach the update, others its first part.
	tidy bool
	// sunset is whether there are old pods on nodes where none may start any more, and new ones on the others.
	sunset bool
	// unwanted and unavailable are whether most nodes and pods are so.
	unwanted, unavailable bool
}

func newDaemonSetCase(r *rand.Rand, name string, now time.Time) (*appsv1.DaemonSet, []*v1.Node, []*v1.Pod) {
	c := &daemonSetCase{r: r, now: now, set: newDaemonSet(r, name), tidy: r.IntN(3) > 0}
	n := r.IntN(7)
	// Of a crowd, more pods go than one sync deletes.
	if r.IntN(300) == 0 {
		n = 240 + r.IntN(160)
		c.unwanted, c.unavailable = r.IntN(3) == 0, r.IntN(3) == 0
	}
	rolling := c.set.Spec.UpdateStrategy.RollingUpdate
	c.sunset = (r.IntN(8) == 0 || c.unavailable) && rolling != nil
	if c.sunset {
		c.tidy, rolling.MaxSurge = true, new(intstr.FromInt32(1))
	}
	for i := range n {
		c.nodes = append(c.nodes, c.node(fmt.Sprintf("n%d", i)))
	}
	for _, node := range c.nodes {
		count := r.IntN(4)
		if c.tidy {
			count = 1 + r.IntN(4)/3
		}
		if c.sunset {
			count = 1
		}
		for range count {
			c.add(node.Name)
		}
	}
	if c.sunset {
		for i, pod := range c.pods {
			c.setSun(pod, c.nodes[i])
		}
	} else if r.IntN(8) == 0 {
		for range 1 + r.IntN(3) {
			c.add(pick(r, "gone", "lost"))
		}
	}
	return c.set, c.nodes, c.pods
}

func newDaemonSet(r *rand.Rand, name string) *appsv1.DaemonSet {
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
	return set
}

func (c *daemonSetCase) node(name string) *v1.Node {
	r, node := c.r, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"agent": "yes"}}}
	switch {
	case c.sunset && (r.IntN(2) == 0 || c.unavailable && r.IntN(6) > 0):
		node.Spec.Taints = []v1.Taint{{Key: "k", Effect: v1.TaintEffectNoSchedule}}
	case !c.sunset && r.IntN(6) == 0:
		node.Spec.Taints = []v1.Taint{{Key: "k", Effect: pick(r, v1.TaintEffectNoSchedule, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)}}
	}
	if !c.sunset && (r.IntN(12) == 0) != c.unwanted {
		node.Labels = nil
	}
	return node
}

func (c *daemonSetCase) add(node string) {
	r, pod := c.r, &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("p%d", len(c.pods)), UID: uid(len(c.pods)),
		Labels: map[string]string{"app": "agent"}, CreationTimestamp: metav1.Unix(1_700_000_000+int64(c.r.IntN(3)), 0),
		OwnerReferences: owned(c.set, daemonSetKind),
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
		pod.Status.Conditions = c.ready(pick(r, time.Second, 30*time.Second, 90*time.Second, time.Hour))
		if r.IntN(12) == 0 {
			pod.Status.Conditions[0].LastTransitionTime = metav1.Time{}
		}
	}
	if !c.tidy && r.IntN(4) == 0 {
		pod.Status.Phase = pick(r, v1.PodPending, v1.PodSucceeded, v1.PodFailed, v1.PodFailed)
	}
	if c.tidy && r.IntN(20) == 0 {
		pod.Status.Phase = v1.PodFailed
	}
	if r.IntN(12) == 0 {
		pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
	}
	c.pods = append(c.pods, pod)
}

// ready is the condition of a pod that has been ready for so long. Kubernetes keeps whole seconds.
func (c *daemonSetCase) ready(age time.Duration) []v1.PodCondition {
	since := metav1.NewTime(c.now.Add(-age).Truncate(time.Second))
	return []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: since}}
}

// setSun makes a pod old if none may start on its node, and new otherwise.
func (c *daemonSetCase) setSun(pod *v1.Pod, node *v1.Node) {
	pod.Spec.NodeName, pod.DeletionTimestamp, pod.Status.Phase = node.Name, nil, v1.PodRunning
	pod.Labels = map[string]string{"app": "agent", appsv1.ControllerRevisionHashLabelKey: revision}
	if len(node.Spec.Taints) > 0 {
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "old"
	}
	pod.Status.Conditions = nil
	if (c.r.IntN(8) > 0) != c.unavailable {
		pod.Status.Conditions = c.ready(time.Hour)
	}
}
