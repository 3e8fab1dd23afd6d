package cleanup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cleanup"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// shop is a set of 4 pods, whose count should fall to 2: those with annotations are selected.
type shop struct {
	testing.TB
	*fakeapi.API
	*cleanup.Cleaner
	now   time.Time
	event *events.FakeRecorder
	// isRestarted is whether the program was restarted. It has forgotten some things then, so the steps check nothing.
	isRestarted bool
}

var id = cleanup.Set{Kind: workload.ReplicaSet, Namespace: "shop", Name: "web", UID: fakeapi.UID(1, 0)}

const (
	deadline = 2 * time.Second
	patience = deadline + cleanup.Grace
)

func newShop(t testing.TB, annotations ...string) *shop {
	set, policy, pods := fakeapi.Shop(int32(max(4, len(annotations))))
	policy.Status.Workloads = []v1alpha1.WorkloadStatus{{Kind: "ReplicaSet", Name: "web", UID: id.UID, LastScaleDown: v1alpha1.ScaleDown{
		Time: metav1.NewTime(time.UnixMilli(0)), From: 4, To: 2, Result: "Steered",
	}}}
	for i, steered := range annotations {
		pods[i].Annotations = map[string]string{corev1.PodDeletionCost: "-1", cost.Annotation: steered}
		fakeapi.Manage(pods[i], cost.Manager, corev1.PodDeletionCost, cost.Annotation)
	}
	s := &shop{TB: t, API: fakeapi.New(fakeapi.All(pods, set, policy)...), now: time.Unix(1_700_000_000, 0)}
	s.start()
	return s
}

// start starts the program, which knows nothing but what is on the server.
func (s *shop) start() {
	s.Cleaner = &cleanup.Cleaner{
		Cache: s.API, Live: s.API.Bounded(), Costs: cost.NewWriter(s.API, s.API), Deadline: deadline, Now: func() time.Time { return s.now },
	}
	s.Reporter, s.event = s.NewReporter()
	// It is the only replica.
	s.Lead(time.Time{})
}

// follow starts the program, which does not lead.
func (s *shop) follow() {
	before := s.Cleaner
	s.Cleaner = &cleanup.Cleaner{Cache: before.Cache, Live: before.Live, Costs: before.Costs, Reporter: before.Reporter, Deadline: before.Deadline, Now: before.Now}
}

// pod identifies a pod.
func pod(number int) cost.Pod {
	return cost.Pod{Key: fakeapi.Key(fmt.Sprint("web-", number)), UID: fakeapi.UID(3, number)}
}

func steered(count int32) string { return steeredOf(count).String() }

func steeredOf(count int32) cost.Steered {
	return cost.Steered{Set: id.UID, Count: count, Request: fakeapi.UID(5, 0), Selected: true}
}

// keptOne is the annotation of a pod that is kept, which has a cost so that selected pods are deleted before it.
func keptOne() string {
	steered := steeredOf(2)
	steered.Selected = false
	return steered.String()
}

func (s *shop) must(err error) {
	s.Helper()
	fakeapi.Must(s, err)
}

// A step is something that happens.
type step func(*shop)

func (s *shop) play(steps ...step) {
	s.Helper()
	for _, step := range steps {
		step(s)
	}
}

// looks reconciles after some time.
func looks(later time.Duration) step {
	return func(s *shop) { s.look(later) }
}

func (s *shop) look(later time.Duration) time.Duration {
	s.Helper()
	s.now = s.now.Add(later)
	result, err := s.Reconcile(context.Background(), id)
	s.must(err)
	return result.RequeueAfter
}

// rests looks after some time, and checks that it need not look again.
func (s *shop) rests(later time.Duration) {
	s.Helper()
	if wait := s.look(later); wait != 0 {
		s.Errorf("looks again after %v", wait)
	}
}

// counts sets the set's count. Its controller has yet to see that.
func counts(count int32) step {
	return func(s *shop) {
		set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
		set.Generation++
		set.Spec.Replicas = &count
		s.must(s.Update(context.Background(), set))
	}
}

// deletes deletes pods.
func deletes(numbers ...int) step {
	return func(s *shop) {
		for _, number := range numbers {
			s.must(s.Delete(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: id.Namespace, Name: pod(number).Key.Name}}))
		}
	}
}

// settles has the set's controller say that it has seen the count, and how many pods there are.
func settles(s *shop) {
	var pods corev1.PodList
	s.must(s.List(context.Background(), &pods))
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Status.Replicas, set.Status.ObservedGeneration = int32(len(pods.Items)), set.Generation
	s.must(s.Status().Update(context.Background(), set))
}

// writes has a request write the cost and the annotation of a pod.
func writes(number int, steered cost.Steered) step {
	return func(s *shop) {
		s.must(s.Costs.Write(context.Background(), []cost.Write{{Pod: pod(number), Cost: new(int32(-1)), Steered: steered}})[0])
	}
}

