package judge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
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

	"github.com/podrank/podrank/go/judge/upstream"
)

// go test -run TestDeployments$ -v -timeout 0 -deployments 10000000 [-first 0] .
var (
	deployments = flag.Int("deployments", 40_000, "how many random Deployments TestDeployments judges")
	// go test -run TestDeploymentEnds -v -timeout 0 -ends 1000000 [-first 0] .
	ends = flag.Int("ends", 5_000, "how many random Deployments TestDeploymentEnds plays to the end")
)

var (
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	setKind        = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
)

// Kubernetes' whole Deployment controller, on random Deployments: it writes the sizes that the preview tells.
func TestDeployments(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *deployments, withPreview(t, func(ctx context.Context, p *previewer) (judge, error) {
		controller, err := upstream.NewDeploymentController(ctx)
		return func(number int, tally map[string]int) error {
			c := newDeploymentCase(seeded(9, number))
			if err := c.judge(controller, p, tally); err != nil {
				return fmt.Errorf("%w\n%s", err, describe(c.deployment, c.sets, c.pods))
			}
			return nil
		}, err
	}))
	// Each thing that can happen did: 5 paths and their reasons.
	if len(tally) < 40 && !t.Failed() {
		t.Errorf("only %d kinds of changes", len(tally))
	}
}

// Kubernetes' whole Deployment controller, again and again until nothing follows: it writes what the preview tells of each sync, and
// what it tells at the start of all syncs.
func TestDeploymentEnds(t *testing.T) {
	t.Parallel()
	tally := judgeWorkloads(t, *first, *ends, withPreview(t, func(ctx context.Context, p *previewer) (judge, error) {
		controller, err := upstream.NewDeploymentController(ctx)
		return func(number int, tally map[string]int) error {
			c := newDeploymentCase(seeded(12, number))
			err := c.judgeEnd(controller, p, tally)
			// Two more plays, so not after each.
			if err == nil && number%4 == 0 {
				err = c.judgeSteps(controller, p, tally)
			}
			if err != nil {
				return fmt.Errorf("%w\n%s", err, describe(c.deployment, c.sets, c.pods))
			}
			return nil
		}, err
	}))
	if len(tally) < 12 && !t.Failed() {
		t.Errorf("only %d kinds of ends", len(tally))
	}
}

// A deploymentCase is a Deployment that collides with itself: few sizes, times and names, and many at the edges.
type deploymentCase struct {
	r *rand.Rand
	// huge is whether sums may not fit 32 bits.
	huge bool
	// most is the largest size, but for those that are huge.
	most       int
	deployment *appsv1.Deployment
	sets       []*appsv1.ReplicaSet
	pods       []*v1.Pod
}

func newDeploymentCase(r *rand.Rand) *deploymentCase {
	// Most random numbers are small. One Deployment in eight has numbers whose sums do not fit 32 bits.
	c := &deploymentCase{r: r, huge: r.IntN(8) == 0, most: pick(r, 1, 3, 10, 10, 10, 30, 1000)}
	// Upstream compares templates again and again: most are small, or nothing else would be tested.
	rich := r.IntN(16) == 0
	c.deployment = c.newDeployment(rich)
	n := pick(r, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7, r.IntN(21))
	c.addSets(r.Perm(n), pick(r, 0, 1, 1, 1, 1, 1, 2, 3), rich)
	sum := int32(0)
	for _, set := range c.sets {
		sum += *set.Spec.Replicas
		for range r.IntN(3) / 2 {
			c.pods = append(c.pods, c.pod(set))
		}
	}
	r.Shuffle(len(c.sets), func(i, j int) { c.sets[i], c.sets[j] = c.sets[j], c.sets[i] })
	c.deployment.Status.Replicas = max(0, pick(r, sum, 0, c.size()))
	return c
}

func (c *deploymentCase) size() int32 {
	if c.huge && c.r.IntN(3) > 0 {
		return pick(c.r, math.MaxInt32, math.MaxInt32-1, 1<<30, 1<<30-1, 1<<29+3, 2_000_000_000, c.r.Int32())
	}
	return c.r.Int32N(int32(c.most) + 1)
}

