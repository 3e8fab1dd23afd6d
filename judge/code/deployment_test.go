package judge

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	deploymentutil "k8s.io/kubernetes/pkg/controller/deployment/util"

	podrank "github.com/podrank/podrank/go"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// GOGC=800 go test -run TestDeployments$ -v -timeout 0 -deployments 10000000 [-first 0] .
var (
	deployments = flag.Int("deployments", 40_000, "how many random Deployments TestDeployments judges")
	// go test -run TestDeploymentEnds -v -timeout 0 -ends 1000000 [-first 0] .
	ends = flag.Int("ends", 5_000, "how many random Deployments TestDeploymentEnds plays to the end")
)

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	setKind        = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
)

// Kubernetes' whole Deployment controller, on random Deployments: it writes the sizes that podrank predicts.
func TestDeployments(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *deployments, func() (judge, error) {
		controller, err := upstream.NewDeploymentController()
		return func(number int, tally map[string]int) error {
			c := newDeploymentCase(seeded(9, number))
			err := c.judge(controller, tally)
			// Up to eight more syncs, so not after each.
			if err == nil && number%8 == 0 {
				err = c.judgeGoesOn(controller, tally)
			}
			if err != nil {
				return fmt.Errorf("%w\n%s", err, describe(c.deployment, c.sets, c.pods))
			}
			return nil
		}, err
	})
	// Each thing that can happen did: 5 paths and 23 reasons, of which some of a new set that is missing, and what followed.
	if len(tally) < 55 && !t.Failed() {
		t.Errorf("only %d kinds of changes", len(tally))
	}
}

// Kubernetes' whole Deployment controller, again and again until nothing follows: it writes what podrank's syncs, played in turn, do.
func TestDeploymentEnds(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *ends, func() (judge, error) {
		controller, err := upstream.NewDeploymentController()
		return func(number int, tally map[string]int) error {
			c := newDeploymentCase(seeded(12, number))
			if err := c.judgeEnd(controller, tally); err != nil {
				return fmt.Errorf("%w\n%s", err, describe(c.deployment, c.sets, c.pods))
			}
			return nil
		}, err
	})
	if len(tally) < 12 && !t.Failed() {
		t.Errorf("only %d kinds of ends", len(tally))
	}
}

// A deploymentCase is a Deployment that collides with itself: few sizes, times and names, and many at the edges.
type deploymentCase struct {
	r *rand.Rand
	// huge is whether sums may not fit 32 bits.
	huge       bool
	deployment *appsv1.Deployment
	sets       []*appsv1.ReplicaSet
	pods       []*v1.Pod
}