// writesOver has it write over the cost of somebody else, which it remembers.
func writesOver(number int, steered cost.Steered) step {
	return func(s *shop) {
		write := cost.Write{Pod: pod(number), Cost: new(int32(-1)), Steered: steered, Previous: &cost.Previous{Value: "5", Manager: "karpenter"}}
		s.must(s.Costs.Write(context.Background(), []cost.Write{write})[0])
	}
}

// writtenBy checks who has written a pod's cost, but for this program.
func writtenBy(name, want string) step {
	return func(s *shop) {
		if got := cost.WriterOf(fakeapi.Read[corev1.Pod](s, s.API, name)); got != want && !s.isRestarted {
			s.Errorf("the cost of %s is written by %q", name, got)
		}
	}
}

// withdraws has the replica that answered remove its costs, because the request failed. The API server may have scaled
// down all the same, so the leader reports the deleted pods at the end.
func withdraws(s *shop) {
	for i := range 2 {
		err := s.Costs.Remove(context.Background(), []cost.Undo{{Pod: pod(i), Steered: steeredOf(2)}})[0]
		if !errors.Is(err, cost.ErrChanged) {
			s.must(err)
		}
	}
	s.look(time.Second)
}

// isOpen checks that the end has not been reported.
func isOpen(s *shop) {
	if down := s.last(); down.Deleted != nil && !s.isRestarted {
		s.Fatalf("told before it is over: %+v", down)
	}
}

// lags freezes the cache, and catchesUp ends that.
func lags(s *shop)      { s.Cache = s.frozen() }
func catchesUp(s *shop) { s.Cache = s.API }

// fails looks so often, once a minute, while no cost can be written.
func fails(minutes int) step {
	return func(s *shop) {
		s.Before = func(*fakeapi.Write) error { return errors.New("no answer") }
		for range minutes {
			s.now = s.now.Add(time.Minute)
			_, _ = s.Reconcile(context.Background(), id)
		}
		s.Before = nil
	}
}

// templateCosts gives the template a cost.
func templateCosts(s *shop) {
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
	s.must(s.Update(context.Background(), set))
}

// overrules has somebody write another cost.
func overrules(name string) step {
	return func(s *shop) {
		pod := fakeapi.Read[corev1.Pod](s, s.API, name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, corev1.PodDeletionCost, "100")
		s.must(s.Update(context.Background(), pod, client.FieldOwner("somebody")))
	}
}

// forces has kubectl podrank write its cost over that of a pod, as with --force-conflicts, and undoes has it remove what it has written.
func forces(number int) step {
	return applies(number, map[string]string{corev1.PodDeletionCost: "-7"})
}
func undoes(number int) step { return applies(number, nil) }

func applies(number int, annotations map[string]string) step {
	return func(s *shop) {
		apply := applycorev1.Pod(pod(number).Key.Name, id.Namespace).WithUID(pod(number).UID).WithAnnotations(annotations)
		s.must(client.IgnoreNotFound(s.Apply(context.Background(), apply, client.FieldOwner(cost.Terminal), client.ForceOwnership)))
	}
}

// plans has pods selected that need no cost.
func plans(selected ...cost.Pod) step {
	return func(s *shop) {
		for _, pod := range selected {
			s.must(s.Costs.Write(context.Background(), []cost.Write{{Pod: pod, Steered: steeredOf(2)}})[0])
		}
	}
}

// costs checks a pod's cost.
func costs(name, want string) step {
	return func(s *shop) {
		if pod := fakeapi.Read[corev1.Pod](s, s.API, name); pod.Annotations[corev1.PodDeletionCost] != want && !s.isRestarted {
			s.Error(pod.Annotations)
		}
	}
}

// has checks which pods have an annotation.
func has(names ...string) step {
	return func(s *shop) {
		s.Helper()
		if !s.isRestarted {
			s.has(names...)
		}
	}
}

func (s *shop) has(names ...string) {
	s.Helper()
	var pods corev1.PodList
	s.must(s.List(context.Background(), &pods))
	var annotated []string
	for _, pod := range pods.Items {
		if _, ok := cost.SteeredOf(&pod); ok {
			annotated = append(annotated, pod.Name)
		} else if pod.Annotations[corev1.PodDeletionCost] == "-1" {
			s.Errorf("%s has a cost without an annotation", pod.Name)
		}
	}
	if !slices.Equal(annotated, names) {
		s.Fatalf("annotated: %v, not %v", annotated, names)
	}
}

func (s *shop) policy() *v1alpha1.ScaleDownPolicy {
	return fakeapi.Read[v1alpha1.ScaleDownPolicy](s, s.API, "spot")
}

// last is what the status says of the set.
func (s *shop) last() *v1alpha1.ScaleDown {
	return &s.policy().Status.Workload(id.UID).LastScaleDown
}