func (c *deploymentCase) budget() *intstr.IntOrString {
	v := intstr.FromInt32(pick(c.r, 0, 0, 1, 2, 3, c.size()))
	if c.r.IntN(2) == 0 {
		v = intstr.FromString(pick(c.r, "0%", "1%", "10%", "25%", "25%", "30%", "33%", "50%", "99%", "100%", "150%", "0033%",
			"4194304%", strconv.Itoa(c.r.IntN(1<<22))+"%"))
	}
	return &v
}

func (c *deploymentCase) newDeployment(rich bool) *appsv1.Deployment {
	r, d := c.r, rollingDeployment(c.size(), c.budget(), c.budget())
	if r.IntN(12) == 0 {
		*d.Spec.Replicas = 0
	}
	d.Generation, d.Spec.Paused, d.Spec.Template.Spec.Hostname = 1, r.IntN(6) == 0, ""
	if rich {
		limits := v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")}
		d.Spec.Template.Spec.Containers = []v1.Container{{Name: "web", Resources: v1.ResourceRequirements{Limits: limits}}}
	}
	if r.IntN(5) == 0 {
		d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	if r.IntN(60) == 0 {
		d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
	}
	if r.IntN(20) == 0 {
		revision := pick(r, "0", "1", "7", "-1", "", "+1", "x", "9223372036854775808")
		d.Annotations = map[string]string{appsv1.DeprecatedRollbackTo: revision}
	}
	return d
}

// addSets adds a set for each of these numbers, the first of which have the template of the Deployment.
func (c *deploymentCase) addSets(numbers []int, currents int, rich bool) {
	r, d := c.r, c.deployment
	// Kubernetes keeps whole seconds.
	times := []metav1.Time{{}, at(0), at(time.Second), at(time.Duration(r.IntN(3)) * time.Second)}
	saturated, scaling, settled := r.IntN(8) == 0, r.IntN(2) == 0, r.IntN(3) == 0
	for i, number := range numbers {
		spec := c.size()
		if r.IntN(4) == 0 {
			spec = 0
		}
		if i < currents && (saturated || r.IntN(6) == 0) {
			spec = *d.Spec.Replicas
		}
		// Names are neither of one length nor of one case.
		set := oldSet(d, "web-"+pick(r, "", "a", "A", "-", "zz")+fmt.Sprint(number), spec)
		set.CreationTimestamp, set.Spec.Template = pick(r, times...), *d.Spec.Template.DeepCopy()
		set.Spec.Template.Labels = map[string]string{"app": "web", "pod-template-hash": fmt.Sprint(i)}
		switch {
		case i >= currents && rich:
			set.Spec.Template.Spec.Containers[0].Image = fmt.Sprint("web:old", i)
		case i >= currents:
			// The first field that upstream compares.
			set.Spec.Template.Name = fmt.Sprint(i)
		}
		c.annotate(set, *d.Spec.Replicas, scaling, c.size())
		if d.Annotations != nil {
			set.Annotations[deploymentutil.RevisionAnnotation] = fmt.Sprint(i)
		}
		available := pick(r, spec, spec, spec-1, spec/2, 0, spec+1, c.size())
		if i < currents && saturated {
			available = spec
			if r.IntN(4) > 0 {
				set.Annotations[deploymentutil.DesiredReplicasAnnotation] = c.loose(*d.Spec.Replicas)
			}
		}
		set.Status.AvailableReplicas = max(0, available)
		set.Status.Replicas = max(0, pick(r, spec, spec, 0, c.size()))
		if settled {
			set.Status.Replicas = 0
		}
		c.sets = append(c.sets, set)
	}
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
		set.Annotations[deploymentutil.DesiredReplicasAnnotation] = texts(desired)
	}
	if c.r.IntN(8) > 0 {
		set.Annotations[deploymentutil.MaxReplicasAnnotation] = texts(max(0, pick(c.r, 0, desired, desired+desired/4, desired+1, other)))
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
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("pod ", len(c.pods)), UID: uid(len(c.pods))},
		// A pod without a node would end as soon as it is deleted.
		Spec: v1.PodSpec{NodeName: "a"}, Status: v1.PodStatus{Phase: phase},
	}
	if c.r.IntN(8) > 0 {
		// The set would release a pod that its selector does not match.
		pod.Labels = set.Spec.Selector.MatchLabels
		pod.OwnerReferences = owned(set, setKind)
	}
	return pod
}

