package judge

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/features"

	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

var statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// go test -run TestStatefulSets$ -v -timeout 0 -stateful-sets 1000000 .
var statefulSets = flag.Int("stateful-sets", 20_000, "how many random StatefulSets TestStatefulSets judges")

// Kubernetes' whole UpdateStatefulSet, on random StatefulSets: it deletes the pods that the preview names.
func TestStatefulSets(t *testing.T) {
	defer func() {
		if err := upstream.SetStatefulSetGates(true, false); err != nil {
			t.Error(err)
		}
	}()
	done, reasons := 0, map[string]bool{}
	for _, setting := range []struct {
		maxUnavailable, recreate bool
		share                    int
	}{{true, false, 5}, {false, false, 2}, {true, true, 2}, {false, true, 1}} {
		if err := upstream.SetStatefulSetGates(setting.maxUnavailable, setting.recreate); err != nil {
			t.Fatal(err)
		}
		gates := map[string]bool{string(features.MaxUnavailableStatefulSet): setting.maxUnavailable, string(features.StatefulSetRecreateStrategy): setting.recreate}
		n := *statefulSets * setting.share / 10
		tally := judgeWorkloads(t, *first+done, n, withPreview(t, func(_ context.Context, p *previewer) (judge, error) {
			controller := upstream.NewStatefulSetController()
			return func(number int, tally map[string]int) error {
				c := newStatefulSetCase(seeded(12, number))
				if err := c.judge(controller, p, gates, tally); err != nil {
					return fmt.Errorf("with %v: %w\n%s", gates, err, describe(c.set, c.pods))
				}
				return nil
			}, nil
		}))
		done += n
		for what := range tally {
			if reason, ok := strings.CutPrefix(what, "reason "); ok {
				reasons[reason] = true
			}
		}
	}
	if done >= 5_000 && len(reasons) != 23 {
		t.Errorf("%d reasons: %v", len(reasons), slices.Sorted(maps.Keys(reasons)))
	}
}

// Of a condemned pod's claim, Kubernetes makes the pod the only owner, if the vectors say that it goes.
func TestStatefulSetClaims(t *testing.T) {
	t.Parallel()
	var file struct {
		Claim []struct {
			Owners []string
			Goes   bool
		}
	}
	if err := vectors.Read("stateful_set.json", &file); err != nil {
		t.Fatal(err)
	}
	isController := true
	reference := func(owner string) metav1.OwnerReference {
		ref := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "other"}
		switch owner {
		case "set", "stale set":
			ref = metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "set", Controller: &isController}
		case "pod", "stale pod":
			ref = metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "web-4", UID: "pod", Controller: &isController}
		case "other controller":
			ref.Controller = &isController
		}
		if strings.HasPrefix(owner, "stale") {
			ref.UID += " of another time"
		}
		return ref
	}
	replicas := int32(1)
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-4", UID: "pod"}}
	for _, whenDeleted := range []appsv1.PersistentVolumeClaimRetentionPolicyType{"Retain", "Delete"} {
		set := &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "set"},
			Spec: appsv1.StatefulSetSpec{
				Replicas: &replicas, VolumeClaimTemplates: []v1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
				PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenScaled: "Delete", WhenDeleted: whenDeleted},
			},
		}
		for _, c := range file.Claim {
			var owners []metav1.OwnerReference
			for _, owner := range c.Owners {
				owners = append(owners, reference(owner))
			}
			after, err := upstream.NewStatefulSetController().ClaimOwners(set, pod, owners)
			if err != nil {
				t.Fatal(err)
			}
			if goes := len(after) == 1 && after[0].UID == "pod"; goes != c.Goes {
				t.Errorf("%v, when deleted %s: upstream leaves %v, want goes %t", c.Owners, whenDeleted, after, c.Goes)
			}
		}
	}
	if len(file.Claim) < 10 {
		t.Errorf("%d claims", len(file.Claim))
	}
}

// A statefulSetCase is a StatefulSet with few ordinals, of which many are missing, broken or not its own.
type statefulSetCase struct {
	set  *appsv1.StatefulSet
	pods []*v1.Pod
	now  time.Time
	// twins is whether two pods have one ordinal.
	twins bool
}