func newDeploymentCase(r *rand.Rand) *deploymentCase {
	c := &deploymentCase{r: r}
	labels := map[string]string{"app": "web"}
	// Of all that is random, most is small; one Deployment in eight has numbers that do not fit sums of 32 bits.
	c.huge = r.IntN(8) == 0
	size := func(most int) int32 {
		if c.huge && r.IntN(3) > 0 {
			return pick(r, math.MaxInt32, math.MaxInt32-1, 1<<30, 1<<30-1, 1<<29+3, 2_000_000_000, r.Int32())
		}
		return r.Int32N(int32(most) + 1)
	}
	most := pick(r, 1, 3, 10, 10, 10, 30, 1000)
	replicas := size(most)
	if r.IntN(12) == 0 {
		replicas = 0
	}
	budget := func() *intstr.IntOrString {
		v := intstr.FromInt32(pick(r, 0, 0, 1, 2, 3, size(most)))
		if r.IntN(2) == 0 {
			v = intstr.FromString(pick(r, "0%", "1%", "10%", "25%", "25%", "30%", "33%", "50%", "99%", "100%", "150%", "0033%",
				"4194304%", strconv.Itoa(r.IntN(1<<22))+"%"))
		}
		return &v
	}
	template := v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyAlways}}
	// Upstream compares templates again and again: most are small, or nothing else would be tested.
	rich := r.IntN(16) == 0
	if rich {
		limits := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		template.Spec.Containers = []v1.Container{{Name: "web", Resources: v1.ResourceRequirements{Limits: limits}}}
	}
	c.deployment = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", Generation: 1},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Paused: r.IntN(6) == 0, Template: template,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: budget(), MaxUnavailable: budget()}},
		},
	}
	if r.IntN(5) == 0 {
		c.deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	if r.IntN(60) == 0 {
		c.deployment.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	}
	if r.IntN(20) == 0 {
		revision := pick(r, "0", "1", "7", "-1", "", "+1", "x", "9223372036854775808")
		c.deployment.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: revision}
	}

	times := []metav1.Time{{}, at(0), at(1), at(time.Duration(r.IntN(3)) * time.Second)}
	n := pick(r, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, r.IntN(21))
	names := r.Perm(n)
	currents := pick(r, 0, 1, 1, 1, 1, 1, 2, 3)
	saturated, scaling, settled := r.IntN(8) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	sum := int32(0)
	for i := range n {
		spec := size(most)
		if r.IntN(4) == 0 {
			spec = 0
		}
		set := &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Labels: labels, UID: types.UID(fmt.Sprint("set ", i)), CreationTimestamp: pick(r, times...),
				// Neither of one length nor of one case.
				Name:            "web-" + pick(r, "", "a", "A", "-", "zz") + fmt.Sprint(names[i]),
				OwnerReferences: owned(c.deployment, deploymentKind),
				Annotations:     map[string]string{},
			},
			Spec: appsv1.ReplicaSetSpec{Replicas: &spec, Selector: c.deployment.Spec.Selector, Template: *template.DeepCopy()},
		}
		set.Spec.Template.Labels = map[string]string{"app": "web", "pod-template-hash": fmt.Sprint(i)}
		switch {
		case i >= currents && rich:
			set.Spec.Template.Spec.Containers[0].Image = fmt.Sprint("web:old", i)
		case i >= currents:
			// The first field that upstream compares.
			set.Spec.Template.Name = fmt.Sprint(i)
		case rich:
			// The same template, in other words.
			set.Spec.Template.Annotations = map[string]string{}
			set.Spec.Template.Spec.Containers[0].Env = []v1.EnvVar{}
			set.Spec.Template.Spec.Containers[0].Resources.Limits[v1.ResourceCPU] = resource.MustParse("1000m")
		}
		if i < currents && (saturated || r.IntN(6) == 0) {
			spec = replicas
		}
		c.annotate(set, replicas, scaling, size(most))
		if c.deployment.Annotations != nil {
			set.Annotations[deploymentutil.RevisionAnnotation] = fmt.Sprint(i)
		}
		available := pick(r, spec, spec, spec-1, spec/2, 0, spec+1, size(most))
		if i < currents && saturated {
			available = spec
			if r.IntN(4) > 0 {
				set.Annotations[podrank.DesiredReplicasAnnotation] = c.loose(replicas)
			}
		}
		set.Status.AvailableReplicas = max(0, available)
		set.Status.Replicas = max(0, pick(r, spec, spec, 0, size(most)))
		if settled {
			set.Status.Replicas = 0
		}
		sum += spec
		c.sets = append(c.sets, set)
		for range r.IntN(3) / 2 {
			c.pods = append(c.pods, c.pod(set))
		}
	}
	r.Shuffle(len(c.sets), func(i, j int) { c.sets[i], c.sets[j] = c.sets[j], c.sets[i] })
	c.deployment.Status.Replicas = max(0, pick(r, sum, 0, size(most)))
	return c
}

// annotate gives a set the annotations of its last scaling: of this count or of another, or what somebody made of them.
func (c *deploymentCase) annotate(set *appsv1.ReplicaSet, replicas int32, scaling bool, other int32) {
	desired := replicas
	if scaling && c.r.IntN(3) > 0 {
		desired = other
	}
	texts := func(number int32) string {
		if c.r.IntN(8) == 0 {
			return c.loose(number)
		}
		return fmt.Sprint(number)
	}
	if c.r.IntN(12) > 0 {
		set.Annotations[podrank.DesiredReplicasAnnotation] = texts(desired)
	}
	if c.r.IntN(8) > 0 {
		set.Annotations[podrank.MaxReplicasAnnotation] = texts(max(0, pick(c.r, 0, desired, desired+desired/4, desired+1, other)))
	}
}