// ended checks what the status says.
func (s *shop) ended(deleted, missed int32, why string) {
	s.Helper()
	down := s.last()
	if down.Deleted == nil || *down.Deleted != deleted || *down.Missed != missed || !strings.Contains(down.MissedMessage, why) {
		s.Fatalf("%+v, deleted %v, missed %v", down, down.Deleted, down.Missed)
	}
	if missed > 0 {
		if event := <-s.event.Events; !strings.Contains(event, "Missed") || !strings.Contains(event, why) {
			s.Errorf("event: %s", event)
		}
	}
}

var both = []string{steered(2), steered(2)}

// scaleDowns is what may happen, and how it ends.
var scaleDowns = map[string]struct {
	annotations     []string
	steps           []step
	deleted, missed int32
	why             string
}{
	"all go": {both, []step{counts(2), looks(time.Second), has("web-0", "web-1"), deletes(0, 1), looks(time.Minute)}, 2, 0, ""},
	// The program keeps the costs as long as the controller works.
	"all go, in several syncs of 500 deletions": {both, []step{
		counts(2), settles, looks(time.Second), deletes(0), settles, looks(time.Hour), has("web-1"), deletes(1), settles, looks(time.Second),
	}, 2, 0, ""},
	"the count does not fall, since another webhook refuses the request": {both, []step{
		looks(patience - time.Second), has("web-0", "web-1"), looks(time.Second),
	}, 0, 2, "NotScaledDown"},
	// Its pods have the annotations of the second.
	"the count does not fall a second time, while the first fall continues": {both, []step{
		counts(3), settles, looks(time.Hour), has("web-0", "web-1"), deletes(0), settles, looks(time.Second),
	}, 1, 1, "NotScaledDown: web-1"},
	// The program reports the end once it is over for all of them.
	"costs that were written one after the other": {both[:1], []step{
		writes(1, steeredOf(2)), looks(time.Second), looks(patience - time.Second), isOpen, has("web-0", "web-1"), looks(time.Second),
	}, 0, 2, "NotScaledDown: "},
	"another goes": {both, []step{counts(2), deletes(0, 2), settles, looks(time.Second)}, 1, 1, "OtherPodsDeleted: web-1"},
	"another goes, since somebody writes a lower cost": {both, []step{
		overrules("web-3"), counts(2), deletes(0, 2), settles, looks(time.Second), costs("web-3", "100"),
	}, 1, 1, "OtherPodsDeleted: web-1"},
	"the count rises again":      {both, []step{counts(2), looks(time.Second), counts(4), looks(time.Second)}, 0, 2, "ScaledUpAgain"},
	"a cost on one that is kept": {append(both, keptOne()), []step{counts(2), deletes(0, 1), settles, looks(time.Second)}, 2, 0, ""},
	"one that needs no cost": {nil, []step{
		plans(pod(0), pod(1)), counts(2), looks(0), deletes(0, 2), settles, looks(time.Second),
	}, 1, 1, "OtherPodsDeleted: web-1"},
	"the cost of the template is restored": {both[:1], []step{templateCosts, looks(patience), costs("web-0", "10")}, 0, 1, "NotScaledDown"},
	"somebody overrules a cost": {both, []step{
		overrules("web-1"), looks(time.Second), counts(2), deletes(0, 2), settles, looks(time.Second), costs("web-1", "100"),
	}, 1, 1, "CostChanged: web-1 (cost written by somebody)"},
	"somebody overrules a cost before anybody looks": {both[:1], []step{
		writes(1, steeredOf(2)), overrules("web-1"), counts(2), deletes(0, 2), settles, looks(time.Second), costs("web-1", "100"),
	}, 1, 1, "CostChanged: web-1 (cost written by somebody)"},
	"a cost that was overwritten comes back": {nil, []step{
		writesOver(0, steeredOf(2)), writesOver(1, steeredOf(2)), looks(0), counts(2), deletes(1, 2), settles, looks(time.Second), costs("web-0", "5"), writtenBy("web-0", "karpenter"),
	}, 1, 1, "OtherPodsDeleted: web-0"},
	"a cost that was overwritten comes back where the template has one": {nil, []step{
		templateCosts, writesOver(0, steeredOf(2)), looks(0), looks(patience), costs("web-0", "5"), writtenBy("web-0", "karpenter"),
	}, 0, 1, "NotScaledDown"},
	"a cost that was overwritten does not come back if somebody has written one since": {nil, []step{
		writesOver(0, steeredOf(2)), overrules("web-0"), looks(time.Second), looks(patience), costs("web-0", "100"), writtenBy("web-0", "somebody"),
	}, 0, 1, "NotScaledDown"},
	"somebody overrules a cost where the template has one": {both[:1], []step{
		templateCosts, overrules("web-0"), counts(2), deletes(2, 3), settles, looks(time.Second), costs("web-0", "100"),
	}, 0, 1, "CostChanged: web-0"},
	"its annotations are removed": {both, []step{withdraws, isOpen, looks(patience)}, 0, 2, "NotScaledDown"},
	"the request fails, and is let through": {both, []step{
		withdraws, isOpen, counts(2), looks(time.Second), deletes(0, 1), settles, looks(time.Second),
	}, 2, 0, ""},
	"its annotations are removed after the count has fallen": {both, []step{
		counts(2), looks(time.Second), withdraws, deletes(0, 2), settles, looks(time.Second),
	}, 1, 1, "CostChanged: web-1"},
	"one that needs no cost, and is gone before the count falls": {nil, []step{
		plans(pod(0), pod(1)), looks(0), deletes(0), looks(time.Second), looks(patience),
	}, 1, 1, "NotScaledDown: web-1"},
	"the API server knows more than the cache, before the count falls": {both[:1], []step{
		plans(pod(1)), looks(0), lags, deletes(0, 1), looks(patience), catchesUp, looks(time.Second),
	}, 2, 0, ""},
	"the API server knows more than the cache, after the count has fallen": {both[:1], []step{
		plans(pod(1)), looks(0), counts(2), looks(time.Second), lags, deletes(0, 1), settles, looks(time.Second), looks(time.Second), catchesUp, looks(time.Second),
	}, 2, 0, ""},
	"the cache has an annotation for long that was removed": {both, []step{
		counts(2), lags, deletes(0, 2), settles, looks(time.Second), looks(time.Minute), catchesUp,
	}, 1, 1, "OtherPodsDeleted: web-1"},
	"one goes after its cost was removed": {both, []step{
		counts(2), lags, deletes(2, 3), settles, looks(time.Second), deletes(0), catchesUp, looks(time.Second),
	}, 0, 2, "OtherPodsDeleted: "},
	// The cost is removed in the end, or deleted with its pod.
	"a cost that cannot be removed for some time": {both, []step{
		counts(2), deletes(2, 3), settles, fails(2), deletes(0), withdraws,
	}, 0, 2, "OtherPodsDeleted: "},
	// docs/protocol.md: what kubectl podrank does to annotated pods, at each step.
	"kubectl podrank takes a cost over before the count falls": {both, []step{
		forces(1), looks(time.Second), counts(2), deletes(0, 2), settles, looks(time.Second), costs("web-1", "-7"), undoes(1), costs("web-1", ""),
	}, 1, 1, "CostChanged: web-1"},
	"kubectl podrank takes a cost over after the count has fallen": {both, []step{
		counts(2), looks(time.Second), forces(1), deletes(0, 2), settles, looks(time.Second), costs("web-1", "-7"), undoes(1), costs("web-1", ""),
	}, 1, 1, "CostChanged: web-1"},
	"kubectl podrank takes a cost over, and undoes that": {both, []step{
		forces(1), looks(time.Second), undoes(1), looks(time.Second), counts(2), deletes(0, 2), settles, looks(time.Second), costs("web-1", ""),
	}, 1, 1, "CostChanged: web-1"},
	"kubectl podrank undoes where the template has a cost": {both[:1], []step{
		templateCosts, forces(0), undoes(0), looks(time.Second), looks(patience), costs("web-0", "10"),
	}, 0, 1, "NotScaledDown: web-0"},
	"kubectl podrank undoes, though it has done nothing": {both, []step{
		undoes(0), counts(2), undoes(1), looks(time.Second), undoes(0), deletes(0, 1), looks(time.Second),
	}, 2, 0, ""},
	"its annotations are removed, and another goes": {both, []step{withdraws, isOpen, counts(2), deletes(0, 2), settles, looks(time.Second)}, 1, 1, "CostChanged: web-1"},
}