func newStatefulSetCase(r *rand.Rand) *statefulSetCase {
	// Kubernetes keeps whole seconds, but decides between them.
	c := &statefulSetCase{now: pick(r, at(time.Hour), at(time.Hour), at(time.Hour-time.Nanosecond), at(time.Hour+time.Nanosecond)).Time}
	replicas := r.Int32N(7)
	partition := pick(r, 0, 0, 0, 1, 2, 3, replicas, replicas+1)
	unavailable := pick(r, intstr.FromInt32(1), intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromInt32(3), intstr.FromInt32(9),
		intstr.FromString("1%"), intstr.FromString("25%"), intstr.FromString("34%"), intstr.FromString("50%"), intstr.FromString("100%"))
	c.set = &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 2},
		Spec: appsv1.StatefulSetSpec{
			Replicas:             &replicas,
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template:             v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}},
			MinReadySeconds:      pick(r, int32(0), 0, 10),
			PodManagementPolicy:  pick(r, appsv1.OrderedReadyPodManagement, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
			RevisionHistoryLimit: new(int32(10)),
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &unavailable},
			},
		},
		Status: appsv1.StatefulSetStatus{CurrentRevision: upstream.OldRevision, UpdateRevision: upstream.NewRevision},
	}
	switch r.IntN(12) {
	case 0:
		c.set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	case 1, 2:
		c.set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RecreateStatefulSetStrategyType}
	case 3:
		c.set.Spec.UpdateStrategy.RollingUpdate = nil
	case 4:
		c.set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable = nil
	}
	if r.IntN(40) == 0 {
		c.set.DeletionTimestamp = new(at(time.Hour))
	}
	start := int32(0)
	if r.IntN(2) == 0 {
		start = pick(r, int32(0), 1, 3, 8, 95)
		c.set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: start}
	}

	// Most pods are as they should be, or nothing would ever go.
	broken, missing, old := pick(r, 0, 0, 3, 10, 40), pick(r, 0, 0, 0, 10, 40), pick(r, 0, 20, 50, 100)
	ordinals := map[string]bool{}
	for ordinal := max(0, start-r.Int32N(4)); ordinal < start+replicas+r.Int32N(4); ordinal++ {
		if r.IntN(100) < missing {
			continue
		}
		c.add(r, fmt.Sprint("web-", ordinal), broken, old)
		ordinals[fmt.Sprint(ordinal)] = true
	}
	if r.IntN(4) == 0 {
		far := fmt.Sprint(pick(r, 10, 100, 1_000_000_000, 2_147_483_647))
		if !ordinals[far] {
			c.add(r, "web-"+far, broken, old)
		}
	}
	if r.IntN(4) == 0 {
		c.add(r, pick(r, "web-x", "web-", "web", "web-1-2", "db-1", "web-2147483648", "web-99999999999999999999", "web--1", "web-1x",
			"web-+1", "webb-1", "web-1."), broken, old)
	}
	if r.IntN(8) == 0 {
		c.add(r, "web-0"+fmt.Sprint(start+r.Int32N(8)), broken, old)
	}
	r.Shuffle(len(c.pods), func(i, j int) { c.pods[i], c.pods[j] = c.pods[j], c.pods[i] })
	return c
}

func (c *statefulSetCase) add(r *rand.Rand, name string, broken, old int) {
	bad := func() bool { return r.IntN(100) < broken }
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: uid(len(c.pods)), OwnerReferences: owned(c.set, statefulSetKind),
			Labels: map[string]string{"app": "web", appsv1.StatefulSetRevisionLabel: upstream.NewRevision},
		},
		Status: v1.PodStatus{Phase: v1.PodRunning},
	}
	if r.IntN(100) < old {
		pod.Labels[appsv1.StatefulSetRevisionLabel] = pick(r, upstream.OldRevision, upstream.OldRevision, "web-older", "")
	}
	if bad() {
		pod.Status.Phase = pick(r, v1.PodPending, v1.PodUnknown, v1.PodSucceeded, v1.PodFailed)
	}
	ready := v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at(0)}
	if bad() {
		ready.LastTransitionTime = pick(r, metav1.Time{}, at(time.Hour-10*time.Second), at(time.Hour-9*time.Second), at(time.Hour))
	}
	if bad() {
		ready.Status = pick(r, v1.ConditionFalse, v1.ConditionUnknown)
	}
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue}, ready}
	if r.IntN(200) < broken {
		pod.Status.Conditions = pod.Status.Conditions[:1]
	}
	if bad() && bad() || r.IntN(300) < broken {
		pod.DeletionTimestamp = new(at(time.Hour))
	}
	for _, other := range c.pods {
		if _, ordinal := upstream.ParentAndOrdinal(pod); ordinal >= 0 {
			_, theirs := upstream.ParentAndOrdinal(other)
			c.twins = c.twins || ordinal == theirs
		}
	}
	c.pods = append(c.pods, pod)
}

// ask asks the preview what the next sync does.
func (c *statefulSetCase) ask(p *previewer, gates map[string]bool, pods []*v1.Pod) (*preview, error) {
	q := question{Workload: "sts/" + c.set.Name, Now: c.now, Gates: gates}
	return p.ask(q, list{"apps/v1", "StatefulSetList", []*appsv1.StatefulSet{c.set}}, list{"v1", "PodList", pods})
}