// loose is a number in words that not every parser takes.
func (c *deploymentCase) loose(number int32) string {
	return pick(c.r, fmt.Sprint(number), fmt.Sprint("+", number), fmt.Sprint("-", number), fmt.Sprint("00", number),
		fmt.Sprint(number, " "), fmt.Sprint(int64(number)+1<<32), fmt.Sprint(int64(number)-1<<32), fmt.Sprint(number, ".0"),
		"2147483648", "4294967295", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "", "x", "1_0", "0x1", "+", "-", "+-1", "99999999999999999999999")
}

// pod is one of this set, or of none.
func (c *deploymentCase) pod(set *appsv1.ReplicaSet) *v1.Pod {
	phase := pick(c.r, v1.PodSucceeded, v1.PodSucceeded, v1.PodFailed, v1.PodFailed, v1.PodRunning, v1.PodPending, v1.PodUnknown, v1.PodPhase(""))
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("pod ", len(c.pods))},
		Status:     v1.PodStatus{Phase: phase},
	}
	if c.r.IntN(8) > 0 {
		pod.OwnerReferences = owned(set, setKind)
	}
	return pod
}

func (c *deploymentCase) judge(controller *upstream.DeploymentController, tally map[string]int) error {
	sync, err := controller.Sync(c.deployment, c.sets, c.pods)
	if err != nil {
		return fmt.Errorf("upstream: %w", err)
	}
	step, err := podrank.NextDeployment(c.deployment, c.sets, c.pods)
	if err != nil {
		return err
	}
	if len(step.Changes) != len(c.sets) {
		return fmt.Errorf("%d changes of %d sets", len(step.Changes), len(c.sets))
	}
	rejected := step.New.Reason == "rejected"
	for i, change := range step.Changes {
		if change.Set != c.sets[i] {
			return fmt.Errorf("%s is in the place of %s", change.Set.Name, c.sets[i].Name)
		}
		if err := sameSizes(sync.Written(change.Set), c.deployment, change, step.MaxSurge); err != nil {
			return err
		}
		rejected = rejected || change.Reason == "rejected"
		tally[fmt.Sprint(step.Path, ": ", change.Reason)]++
	}
	tally[fmt.Sprint(step.Path)]++
	if step.New.Set == nil {
		tally[fmt.Sprint(step.Path, ": missing: ", step.New.Reason)]++
	}
	if step.Creates != (sync.Created != nil) || rejected != sync.Rejected {
		return fmt.Errorf("upstream creates %v and rejects %t, podrank %+v", sync.Created != nil, sync.Rejected, step)
	}
	if step.Creates && (step.New.Set != nil || step.New.Replicas != *sync.Created.Spec.Replicas) {
		return fmt.Errorf("upstream creates a set of %d, podrank %+v", *sync.Created.Spec.Replicas, step.New)
	}
	if newSet := deploymentutil.FindNewReplicaSet(c.deployment, slices.Clone(c.sets)); newSet != step.New.Set {
		return fmt.Errorf("upstream's new set is %v, podrank's %v", newSet, step.New.Set)
	}
	surge, unavailable := deploymentutil.MaxSurge(*c.deployment), deploymentutil.MaxUnavailable(*c.deployment)
	if step.MaxSurge != surge || step.MaxUnavailable != unavailable {
		return fmt.Errorf("upstream's budgets are %d and %d, podrank's %d and %d",
			surge, unavailable, step.MaxSurge, step.MaxUnavailable)
	}
	return nil
}

// written is the set after a change, as podrank tells it.
func written(d *appsv1.Deployment, change podrank.SetChange, surge int32) *appsv1.ReplicaSet {
	set := *change.Set
	set.Spec.Replicas = &change.Replicas
	if change.Annotates {
		set.Annotations = maps.Clone(set.Annotations)
		set.Annotations[podrank.DesiredReplicasAnnotation] = fmt.Sprint(*d.Spec.Replicas)
		set.Annotations[podrank.MaxReplicasAnnotation] = fmt.Sprint(*d.Spec.Replicas + surge)
	}
	return &set
}

// sameSizes checks that upstream wrote what podrank tells.
func sameSizes(upstreams *appsv1.ReplicaSet, d *appsv1.Deployment, change podrank.SetChange, surge int32) error {
	sizes := func(set *appsv1.ReplicaSet) string {
		desired, max := set.Annotations[podrank.DesiredReplicasAnnotation], set.Annotations[podrank.MaxReplicasAnnotation]
		return fmt.Sprintf("%d with %q and %q", *set.Spec.Replicas, desired, max)
	}
	if got, want := sizes(written(d, change, surge)), sizes(upstreams); got != want {
		return fmt.Errorf("upstream makes %s %s, podrank %s: %+v", upstreams.Name, want, got, change)
	}
	return nil
}