// At the end of a scale-down, all costs are removed and the end is reported, even if the program is restarted at any
// time.
func TestEnds(t *testing.T) {
	for name, c := range scaleDowns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, c.annotations...)
			s.end(c.steps, c.deleted, c.missed, c.why)
			for i := range c.steps {
				s.restarts(c.annotations, c.steps, i, false)
				s.restarts(c.annotations, c.steps, i, true)
			}
		})
	}
}

// restarts plays a scale-down to its end, and restarts the program after this number of steps. If the program only
// observes from then on, it removes all costs immediately.
func (s *shop) restarts(annotations []string, steps []step, after int, observes bool) {
	s.Helper()
	s = newShop(s.TB, annotations...)
	s.look(0)
	s.play(steps[:after]...)
	s.start()
	s.Observes, s.isRestarted = observes, true
	if observes {
		s.look(0)
		s.has()
	}
	s.play(steps[after:]...)
	s.play(settles, looks(0), looks(patience), looks(time.Second))
	s.has()
}

// passes is a barrier that never waits.
func passes(context.Context) error { return nil }

// In the middle of a scale-down, the administrator switches the whole cluster to Observe. The program removes the costs
// immediately, though the scale-down continues, and only observes the next one. Once the mode is Steer again, it steers
// again.
func TestModeObserve(t *testing.T) {
	s := newShop(t)
	asked := 0
	falls := func(to int32, result steer.Result) {
		t.Helper()
		asked++
		set := fakeapi.Read[appsv1.ReplicaSet](t, s.API, "web")
		steerer := s.NewSteerer(passes, s.now)
		steerer.Observes = s.Observes
		o := steerer.Steer(context.Background(), steer.Request{
			UID: fakeapi.UID(5, asked), Kind: id.Kind, Key: fakeapi.Key("web"), From: *set.Spec.Replicas, To: to, SetUID: set.UID, SetVersion: set.ResourceVersion,
		})
		if o.Result != result {
			t.Fatalf("%s: %s", o.Result, o.Message)
		}
		s.Reporter.Outcome(context.Background(), o)
	}
	told := func(want string) {
		t.Helper()
		if last := s.last(); last.Result != want {
			t.Errorf("%+v, not %q", last, want)
		}
	}
	s.must(s.Create(context.Background(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"lifecycle": "spot"}}}))
	falls(2, steer.Steered)
	told("Steered")
	s.play(looks(0), has("web-1", "web-3"), counts(2), deletes(1))
	s.start()
	s.Observes = true
	s.look(0)
	s.has()
	isOpen(s)
	s.play(deletes(0), settles, looks(time.Second))
	s.ended(0, 1, "SteeringStopped: web-3")
	s.rests(time.Second)
	before := len(s.Written())
	falls(1, steer.Observed)
	if len(s.Written()) != before {
		t.Errorf("written: %v", s.Written()[before:])
	}
	s.start()
	falls(1, steer.Steered)
	told("Steered")
	s.has("web-3")
}