// askDeployment asks the preview, about each count or about that of the object. Few of the pods that the statuses count are listed.
func (p *previewer) askDeployment(q question, d *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*v1.Pod) ([]preview, error) {
	q.Workload, q.Now, q.Partial = "deploy/"+d.Name, at(time.Hour).Time, true
	return p.answers(q, list{"apps/v1", "DeploymentList", []*appsv1.Deployment{d}}, list{"apps/v1", "ReplicaSetList", sets},
		list{"v1", "PodList", pods})
}

// nextSync asks about the count of the object, of which the sizes of the next sync are judged.
func (p *previewer) nextSync(d *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*v1.Pod) (*preview, error) {
	previews, err := p.askDeployment(question{}, d, sets, pods)
	if err != nil {
		return nil, err
	}
	return &previews[0], nil
}

func (c *deploymentCase) judge(controller *upstream.DeploymentController, p *previewer, tally map[string]int) error {
	sync, err := controller.Sync(c.deployment, c.sets, c.pods)
	if err != nil {
		return fmt.Errorf("upstream: %w", err)
	}
	preview, err := p.nextSync(c.deployment, c.sets, c.pods)
	if err != nil {
		return err
	}
	tally[preview.NextSync.Path]++
	for _, set := range preview.Groups {
		if set.Reason != nil {
			tally[fmt.Sprint(preview.NextSync.Path, ": ", set.Reason.Rule, ", exists: ", set.ReplicaSet != nil)]++
		}
	}
	return preview.sameSizes(sync, c.deployment, c.sets)
}

// sameSizes checks that upstream wrote the sizes that the preview tells. Sets without pods, before and after, are not in it.
func (p *preview) sameSizes(sync upstream.Sync, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) error {
	var creates *int32
	told, rejected := map[string]groupPreview{}, false
	for _, set := range p.Groups {
		if set.Reason == nil {
			continue
		}
		rejected = rejected || set.Reason.Rule == "rejected"
		if set.ReplicaSet == nil {
			creates = &set.To
		} else {
			told[*set.ReplicaSet] = set
		}
	}
	newSet := deploymentutil.FindNewReplicaSet(d, slices.Clone(sets))
	for _, set := range sets {
		from, to := *set.Spec.Replicas, *sync.Written(set).Spec.Replicas
		tells, isIn := told[set.Name]
		if tells.From != from || tells.To != to || isIn && tells.IsNew != (set == newSet) {
			return fmt.Errorf("upstream changes %s, new: %t, from %d to %d, and the preview: %+v", set.Name, set == newSet, from, to, tells)
		}
	}
	if (creates != nil) != (sync.Created != nil) || creates != nil && *creates != *sync.Created.Spec.Replicas {
		return fmt.Errorf("upstream creates %v, and the preview: %+v", sync.Created, p.Groups)
	}
	// Of a set that has no pods, or is not created, it shows in nothing.
	if rejected && !sync.Rejected {
		return fmt.Errorf("upstream rejects: %t, and the preview: %+v", sync.Rejected, p)
	}
	return nil
}

// An end is how a play of syncs ends.
type end string