// judgeEnd plays syncs in turn until nothing follows: upstream's, each on what upstream wrote, and podrank's, each on what podrank tells
// that the one before it wrote. In both, the statuses of the sets follow, but for some that are late.
func (c *deploymentCase) judgeEnd(controller *upstream.DeploymentController, tally map[string]int) error {
	theirs, theirSets, ours, ourSets := c.deployment, c.sets, c.deployment, c.sets
	for syncs := 0; ; syncs++ {
		sync, err := controller.Sync(theirs, theirSets, c.pods)
		if err != nil {
			return fmt.Errorf("upstream, sync %d: %w", syncs, err)
		}
		step, err := podrank.NextDeployment(ours, ourSets, c.pods)
		if err != nil {
			return fmt.Errorf("sync %d: %w", syncs, err)
		}
		rejected := step.New.Reason == "rejected"
		predicted := upstream.Sync{Sets: map[string]*appsv1.ReplicaSet{}}
		for i, change := range step.Changes {
			rejected = rejected || change.Reason == "rejected"
			predicted.Sets[change.Set.Name] = written(ours, change, step.MaxSurge)
			if err := sameSizes(sync.Written(theirSets[i]), ours, change, step.MaxSurge); err != nil {
				return fmt.Errorf("sync %d: %w", syncs, err)
			}
		}
		switch {
		case step.Creates != (sync.Created != nil) || rejected != sync.Rejected:
			return fmt.Errorf("sync %d: upstream creates %v and rejects %t, podrank %+v", syncs, sync.Created, sync.Rejected, step)
		case rejected:
			tally[fmt.Sprintf("after %2d syncs a size is rejected", syncs)]++
			return nil
		case step.Path == podrank.PathRollback:
			tally[fmt.Sprintf("after %2d syncs the template changes", syncs)]++
			return nil
		case step.Creates:
			change := step.New
			// podrank knows its size and annotations.
			change.Set = sync.Created
			predicted.Created = written(ours, change, step.MaxSurge)
			if err := sameSizes(sync.Created, ours, change, step.MaxSurge); err != nil {
				return fmt.Errorf("sync %d: %w", syncs, err)
			}
		}
		status := func(set *appsv1.ReplicaSet) (replicas, available int32) {
			return *set.Spec.Replicas, min(set.Status.AvailableReplicas, *set.Spec.Replicas)
		}
		isUnseen := func(set *appsv1.ReplicaSet) bool {
			replicas, available := status(set)
			return set.Status.Replicas != replicas || set.Status.AvailableReplicas != available
		}
		if !writes(sync, theirSets) && !slices.ContainsFunc(theirSets, isUnseen) {
			tally[fmt.Sprintf("after %2d syncs nothing follows", syncs)]++
			return nil
		}
		if syncs == 100 {
			return errors.New("it does not come to rest")
		}
		late := map[string]bool{}
		for _, set := range theirSets {
			late[set.Name] = c.r.IntN(8) == 0
		}
		follows := func(set *appsv1.ReplicaSet) (replicas, available int32) {
			if late[set.Name] {
				return set.Status.Replicas, set.Status.AvailableReplicas
			}
			return status(set)
		}
		theirs, theirSets = c.after(theirs, theirSets, sync, follows)
		ours, ourSets = c.after(ours, ourSets, predicted, follows)
		if ours.Status.Replicas < 0 {
			tally["more pods than a status can hold"]++
			return nil
		}
	}
}