// end plays a scale-down to its end.
func (s *shop) end(steps []step, deleted, missed int32, why string) {
	s.Helper()
	s.look(0)
	s.play(steps...)
	s.has()
	s.ended(deleted, missed, why)
	// The cache has seen it, so it is forgotten.
	s.rests(time.Second)
}

// logs returns what the log will say of ends, in order.
func (s *shop) logs() func() []string {
	var lines []string
	var mu sync.Mutex
	s.Reporter.Log = funcr.NewJSON(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		var of struct {
			End *struct {
				Generation          int64
				To, Deleted, Missed int
			}
		}
		s.must(json.Unmarshal([]byte(line), &of))
		if e := of.End; e != nil {
			lines = append(lines, fmt.Sprintf("%d to %d: %d deleted, %d missed", e.Generation, e.To, e.Deleted, e.Missed))
		}
	}, funcr.Options{})
	return func() []string {
		slices.Sort(lines)
		return lines
	}
}

// said checks what the log said of ends.
func said(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

// Two falls in quick succession, as a rollout makes them, are two scale-downs. The status has the later one, and the log both.
func TestTwoFalls(t *testing.T) {
	s := newShop(t, steered(3), steered(2))
	logs := s.logs()
	s.play(looks(0), counts(2), deletes(0), looks(time.Second), deletes(1), looks(time.Second))
	s.ended(1, 0, "")
	// The status does not know of the first one, of which another replica could still report.
	said(t, logs(), "0 to 2: 1 deleted, 0 missed")
	s.look(10 * time.Second)
	said(t, logs(), "0 to 2: 1 deleted, 0 missed", "0 to 3: 1 deleted, 0 missed")
}

// A later fall wants all pods of one that is not over, and so they count with that one alone, but not a pod that only the first one wants.
func TestTakenOver(t *testing.T) {
	for _, own := range []bool{false, true} {
		annotations := []string{steered(3), steered(3)}
		if own {
			annotations = append(annotations, steered(3))
		}
		s := newShop(t, annotations...)
		logs := s.logs()
		s.play(looks(0), writes(0, steeredOf(2)), writes(1, steeredOf(2)), looks(time.Second), counts(2), deletes(0, 1), settles)
		s.play(looks(time.Second), looks(10*time.Second))
		s.ended(2, 0, "")
		if want := []string{"0 to 2: 2 deleted, 0 missed", "0 to 3: 0 deleted, 1 missed"}; own {
			said(t, logs(), want...)
		} else {
			said(t, logs(), want[0])
		}
	}
}

// forbids refuses all writes to web-0 as long as it returns true.
func (s *shop) forbids() *bool {
	forbids := true
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-0" && forbids {
			return apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no"))
		}
		return nil
	}
	return &forbids
}