func (c *statefulSetCase) judge(controller *upstream.StatefulSetController, p *previewer, gates map[string]bool, tally map[string]int) error {
	var members []*v1.Pod
	byName, listed := map[string]*v1.Pod{}, 0
	for _, pod := range c.pods {
		byName[pod.Name] = pod
		// As upstream's getPodsForStatefulSet.
		if parent, _ := upstream.ParentAndOrdinal(pod); parent == c.set.Name {
			members = append(members, pod)
		}
		if pod.DeletionTimestamp == nil {
			listed++
		}
	}
	deleted, err := controller.Sync(c.set, members, c.now)
	isRecreate := c.set.Spec.UpdateStrategy.Type == appsv1.RecreateStatefulSetStrategyType
	if wantErr := isRecreate && !gates[string(features.StatefulSetRecreateStrategy)]; (err != nil) != wantErr {
		return fmt.Errorf("upstream: %w", err)
	}
	preview, err := c.ask(p, gates, c.pods)
	if err != nil {
		return err
	}
	if len(preview.pods()) != listed {
		return fmt.Errorf("%d pods, of which the preview has %d", listed, len(preview.pods()))
	}
	policy, last := c.set.Spec.PodManagementPolicy, 1<<40
	known := map[string]bool{}
	for _, pod := range preview.pods() {
		known[pod.Name] = true
		parent, ordinal := upstream.ParentAndOrdinal(byName[pod.Name])
		if isMember := parent == c.set.Name && ordinal >= 0; pod.Reason.Rule != "being-deleted" && isMember == (pod.Reason.Rule == "no-ordinal") {
			return fmt.Errorf("%s: %s", pod.Name, pod.Reason.Rule)
		} else if isMember && ordinal > last {
			return fmt.Errorf("%s is out of order", pod.Name)
		} else if isMember {
			last = ordinal
		}
		by := pod.Reason.WaitsFor.Pod
		isDeleted := slices.Contains(deleted, pod.Name)
		switch {
		case pod.Reason.Rule == "after-creation" && !isDeleted:
			return fmt.Errorf("%s is kept, although every pod is created here", pod.Name)
		case pod.Verdict == "possible" && pod.Reason.Rule != "after-creation" && !c.twins:
			return fmt.Errorf("%s is possible", pod.Name)
		case pod.Verdict != "possible" && isDeleted != (pod.Verdict == "deleted"):
			return fmt.Errorf("upstream deletes %v; the preview: %s %s, %s by %q", deleted, pod.Verdict, pod.Name, pod.Reason.Rule, by)
		case (pod.Verdict == "waiting") != (by != ""):
			return fmt.Errorf("%s is %s by %q", pod.Name, pod.Verdict, by)
		}
		tally[fmt.Sprintf("reason %s", pod.Reason.Rule)]++
		tally[fmt.Sprintf("%s: %s", policy, pod.Verdict)]++
	}
	for _, name := range deleted {
		if !known[name] && byName[name].DeletionTimestamp == nil {
			return fmt.Errorf("upstream deletes %s", name)
		}
	}
	return c.judgeBlockers(controller, p, gates, members, preview, tally)
}

// blockerOf returns the name of the pod that this one waits for, or "".
func (p *preview) blockerOf(name string) string {
	for _, pod := range p.pods() {
		if pod.Name == name {
			return pod.Reason.WaitsFor.Pod
		}
	}
	return ""
}

// judgeBlockers fixes the pod that other pods wait for, and checks that upstream's next sync differs: it deletes
// another pod, or waits for another pod.
func (c *statefulSetCase) judgeBlockers(controller *upstream.StatefulSetController, p *previewer, gates map[string]bool, members []*v1.Pod,
	before *preview, tally map[string]int,
) error {
	for _, waiting := range before.pods() {
		waits := waiting.Reason
		if !slices.Contains([]string{"waits-for-running", "waits-for-ready", "waits-for-available", "waits-for-either"}, waits.Rule) {
			continue
		}
		mended := make([]*v1.Pod, len(members))
		for j, pod := range members {
			if mended[j] = pod; pod.Name == waits.WaitsFor.Pod {
				mended[j] = pod.DeepCopy()
				mended[j].DeletionTimestamp = nil
				mended[j].Status = v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{
					{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at(0)}}}
			}
		}
		deleted, err := controller.Sync(c.set, mended, c.now)
		if err != nil {
			return err
		}
		after, err := c.ask(p, gates, mended)
		if err != nil {
			return err
		}
		by := after.blockerOf(waiting.Name)
		// After the pod that was fixed, other pods are deleted first.
		if len(deleted) == 0 && (by == "" || by == waits.WaitsFor.Pod) {
			return fmt.Errorf("%s waits for %s (%s); with that fixed, upstream deletes nothing, and in the preview it waits for %q",
				waiting.Name, waits.WaitsFor.Pod, waits.Rule, by)
		}
		tally[fmt.Sprintf("fixed: deletes %t", len(deleted) > 0)]++
		return nil
	}
	return nil
}