// judgeGoesOn lets upstream sync again after a step: once the statuses have followed it, and nothing else has changed. Then
// something is written exactly if podrank says that it goes on.
//
// A Deployment that does not go on is complete, and then nothing follows whatever the statuses become, or it waits, and then
// something does once all pods are available and those that are deleted are gone.
func (c *deploymentCase) judgeGoesOn(controller *upstream.DeploymentController, tally map[string]int) error {
	step, err := podrank.NextDeployment(c.deployment, c.sets, c.pods)
	if err != nil {
		return err
	}
	first, err := controller.Sync(c.deployment, c.sets, c.pods)
	if err != nil {
		return fmt.Errorf("upstream: %w", err)
	}
	if first.Rejected || step.Path == podrank.PathRollback {
		// Upstream tries again, or changes the template, of which podrank does not know whether there is such a revision.
		if !step.GoesOn {
			return fmt.Errorf("podrank %+v does not go on", step)
		}
		return nil
	}
	followed := func(set *appsv1.ReplicaSet) (replicas, available int32) {
		// Pods that are created are not available, and those that are not available go first.
		return *set.Spec.Replicas, min(set.Status.AvailableReplicas, *set.Spec.Replicas)
	}
	for _, sum := range []bool{true, false} {
		d, sets := c.after(c.deployment, c.sets, first, followed)
		if !sum {
			// The Deployment's status is of another sync than those of its sets.
			d.Status.Replicas = c.deployment.Status.Replicas
		}
		next, err := controller.Sync(d, sets, c.pods)
		if err != nil {
			return fmt.Errorf("upstream, the next sync: %w", err)
		}
		if changes := writes(next, sets); changes != step.GoesOn {
			return fmt.Errorf("upstream's next sync writes: %t: %+v; podrank %+v", changes, next, step)
		}
	}
	rest := c.rest(step)
	for _, change := range step.Changes {
		tally[fmt.Sprintf("%s, then %s: %s", step.Path, rest, change.Reason)]++
	}

	var status func(*appsv1.ReplicaSet) (replicas, available int32)
	switch {
	case rest == "complete":
		status = func(set *appsv1.ReplicaSet) (replicas, available int32) {
			other := func() int32 {
				size := *set.Spec.Replicas
				return max(0, pick(c.r, size, size-1, size+1, 0, c.r.Int32N(12)))
			}
			return other(), other()
		}
	case rest == "waits" && !c.huge && step.MaxSurge < 1<<14:
		status = func(set *appsv1.ReplicaSet) (replicas, available int32) {
			return *set.Spec.Replicas, *set.Spec.Replicas
		}
	default:
		return nil
	}
	d, sets, sync, more := c.deployment, c.sets, first, false
	for round := 0; round < 3 && !more; round++ {
		d, sets = c.after(d, sets, sync, status)
		if sync, err = controller.Sync(d, sets, nil); err != nil {
			return fmt.Errorf("upstream, a later sync: %w", err)
		}
		more = writes(sync, sets)
	}
	if more != (rest == "waits") {
		return fmt.Errorf("it %s, and upstream writes later: %t; podrank %+v", rest, more, step)
	}
	return nil
}

// rest says what podrank's step leaves to be done.
func (c *deploymentCase) rest(step podrank.DeploymentStep) string {
	isComplete, scales := step.New.Set != nil || step.Creates, c.deployment.Spec.Paused
	isComplete = isComplete && step.New.Replicas == *c.deployment.Spec.Replicas
	for _, change := range step.Changes {
		isComplete = isComplete && (change.Set == step.New.Set || change.Replicas == 0)
		// Its annotation still records another count.
		scales = scales || change.Reason == "not-rolling" ||
			step.Path == podrank.PathScale && change.Reason == "only-active" && change.Part == 0
	}
	switch {
	case step.Path == podrank.PathNothing:
		return "nothing"
	case step.GoesOn:
		return "goes on"
	case scales:
		return "only scales"
	case isComplete:
		return "complete"
	}
	return "waits"
}

// writes says whether a sync changed anything but a status, or tried to.
func writes(sync upstream.Sync, sets []*appsv1.ReplicaSet) bool {
	return sync.Rejected || sync.Created != nil || sync.Deployment != nil || slices.ContainsFunc(sets, func(set *appsv1.ReplicaSet) bool {
		written := sync.Sets[set.Name]
		return written != nil && !(equality.Semantic.DeepEqual(written.Spec, set.Spec) && maps.Equal(written.Annotations, set.Annotations))
	})
}