// The cost of one pod cannot be removed. The program removes all other costs, reports all pods once, and tries again
// once in each pass.
func TestOneFails(t *testing.T) {
	for _, observes := range []bool{false, true} {
		s := newShop(t, steered(2), steered(2))
		s.look(0)
		s.Observes = observes
		forbids := s.forbids()
		s.play(counts(2), deletes(2, 3), settles)
		missed, failures := since(t, "pods_missed_total"), since(t, "removal_failures_total")
		for range 3 {
			s.now = s.now.Add(time.Minute)
			if _, err := s.Reconcile(context.Background(), id); err == nil || !strings.Contains(err.Error(), "forbidden") {
				t.Errorf("%v", err)
			}
		}
		s.has("web-0")
		s.ended(0, 2, "OtherPodsDeleted")
		missed(2)
		failures(3)
		*forbids = false
		s.look(time.Minute)
		s.has()
		s.rests(time.Second)
	}
}

// One of many kept pods cannot be read. The program reads all other pods once, even if no status has the scale-down
// yet, and removes their costs.
func TestOneUnread(t *testing.T) {
	for name, isKnown := range map[string]bool{"a status knows it": true, "no status knows it": false} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, slices.Repeat([]string{steered(2)}, 210)...)
			if policy := s.policy(); !isKnown {
				policy.Status.Workloads = nil
				s.must(s.Status().Update(context.Background(), policy))
			}
			var reads atomic.Int64
			s.Costs = cost.NewWriter(s.API, interceptor.NewClient(s.API, interceptor.Funcs{
				Get: func(ctx context.Context, live client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if reads.Add(1); key.Name == "web-7" {
						return errors.New("no answer")
					}
					return live.Get(ctx, key, object, options...)
				},
			}))
			look := func(times int) {
				for range times {
					s.now = s.now.Add(time.Second / 2)
					_, _ = s.Reconcile(context.Background(), id)
				}
			}
			s.look(0)
			s.now = s.now.Add(patience)
			for range 3 {
				before := reads.Load()
				if look(1); reads.Load() > before+200 {
					t.Errorf("%d reads in a pass", reads.Load()-before)
				}
			}
			look(6)
			if count := reads.Load(); count < 210 || count > 220 {
				t.Errorf("%d reads", count)
			}
			if isKnown {
				isOpen(s)
			}
			look(20)
			s.has("web-7")
			s.ended(0, 210, "NotScaledDown")
		})
	}
}

// A pod that should have been deleted and was kept is selected again, and its cost fits, just before it is removed. The cache does not show the
// new annotation yet.
func TestSelectedAgain(t *testing.T) {
	s := newShop(t, steered(2), steered(2))
	s.play(looks(0), counts(2), deletes(0, 2), settles)
	s.Cache = s.frozen()
	later := steeredOf(1)
	later.Request = fakeapi.UID(5, 1)
	s.play(writes(1, later), looks(time.Second), has("web-1"))
	s.ended(1, 1, "OtherPodsDeleted: web-1")
	s.Cache = s.API
	s.play(looks(time.Second), has("web-1"), counts(1), deletes(1), looks(time.Second))
	s.rests(10 * time.Second)
}

// A cache that shows a removed annotation for a long time does not change the report.
func TestStale(t *testing.T) {
	s := newShop(t, steered(2))
	s.play(looks(0), counts(2), deletes(2, 3), settles)
	s.Cache = s.frozen()
	missed := since(t, "pods_missed_total")
	for range 20 {
		s.look(10 * time.Second)
	}
	s.has()
	s.ended(0, 1, "OtherPodsDeleted: web-0")
	missed(1)
	s.Cache = s.API
	s.look(time.Second)
	s.rests(time.Second)
}