// play lets upstream sync until a sync changes nothing. After each sync, it updates the statuses of the sets, except
// for one in late. It calls each for every sync, and returns the sets at the end.
func (c *deploymentCase) play(controller *upstream.DeploymentController, pods []*v1.Pod, late int,
	status func(*appsv1.ReplicaSet) (replicas, available int32),
	each func(sync upstream.Sync, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) error,
) (end, []*appsv1.ReplicaSet, error) {
	d, sets := c.deployment, c.sets
	for range 100 {
		sync, err := controller.Sync(d, sets, pods)
		if err == nil {
			err = each(sync, d, sets)
		}
		isUnseen := func(set *appsv1.ReplicaSet) bool {
			replicas, available := status(set)
			return set.Status.Replicas != replicas || set.Status.AvailableReplicas != available
		}
		switch {
		case err != nil:
			return "", nil, err
		case sync.Rejected:
			return "a size is rejected", sets, nil
		case sync.Deployment != nil:
			return "the template changes", sets, nil
		case !writes(sync, sets) && !slices.ContainsFunc(sets, isUnseen):
			return "nothing follows", sets, nil
		}
		isLate := map[string]bool{}
		for _, set := range sets {
			isLate[set.Name] = late > 0 && c.r.IntN(late) == 0
		}
		d, sets = c.after(d, sets, sync, func(set *appsv1.ReplicaSet) (replicas, available int32) {
			if isLate[set.Name] {
				return set.Status.Replicas, set.Status.AvailableReplicas
			}
			return status(set)
		})
		if d.Status.Replicas < 0 {
			return "there are more pods than a status can hold", sets, nil
		}
	}
	return "", nil, errors.New("it does not come to rest")
}

// judgeEnd compares each sync of a play, in which pods are deleted that are not available, and those that are created do not become so.
func (c *deploymentCase) judgeEnd(controller *upstream.DeploymentController, p *previewer, tally map[string]int) error {
	syncs := -1
	ends, _, err := c.play(controller, c.pods, 8, followed, func(sync upstream.Sync, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) error {
		syncs++
		preview, err := p.nextSync(d, sets, c.pods)
		if err != nil {
			return err
		}
		return preview.sameSizes(sync, d, sets)
	})
	if err != nil {
		return fmt.Errorf("sync %d: %w", syncs, err)
	}
	tally[fmt.Sprintf("after %2d syncs %s", syncs, ends)]++
	return nil
}

// judgeSteps compares one preview of all syncs with plays in which no pod becomes available, as none is listed. Its
// steps must be those of a play in which every status is seen immediately. Whichever statuses are late, the replicas at
// the end must be within its bounds. This also judges the annotations that a sync writes, because later syncs depend on
// them. With Recreate, the end depends on the running pods, so it is not judged.
func (c *deploymentCase) judgeSteps(controller *upstream.DeploymentController, p *previewer, tally map[string]int) error {
	if c.deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return nil
	}
	previews, err := p.askDeployment(question{}, c.deployment, c.sets, nil)
	if err != nil {
		return err
	}
	preview := previews[0]
	var steps []string
	record := func(sync upstream.Sync, d *appsv1.Deployment, sets []*appsv1.ReplicaSet) error {
		var changes []string
		for _, set := range sets {
			if from, to := *set.Spec.Replicas, *sync.Written(set).Spec.Replicas; from != to {
				changes = append(changes, fmt.Sprint(c.nameOf(set), " ", from, " to ", to))
			}
		}
		if sync.Created != nil && *sync.Created.Spec.Replicas > 0 {
			changes = append(changes, fmt.Sprint(" 0 to ", *sync.Created.Spec.Replicas))
		}
		if slices.Sort(changes); changes != nil {
			steps = append(steps, fmt.Sprint(changes))
		}
		return nil
	}
	none := func(set *appsv1.ReplicaSet) (replicas, available int32) { return *set.Spec.Replicas, 0 }
	ends, sets, err := c.play(controller, nil, 0, none, record)
	if err != nil {
		return err
	}
	tally[fmt.Sprintf("%d steps, certain: %t, then %s", len(steps), preview.Complete, ends)]++
	if ends != "nothing follows" {
		return nil
	}
	if told := preview.steps(); !slices.Equal(steps, told) {
		return fmt.Errorf("upstream's steps are %q, and the preview's %q", steps, told)
	}
	if err := c.within(&preview, sets); err != nil {
		return err
	}
	ends, sets, err = c.play(controller, nil, 3, none, func(upstream.Sync, *appsv1.Deployment, []*appsv1.ReplicaSet) error { return nil })
	if err != nil || ends != "nothing follows" {
		return err
	}
	return c.within(&preview, sets)
}