// after is what the next sync sees: what this one wrote, with these statuses of its sets. No object is changed.
func (c *deploymentCase) after(d *appsv1.Deployment, sets []*appsv1.ReplicaSet, sync upstream.Sync,
	status func(*appsv1.ReplicaSet) (replicas, available int32),
) (*appsv1.Deployment, []*appsv1.ReplicaSet) {
	if sync.Deployment != nil {
		d = sync.Deployment
	}
	after := *d
	after.Status.Replicas, sets = 0, slices.Clone(sets)
	if sync.Created != nil {
		sync.Created.UID = types.UID(fmt.Sprint("created ", len(sets)))
		sets = append(sets, sync.Created)
	}
	for i, set := range sets {
		if written := sync.Sets[set.Name]; written != nil {
			set = written
		}
		next := *set
		next.Status.Replicas, next.Status.AvailableReplicas = status(&next)
		after.Status.Replicas += next.Status.Replicas
		sets[i] = &next
	}
	return &after, sets
}

func at(d time.Duration) metav1.Time { return metav1.NewTime(time.Unix(1_700_000_000, 0).Add(d)) }

// A budget in percent is rounded as upstream's floating point has it, and a share of a set too: all small ones, and those at
// the edges.
func TestDeploymentRounding(t *testing.T) {
	t.Parallel()
	edges := []int32{1, 2, 3, 99, 100, 101, 199, 12_345, 1<<30 - 1, 1 << 30, math.MaxInt32 - 1, math.MaxInt32}
	counts := slices.Clone(edges)
	for i := range int32(151) {
		counts = append(counts, i)
	}
	percents := []int{1<<22 - 1, 1 << 22, 1<<22 - 99, 333_333, 1_000_001}
	for i := range 211 {
		percents = append(percents, i)
	}
	checked := 0
	for _, count := range counts {
		for _, percent := range percents {
			budget := intstr.FromString(fmt.Sprint(percent, "%"))
			d := rollingDeployment(count, &budget, &budget)
			step, err := podrank.NextDeployment(d, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if surge, unavailable := deploymentutil.MaxSurge(*d), deploymentutil.MaxUnavailable(*d); step.MaxSurge != surge || step.MaxUnavailable != unavailable {
				t.Fatalf("%s of %d: upstream has %d and %d, podrank %d and %d",
					budget.StrVal, count, surge, unavailable, step.MaxSurge, step.MaxUnavailable)
			}
			checked++
		}
	}

	// A share: with a second set, far larger, to make it one of several and not the first.
	logger := klog.Background()
	share := func(size, count, max int32) {
		zero := intstr.FromInt32(0)
		d := rollingDeployment(count, &zero, &zero)
		d.Spec.Paused = true
		set := func(name string, size int32) *appsv1.ReplicaSet {
			return &appsv1.ReplicaSet{
				ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{podrank.MaxReplicasAnnotation: fmt.Sprint(max)}},
				Spec:       appsv1.ReplicaSetSpec{Replicas: &size},
			}
		}
		sets := []*appsv1.ReplicaSet{set("a", size), set("b", 0)}
		*sets[1].Spec.Replicas = 1
		step, err := podrank.NextDeployment(d, sets, nil)
		if err != nil {
			t.Fatal(err)
		}
		add := count - size - 1
		if add == 0 {
			return
		}
		want := deploymentutil.GetReplicaSetProportion(logger, sets[0], *d, add, 0)
		if got := step.Changes[0]; got.Part != want && size > 1 && got.Reason != "rejected" && got.Reason != "not-reached" {
			t.Fatalf("size %d of max %d, count %d: upstream's share is %d, podrank's %+v", size, max, count, want, got)
		}
		checked++
	}
	for size := int32(2); size < 40; size++ {
		for count := range int32(40) {
			for max := int32(1); max < 40; max++ {
				share(size, count, max)
			}
		}
	}
	r := seeded(10, 0)
	for range 200_000 {
		number := func() int32 { return max(1, pick(r, pick(r, edges...), r.Int32(), r.Int32N(1000), r.Int32N(1<<16))) }
		share(number(), number(), number())
	}
	t.Logf("%d budgets and shares", checked)
}

func rollingDeployment(count int32, surge, unavailable *intstr.IntOrString) *appsv1.Deployment {
	return &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &count,
		// No set of this test has the template.
		Template: v1.PodTemplateSpec{Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyAlways, Hostname: "new"}},
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: surge, MaxUnavailable: unavailable}}}}
}