// frozen is a cache that lags.
func (s *shop) frozen() client.Reader {
	s.Helper()
	var pods corev1.PodList
	s.must(s.List(context.Background(), &pods))
	objects := []client.Object{fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web"), s.policy()}
	for i := range pods.Items {
		objects = append(objects, &pods.Items[i])
	}
	return fakeapi.New(objects...)
}

// since returns a check of how much a metric has grown since, over all labels.
func since(t testing.TB, name string) func(want float64) {
	metric := func() (value float64) {
		families, err := metrics.Registry.Gather()
		fakeapi.Must(t, err)
		for _, family := range families {
			if family.GetName() == "podrank_webhook_"+name {
				for _, each := range family.Metric {
					value += each.GetCounter().GetValue()
				}
			}
		}
		return value
	}
	before := metric()
	return func(want float64) {
		t.Helper()
		if grown := metric() - before; grown != want {
			t.Errorf("%s grew by %v, not %v", name, grown, want)
		}
	}
}

// The set is deleted in the middle of a scale-down, and perhaps made again under its name. Nothing is left to look at.
func TestSetDeleted(t *testing.T) {
	for _, again := range []bool{false, true} {
		s := newShop(t, steered(2), steered(2))
		s.play(looks(0), deletes(0))
		set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
		s.must(s.Delete(context.Background(), set))
		if again {
			set.UID, set.ResourceVersion = "another", ""
			s.must(s.Create(context.Background(), set))
		}
		done := since(t, "pods_deleted_total")
		if wait := s.look(time.Second); wait == 0 {
			t.Error("does not look again although a pod is there")
		}
		s.play(deletes(1))
		s.rests(time.Second)
		done(2)
	}
}

// The set is deleted and leaves its pods behind.
func TestOrphans(t *testing.T) {
	s := newShop(t, steered(2))
	s.look(0)
	s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")))
	s.look(time.Minute)
	s.has("web-0")
	_, err := s.Reconcile(context.Background(), cleanup.Set{Namespace: id.Namespace, Name: "web-0"})
	s.must(err)
	s.has()
}

// A pod whose owner is none that there is, by kind, name, namespace and UID, costs no request, and changes nothing about the set that it names.
func TestNoSuchOwner(t *testing.T) {
	s := newShop(t, steered(2), steered(2))
	elsewhere := fakeapi.Read[corev1.Pod](s, s.API, "web-0").DeepCopy()
	elsewhere.Namespace, elsewhere.Name, elsewhere.UID, elsewhere.ResourceVersion = "another", "forged", fakeapi.UID(9, 9), ""
	other := fakeapi.Read[corev1.Pod](s, s.API, "web-1").DeepCopy()
	other.Name, other.UID, other.ResourceVersion, other.OwnerReferences[0].UID = "other", fakeapi.UID(9, 8), "", fakeapi.UID(9, 1)
	s.Make(t, elsewhere, other)
	s.Live = nil
	for _, forged := range []cleanup.Set{
		{Kind: workload.ReplicaSet, Namespace: id.Namespace, Name: "other", UID: id.UID},
		{Kind: workload.ReplicationController, Namespace: id.Namespace, Name: "web", UID: id.UID},
		{Kind: workload.ReplicaSet, Namespace: "another", Name: "web", UID: id.UID},
		{Kind: workload.ReplicaSet, Namespace: id.Namespace, Name: "web", UID: fakeapi.UID(9, 1)},
	} {
		result, err := s.Reconcile(context.Background(), forged)
		s.must(err)
		if result.RequeueAfter != 0 {
			t.Errorf("%+v is looked at again", forged)
		}
	}
	s.must(s.Delete(context.Background(), other))
	s.Live = s.API.Bounded()
	missed := since(t, "pods_missed_total")
	s.play(looks(0), looks(patience))
	s.ended(0, 2, "NotScaledDown")
	missed(2)
}

// While one set of a namespace is looked at, another one of it takes no worker, and one of another namespace does.
func TestOneOfEach(t *testing.T) {
	s := newShop(t, steered(2))
	s.look(0)
	other, another := cleanup.Set{Namespace: id.Namespace, Name: "web-0"}, id
	another.Namespace = "another"
	var waits []time.Duration
	s.Before = func(*fakeapi.Write) error {
		for _, set := range []cleanup.Set{other, another} {
			result, err := s.Reconcile(context.Background(), set)
			s.must(err)
			waits = append(waits, result.RequeueAfter)
		}
		return nil
	}
	s.look(patience)
	if want := []time.Duration{50 * time.Millisecond, 0}; !slices.Equal(waits, want) {
		t.Errorf("%v, not %v", waits, want)
	}
	s.has()
}

// While one set of a namespace is looked at, a pod of another one is annotated, and deleted immediately.
func TestAnnotatedWhileBusy(t *testing.T) {
	s := newShop(t, steered(2))
	s.look(0)
	other := id
	other.Name, other.UID = "other", fakeapi.UID(1, 7)
	set, pod := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web"), fakeapi.Read[corev1.Pod](s, s.API, "web-3")
	set.Name, set.UID, set.ResourceVersion = other.Name, other.UID, ""
	pod.Name, pod.UID, pod.ResourceVersion = "other-0", fakeapi.UID(9, 1), ""
	pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = other.Name, other.UID
	of := steeredOf(1)
	of.Set = other.UID
	pod.Annotations = map[string]string{corev1.PodDeletionCost: "-1", cost.Annotation: of.String()}
	fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost, cost.Annotation)
	s.Make(t, set, pod)
	look := func() {
		_, err := s.Reconcile(context.Background(), other)
		s.must(err)
	}
	s.Before = func(*fakeapi.Write) error {
		look()
		return nil
	}
	done := since(t, "pods_deleted_total")
	s.look(patience)
	s.must(s.Delete(context.Background(), pod))
	for range 2 {
		look()
		s.now = s.now.Add(patience)
	}
	done(1)
}

// follows has a replica that does not lead look after some time.
func follows(later time.Duration) step {
	return func(s *shop) {
		s.Helper()
		s.now = s.now.Add(later)
		_, err := s.Reconcile(context.Background(), id)
		s.must(err)
	}
}

// watchesDeletion deletes a pod, and has the follower watch that.
func watchesDeletion(number int) step {
	return func(s *shop) {
		deleted := workload.Metadata("Pod")
		s.must(s.Get(context.Background(), pod(number).Key, deleted))
		deletes(number)(s)
		s.Deleted(deleted)
	}
}