// steps are the sizes that the preview's steps change, in words.
func (p *preview) steps() (all []string) {
	for _, step := range p.Steps {
		var changes []string
		for _, set := range step.ReplicaSets {
			changes = append(changes, fmt.Sprint(name(set.ReplicaSet), " ", set.From, " to ", set.To))
		}
		slices.Sort(changes)
		all = append(all, fmt.Sprint(changes))
	}
	return all
}

// within checks that these are sizes at which the preview says that the sets rest.
func (c *deploymentCase) within(p *preview, sets []*appsv1.ReplicaSet) error {
	for _, set := range sets {
		var bounds bounds
		for _, group := range p.Groups {
			if name(group.ReplicaSet) == c.nameOf(set) {
				bounds = group.ReplicasAtEnd
			}
		}
		if size := uint32(*set.Spec.Replicas); p.Complete && (size < bounds.Min || size > bounds.Max) {
			return fmt.Errorf("upstream leaves %s with %d, and the preview: %+v", set.Name, size, bounds)
		}
	}
	return nil
}

// nameOf is the name by which the preview knows a set: none if the syncs create it.
func (c *deploymentCase) nameOf(set *appsv1.ReplicaSet) string {
	if slices.ContainsFunc(c.sets, func(own *appsv1.ReplicaSet) bool { return own.Name == set.Name }) {
		return set.Name
	}
	return ""
}