// What tests/vectors/deployment.json says of sizes is what upstream writes.
func TestDeploymentVectors(t *testing.T) {
	t.Parallel()
	var file struct {
		Steps []struct {
			Name       string
			Deployment struct {
				Replicas, StatusReplicas                      int32
				Strategy                                      appsv1.DeploymentStrategyType
				MaxSurge, MaxUnavailable                      intstr.IntOrString
				OldPodsRun, Paused, BeingDeleted, RollingBack bool
			}
			Sets []struct {
				Name                                        string
				CreationTime                                json.Number
				Replicas, StatusReplicas, AvailableReplicas int32
				Desired, Max                                *string
				Current                                     bool
			}
			Creates *int32
			Surge   int32
			Changes []struct {
				Replicas  int32
				Reason    string
				Annotates bool
			}
		}
	}
	if err := vectors.Read("deployment.json", &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Steps) < 50 {
		t.Errorf("only %d steps", len(file.Steps))
	}
	controller, err := upstream.NewDeploymentController()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range file.Steps {
		labels := map[string]string{"app": "web"}
		d := rollingDeployment(step.Deployment.Replicas, &step.Deployment.MaxSurge, &step.Deployment.MaxUnavailable)
		d.ObjectMeta = metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"}
		d.Status.Replicas = step.Deployment.StatusReplicas
		d.Spec.Paused, d.Spec.Selector = step.Deployment.Paused, &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		if step.Deployment.Strategy != "" {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: step.Deployment.Strategy}
		}
		if step.Deployment.BeingDeleted {
			d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
		}
		if step.Deployment.RollingBack {
			d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: "0"}
		}
		c := &deploymentCase{r: seeded(11, 0), deployment: d}
		for i, s := range step.Sets {
			set := &appsv1.ReplicaSet{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "shop", Name: s.Name, UID: types.UID(s.Name), Labels: labels, Annotations: map[string]string{},
					OwnerReferences: owned(d, deploymentKind),
				},
				Spec:   appsv1.ReplicaSetSpec{Replicas: &step.Sets[i].Replicas, Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}},
				Status: appsv1.ReplicaSetStatus{Replicas: s.StatusReplicas, AvailableReplicas: s.AvailableReplicas},
			}
			if nanoseconds, err := s.CreationTime.Int64(); err == nil {
				set.CreationTimestamp = metav1.NewTime(time.Unix(0, nanoseconds))
			}
			if s.Current {
				set.Spec.Template = d.Spec.Template
			}
			if s.Desired != nil {
				set.Annotations[podrank.DesiredReplicasAnnotation] = *s.Desired
			}
			if s.Max != nil {
				set.Annotations[podrank.MaxReplicasAnnotation] = *s.Max
			}
			if step.Deployment.OldPodsRun && !s.Current {
				meta := metav1.ObjectMeta{Namespace: "shop", Name: s.Name, OwnerReferences: owned(set, setKind)}
				c.pods = append(c.pods, &v1.Pod{ObjectMeta: meta, Status: v1.PodStatus{Phase: v1.PodRunning}})
			}
			c.sets = append(c.sets, set)
		}
		sync, err := controller.Sync(d, c.sets, c.pods)
		if err != nil {
			t.Fatalf("%s: %v\n%s", step.Name, err, describe(d, c.sets, c.pods))
		}
		for i, change := range step.Changes {
			vector := podrank.SetChange{Set: c.sets[i], Replicas: change.Replicas, Annotates: change.Annotates}
			if err := sameSizes(sync.Written(c.sets[i]), d, vector, step.Surge); err != nil {
				t.Errorf("%s, as the vector has it: %v", step.Name, err)
			}
			if change.Reason == "rejected" && !sync.Rejected {
				t.Errorf("%s: upstream's API server rejects nothing", step.Name)
			}
		}
		if (sync.Created != nil) != (step.Creates != nil) || step.Creates != nil && *sync.Created.Spec.Replicas != *step.Creates {
			t.Errorf("%s: upstream creates %v", step.Name, sync.Created)
		}
		for _, set := range c.sets {
			c.huge = c.huge || *set.Spec.Replicas >= 1<<14
		}
		tally := map[string]int{}
		if err := errors.Join(c.judge(controller, tally), c.judgeGoesOn(controller, tally)); err != nil {
			t.Errorf("%s: %v\n%s", step.Name, err, describe(d, c.sets, c.pods))
		}
	}
}