// A leader that is killed while pods are deleted leaves nothing on the server of those that have been deleted. The next one has seen their annotations.
func TestFollow(t *testing.T) {
	for name, c := range map[string]struct {
		steps []step
		// told is whether the previous leader has reported the end.
		told    bool
		deleted int32
	}{
		"nobody has told the end":                        {[]step{follows(0), counts(2), deletes(0, 1), settles, follows(time.Second)}, false, 2},
		"one was deleted before its annotation was seen": {[]step{watchesDeletion(0), follows(0), counts(2), deletes(1), settles, follows(time.Second)}, false, 2},
		"one pod is kept":                                {[]step{follows(0), counts(2), deletes(0, 2), settles, follows(time.Second)}, false, 1},
		"the end is told":                                {[]step{follows(0), counts(2), deletes(0, 1), settles, follows(time.Second)}, true, 2},
		"they were annotated long ago":                   {[]step{follows(0), counts(2), follows(61 * time.Second), deletes(0, 1), settles, follows(time.Second)}, false, 2},
		"it was long ago":                                {[]step{follows(0), counts(2), deletes(0, 1), settles, follows(time.Second), follows(2 * time.Minute)}, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, both...)
			s.follow()
			s.play(c.steps...)
			policy := s.policy()
			if c.told {
				policy.Status.Workloads[0].LastScaleDown.Deleted, policy.Status.Workloads[0].LastScaleDown.Missed = new(int32(2)), new(int32)
			}
			s.must(s.Status().Update(context.Background(), policy))
			done := since(t, "pods_deleted_total")
			s.now = s.now.Add(time.Second)
			s.Lead(s.now)
			s.look(0)
			if down := s.last(); down.Deleted == nil || *down.Deleted != c.deleted {
				t.Errorf("%+v", down)
			}
			done(map[bool]float64{false: float64(c.deleted), true: 0}[c.told])
			if c.deleted == 1 {
				if event := <-s.event.Events; !strings.Contains(event, "OtherPodsDeleted: web-1") {
					t.Error(event)
				}
			}
			s.play(follows(0))
		})
	}
}

// A scale-down that begins after the election, and before the first event, is not one of the leader before.
func TestSinceElection(t *testing.T) {
	s := newShop(t)
	s.Lead(s.now)
	s.now = s.now.Add(time.Minute)
	of, policy := steeredOf(2), s.policy()
	of.First = s.now.UnixMilli()
	last := &policy.Status.Workloads[0].LastScaleDown
	last.Time, last.Selected = metav1.NewTime(s.now), 5
	s.must(s.Status().Update(context.Background(), policy))
	s.play(writes(0, of), looks(time.Second), counts(2), deletes(0), settles, looks(time.Second))
	s.ended(1, 0, "")
}

// A pod that is deleted before the leader has seen its annotation counts, once, however long it takes to end.
func TestAnnotatedLate(t *testing.T) {
	s := newShop(t, both...)
	for i := range 2 {
		deleted := fakeapi.Read[corev1.Pod](s, s.API, pod(i).Key.Name)
		deleted.Finalizers = []string{"example.com/slow"}
		s.must(s.Update(context.Background(), deleted))
		s.must(s.Delete(context.Background(), deleted))
	}
	done := since(t, "pods_deleted_total")
	s.play(counts(2), settles)
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Status.Replicas = 2
	s.must(s.Status().Update(context.Background(), set))
	s.play(looks(time.Second))
	s.ended(2, 0, "")
	s.rests(time.Minute)
	s.rests(time.Minute)
	done(2)
	for i := range 2 {
		deleted := fakeapi.Read[corev1.Pod](s, s.API, pod(i).Key.Name)
		deleted.Finalizers = nil
		s.must(s.Update(context.Background(), deleted))
	}
	s.rests(time.Minute)
	done(2)
}

// The next leader distinguishes two scale-downs to the same replica count, one after the other.
func TestFollowTwo(t *testing.T) {
	s := newShop(t, both...)
	s.follow()
	second := steeredOf(2)
	second.Generation, second.Request, second.First = 7, fakeapi.UID(5, 7), 60_000
	s.play(follows(0), counts(2), deletes(0, 1), settles, follows(time.Second), counts(4), writes(2, second), follows(time.Second), counts(2), deletes(2), settles, follows(time.Second))
	policy := s.policy()
	last := &policy.Status.Workloads[0].LastScaleDown
	last.Time, last.Generation = metav1.NewTime(time.Unix(60, 0)), 7
	s.must(s.Status().Update(context.Background(), policy))
	logs := s.logs()
	s.now = s.now.Add(time.Second)
	s.Lead(s.now)
	s.look(0)
	if down := s.last(); down.Deleted == nil || *down.Deleted != 1 {
		t.Errorf("%+v", down)
	}
	said(t, logs(), "0 to 2: 2 deleted, 0 missed", "7 to 2: 1 deleted, 0 missed")
}