func name(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

// followed is a status after a sync: pods that are created are not available, and those that are not available go first.
func followed(set *appsv1.ReplicaSet) (replicas, available int32) {
	return *set.Spec.Replicas, min(set.Status.AvailableReplicas, *set.Spec.Replicas)
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

var (
	// How the preview says how many pods must be available, what they have shares of, and that a share has a remainder.
	leastWords = regexp.MustCompile(`because (\d+) (?:pods? )?must`)
	shareWords = regexp.MustCompile(`share(?: is| of|,).* (\d+) pods?(?: \(\d+ replicas? and a surge of (-?\d+)\))?`)
	extraWords = regexp.MustCompile(`^([+-]\d+) as its share of`)
)

// A budget in percent is rounded as upstream's floating point has it: all small ones, and those at the edges. The budgets are in the
// words of the preview.
func TestDeploymentBudgets(t *testing.T) {
	t.Parallel()
	p, err := newPreviewer(t)
	if err != nil {
		t.Fatal(err)
	}
	counts := slices.Clone(edges)
	for i := range int32(151) {
		counts = append(counts, i)
	}
	percents := []int{1<<22 - 1, 1 << 22, 1<<22 - 99, 333_333, 1_000_001}
	for i := range 211 {
		percents = append(percents, i)
	}
	checked := map[string]int{}
	for _, percent := range percents {
		budget := intstr.FromString(fmt.Sprint(percent, "%"))
		d := rollingDeployment(0, &budget, &budget)
		d.Status.Replicas = 2
		sets := []*appsv1.ReplicaSet{oldSet(d, "a", 1), oldSet(d, "b", 1)}
		rolls, rollErr := p.askDeployment(question{Counts: counts}, d, sets[:1], nil)
		d.Spec.Paused = true
		scales, scaleErr := p.askDeployment(question{Counts: counts}, d, sets, nil)
		if err := errors.Join(rollErr, scaleErr); err != nil {
			t.Fatal(err)
		}
		for i, count := range counts {
			d.Spec.Replicas = &count
			surge, least := deploymentutil.MaxSurge(*d), count-deploymentutil.MaxUnavailable(*d)
			for _, set := range slices.Concat(rolls[i].Groups, scales[i].Groups) {
				if set.Reason == nil {
					continue
				}
				if set.Reason == nil {
					continue
				}
				if words := leastWords.FindStringSubmatch(set.Reason.Text); words != nil {
					checked["unavailable"]++
					if words[1] != fmt.Sprint(max(0, least)) {
						t.Fatalf("%s of %d: upstream keeps %d available, and the preview: %s", budget.StrVal, count, least, set.Reason.Text)
					}
				}
				if words := shareWords.FindStringSubmatch(set.Reason.Text); words != nil {
					checked["surge"]++
					if all := int64(count + surge); words[1] != fmt.Sprint(max(all, -all)) || words[2] != map[bool]string{true: fmt.Sprint(surge)}[surge != 0] {
						t.Fatalf("%s of %d: upstream's surge is %d, and the preview: %s", budget.StrVal, count, surge, set.Reason.Text)
					}
				}
			}
		}
	}
	t.Logf("%v", checked)
	if most := len(counts) * len(percents); checked["unavailable"] < most*9/10 || checked["surge"] < most*9/10 {
		t.Error("too few to tell")
	}
}

var edges = []int32{1, 2, 3, 99, 100, 101, 199, 12_345, 1<<30 - 1, 1 << 30, math.MaxInt32 - 1, math.MaxInt32}

// A share of a set is rounded as upstream's floating point has it: all small ones, and those at the edges.
func TestDeploymentShares(t *testing.T) {
	t.Parallel()
	p, err := newPreviewer(t)
	if err != nil {
		t.Fatal(err)
	}
	logger, checked := klog.Background(), 0
	// With a second set, which is smaller, to make it one of several.
	shares := func(size, most int32, counts []int32) {
		zero := intstr.FromInt32(0)
		d := rollingDeployment(0, &zero, &zero)
		d.Spec.Paused = true
		sets := []*appsv1.ReplicaSet{oldSet(d, "a", size), oldSet(d, "b", 1)}
		sets[0].Annotations = map[string]string{deploymentutil.MaxReplicasAnnotation: fmt.Sprint(most)}
		previews, err := p.askDeployment(question{Counts: counts}, d, sets, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, count := range counts {
			set := previews[i].Groups[0]
			if count == size+1 || set.Reason.Rule == "rejected" || set.Reason.Rule == "not-reached" {
				continue
			}
			d.Spec.Replicas = &count
			want := deploymentutil.GetReplicaSetProportion(logger, sets[0], *d, count-size-1, 0)
			got, expected := fmt.Sprint(set.To), fmt.Sprint(max(0, size+want))
			if words := extraWords.FindStringSubmatch(set.Reason.Text); words != nil {
				got, expected = words[1], fmt.Sprintf("%+d", want)
			}
			if got != expected {
				t.Fatalf("size %d of max %d, count %d: upstream's share is %d, and the preview: %+v", size, most, count, want, set)
			}
			checked++
		}
	}
	var small []int32
	for count := range int32(40) {
		small = append(small, count)
	}
	for size := int32(2); size < 40; size++ {
		for most := int32(1); most < 40; most++ {
			shares(size, most, small)
		}
	}
	r := seeded(10, 0)
	number := func() int32 { return max(1, pick(r, pick(r, edges...), r.Int32(), r.Int32N(1000), r.Int32N(1<<16))) }
	for range 2_000 {
		counts := make([]int32, 100)
		for i := range counts {
			counts[i] = number()
		}
		shares(max(2, number()), number(), counts)
	}
	t.Logf("%d shares", checked)
	if checked < 200_000 {
		t.Error("too few to tell")
	}
}

func rollingDeployment(count int32, surge, unavailable *intstr.IntOrString) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web"},
		Spec: appsv1.DeploymentSpec{Replicas: &count, Selector: &metav1.LabelSelector{MatchLabels: labels},
			// No old set has the template.
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyAlways, Hostname: "new"}},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: surge, MaxUnavailable: unavailable}}}}
}

// oldSet is a set of the Deployment with another template, of which all pods are available.
func oldSet(d *appsv1.Deployment, name string, size int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name, UID: types.UID(name), Labels: d.Spec.Template.Labels,
			Annotations: map[string]string{}, OwnerReferences: owned(d, deploymentKind)},
		Spec: appsv1.ReplicaSetSpec{Replicas: &size, Selector: d.Spec.Selector,
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.Spec.Template.Labels}}},
		Status: appsv1.ReplicaSetStatus{Replicas: size, AvailableReplicas: size},
	}
}
