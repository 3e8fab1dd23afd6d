package cleanup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// shop is a set of 4 pods, whose count should fall to 2: web-0 and web-1 are marked.
type shop struct {
	testing.TB
	*fakeapi.API
	*cleanup.Cleaner
	now   time.Time
	event *events.FakeRecorder
}

var id = cleanup.Set{Kind: workload.ReplicaSet, Namespace: "shop", Name: "web", UID: fakeapi.UID(1, 0)}

func newShop(t *testing.T, marks ...string) *shop {
	set, policy, pods := fakeapi.Shop(4)
	policy.Status.ScaleDowns = []v1alpha1.ScaleDown{{Kind: "ReplicaSet", Name: "web", UID: id.UID, From: 4, To: 2, Result: "Steered"}}
	objects := []client.Object{set, policy}
	for i, pod := range pods {
		if i < len(marks) && marks[i] != "" {
			pod.Annotations = map[string]string{corev1.PodDeletionCost: "-1", cost.Annotation: marks[i]}
			fakeapi.Manage(pod, cost.Manager, corev1.PodDeletionCost, cost.Annotation)
		}
		objects = append(objects, pod)
	}
	s := &shop{TB: t, API: fakeapi.New(objects...), now: time.Unix(1_700_000_000, 0)}
	s.Cleaner = &cleanup.Cleaner{
		Cache: s.API, Live: s.API.Bounded(), Costs: cost.NewWriter(s.API, s.API), Plans: &steer.Plans{}, Patience: 12 * time.Second, Now: func() time.Time { return s.now },
	}
	s.Reporter, s.event = s.NewReporter()
	return s
}

// pod identifies a pod.
func pod(number int) cost.Pod {
	return cost.Pod{Key: fakeapi.Key(fmt.Sprint("web-", number)), UID: fakeapi.UID(3, number)}
}

func mark(count int32) string { return markOf(count).String() }

func markOf(count int32) cost.Mark {
	return cost.Mark{Set: id.UID, Count: count, Request: fakeapi.UID(5, 0), Goes: true}
}

func (s *shop) must(err error) {
	s.Helper()
	fakeapi.Must(s, err)
}

// look reconciles after some time.
func (s *shop) look(later time.Duration) time.Duration {
	s.Helper()
	s.now = s.now.Add(later)
	result, err := s.Reconcile(context.Background(), id)
	s.must(err)
	return result.RequeueAfter
}

// count sets the set's count, and what its controller says about it.
func (s *shop) count(count, active int32, observed bool) {
	s.Helper()
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Generation++
	set.Spec.Replicas, set.Status.Replicas = &count, active
	if observed {
		set.Status.ObservedGeneration = set.Generation
	}
	status := set.Status
	s.must(s.Update(context.Background(), set))
	set.Status = status
	s.must(s.Status().Update(context.Background(), set))
}

func (s *shop) deletePods(numbers ...int) {
	s.Helper()
	for _, number := range numbers {
		s.must(s.Delete(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: id.Namespace, Name: fmt.Sprint("web-", number)}}))
	}
}

// rests looks after some time, and checks that it need not look again.
func (s *shop) rests(later time.Duration) {
	s.Helper()
	if wait := s.look(later); wait != 0 {
		s.Errorf("looks again after %v", wait)
	}
}

func (s *shop) policy() *v1alpha1.ScaleDownPolicy {
	return fakeapi.Read[v1alpha1.ScaleDownPolicy](s, s.API, "spot")
}

// costOfTemplate gives the template a cost.
func (s *shop) costOfTemplate() {
	s.Helper()
	set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
	set.Spec.Template.Annotations = map[string]string{corev1.PodDeletionCost: "10"}
	s.must(s.Update(context.Background(), set))
}

// overrule has somebody write another cost.
func (s *shop) overrule(name string) {
	s.Helper()
	pod := fakeapi.Read[corev1.Pod](s, s.API, name)
	pod.Annotations[corev1.PodDeletionCost] = "100"
	s.must(s.Update(context.Background(), pod, client.FieldOwner("somebody")))
}

// costs checks a pod's cost.
func (s *shop) costs(name, want string) {
	s.Helper()
	if pod := fakeapi.Read[corev1.Pod](s, s.API, name); pod.Annotations[corev1.PodDeletionCost] != want {
		s.Error(pod.Annotations)
	}
}

// marked are the pods that have a mark.
func (s *shop) marked() (names []string) {
	s.Helper()
	var pods corev1.PodList
	s.must(s.List(context.Background(), &pods))
	for _, pod := range pods.Items {
		if _, ok := cost.MarkOf(&pod); ok {
			names = append(names, pod.Name)
		} else if pod.Annotations[corev1.PodDeletionCost] == "-1" {
			s.Errorf("%s has a cost without a mark", pod.Name)
		}
	}
	return names
}

func (s *shop) has(names ...string) {
	s.Helper()
	if got := s.marked(); !slices.Equal(got, names) {
		s.Fatalf("marked: %v, not %v", got, names)
	}
}

// ended checks what the status says.
func (s *shop) ended(gone, missed int32, why string) {
	s.Helper()
	s.Reporter.Wait()
	policy := s.policy()
	down := policy.Status.ScaleDowns[0]
	if down.Gone == nil || *down.Gone != gone || *down.Missed != missed || !strings.Contains(down.Message, why) {
		s.Fatalf("%+v, gone %v, missed %v", down, down.Gone, down.Missed)
	}
	if missed > 0 {
		if event := <-s.event.Events; !strings.Contains(event, "Missed") || !strings.Contains(event, why) {
			s.Errorf("event: %s", event)
		}
	}
}

func TestDone(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	// What another namespace says of this set is nobody's.
	elsewhere := s.policy().DeepCopy()
	elsewhere.Namespace, elsewhere.UID, elsewhere.ResourceVersion = "elsewhere", "elsewhere", ""
	s.must(s.Create(context.Background(), elsewhere))
	s.look(0)
	s.count(2, 4, false)
	s.look(time.Second)
	s.has("web-0", "web-1")
	s.deletePods(0, 1)
	s.look(time.Minute)
	s.ended(2, 0, "")
	s.rests(time.Second)
	s.must(s.Get(context.Background(), client.ObjectKeyFromObject(elsewhere), elsewhere))
	if downs := elsewhere.Status.ScaleDowns; len(downs) != 1 || downs[0].Gone != nil {
		t.Errorf("elsewhere: %+v", downs)
	}
}

// Costs stay as long as the controller works, such as in several syncs of 500 deletions.
func TestSeveralSyncs(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.count(2, 4, true)
	s.look(time.Second)
	s.deletePods(0)
	s.count(2, 3, true)
	s.look(time.Hour)
	s.has("web-1")
	s.deletePods(1)
	s.count(2, 2, true)
	s.look(time.Second)
	s.ended(2, 0, "")
}

// The count does not fall: another webhook refused the request.
func TestRefused(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	if wait := s.look(0); wait > s.Patience {
		t.Errorf("looks again after %v", wait)
	}
	s.look(s.Patience - time.Second)
	s.has("web-0", "web-1")
	s.look(time.Second)
	s.has()
	s.ended(0, 2, "CountDidNotFall")
	// The cache has seen it, so it is forgotten.
	s.rests(time.Second)
}

// The count does not fall a second time, while the first fall goes on: its pods have the marks of the second.
func TestRefusedMeanwhile(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.count(3, 4, true)
	s.look(time.Hour)
	s.has("web-0", "web-1")
	s.deletePods(0)
	s.count(3, 3, true)
	s.look(time.Second)
	s.has()
	s.ended(1, 1, "CountDidNotFall: web-1")
}

// The costs were written one after the other, so they come off one after the other, and are reported together.
func TestOneByOne(t *testing.T) {
	s := newShop(t, mark(2))
	s.look(0)
	write := cost.Write{Pod: pod(1), Cost: -1, Mark: markOf(2)}
	s.must(s.Costs.Write(context.Background(), []cost.Write{write})[0])
	s.look(time.Second)
	s.look(s.Patience - time.Second)
	s.has("web-1")
	s.look(time.Second / 2)
	s.has("web-1")
	s.look(time.Second / 2)
	s.has()
	s.ended(0, 2, "CountDidNotFall: ")
}

// twoFalls has the status know of a fall to 3 before that to 2.
func (s *shop) twoFalls() {
	s.Helper()
	policy := s.policy()
	first := policy.Status.ScaleDowns[0]
	first.To = 3
	policy.Status.ScaleDowns = append(policy.Status.ScaleDowns, first)
	s.must(s.Status().Update(context.Background(), policy))
}

// Two falls in quick succession, as a rollout makes them, are two scale-downs.
func TestTwoFalls(t *testing.T) {
	s := newShop(t, mark(3), mark(2))
	s.twoFalls()
	s.look(0)
	s.count(2, 4, false)
	s.deletePods(0)
	s.look(time.Second)
	s.deletePods(1)
	s.look(time.Second)
	s.ended(1, 0, "")
	if last := s.policy().Status.ScaleDowns[1]; last.Gone == nil || *last.Gone != 1 {
		t.Errorf("%+v", last)
	}
}

// A later fall wants all pods of one that is not over, and so they count with that one alone. The status ends both, but not one that has a pod.
func TestTakenOver(t *testing.T) {
	for _, own := range []bool{false, true} {
		marks := []string{mark(3), mark(3)}
		if own {
			marks = append(marks, mark(3))
		}
		s := newShop(t, marks...)
		s.twoFalls()
		s.look(0)
		for i := range 2 {
			s.must(s.Costs.Write(context.Background(), []cost.Write{{Pod: pod(i), Cost: -1, Mark: markOf(2)}})[0])
		}
		s.look(time.Second)
		s.count(2, 4, false)
		s.deletePods(0, 1)
		s.count(2, 2, true)
		if own {
			// Its pod cannot be read, so its end comes later.
			costs := s.Costs
			s.Costs = cost.NewWriter(s.API, interceptor.NewClient(s.API, interceptor.Funcs{Get: func(
				context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption,
			) error {
				return errors.New("no answer")
			}}))
			if _, err := s.Reconcile(context.Background(), id); err == nil {
				t.Error("no error")
			}
			s.Reporter.Wait()
			s.Costs = costs
		}
		s.look(time.Second)
		s.Reporter.Wait()
		downs := s.policy().Status.ScaleDowns
		if *downs[0].Gone != 2 || downs[1].Gone == nil || *downs[1].Gone != 0 {
			t.Errorf("%+v", downs)
		}
		if missed := int32(0); own {
			if missed = 1; *downs[1].Missed != missed || strings.Contains(downs[1].Message, "took its pods") {
				t.Errorf("%+v", downs[1])
			}
		} else if *downs[1].Missed != missed || !strings.Contains(downs[1].Message, "took its pods over") {
			t.Errorf("%+v", downs[1])
		}
	}
}

// The status of the request is written only after the pods went.
func TestLateStatus(t *testing.T) {
	s := newShop(t, mark(2))
	policy := s.policy()
	entries := policy.Status.ScaleDowns
	policy.Status.ScaleDowns = nil
	s.must(s.Status().Update(context.Background(), policy))
	s.look(0)
	s.deletePods(0)
	s.look(time.Second)
	policy = s.policy()
	policy.Status.ScaleDowns = entries
	s.must(s.Status().Update(context.Background(), policy))
	s.Reporter.Wait()
	s.ended(1, 0, "")
}

func TestMissed(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.deletePods(0, 2)
	s.count(2, 2, true)
	s.look(time.Second)
	s.has()
	s.ended(1, 1, "OthersWentFirst: web-1")
}

func TestOverruled(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.overrule("web-1")
	s.look(time.Second)
	s.deletePods(0, 2)
	s.count(2, 2, true)
	s.look(time.Second)
	s.has()
	s.ended(1, 1, "CostChanged: web-1")
	s.costs("web-1", "100")
}

// The replica that answered takes its costs off, because the request failed. It may have been let through all the same: what
// became of the pods is told once that is over.
func TestWithdrawn(t *testing.T) {
	withdrawn := func() *shop {
		s := newShop(t, mark(2), mark(2))
		s.look(0)
		for i := range 2 {
			undo := cost.Undo{Pod: pod(i), Mark: markOf(2)}
			s.must(s.Costs.TakeOff(context.Background(), []cost.Undo{undo})[0])
		}
		s.look(time.Second)
		if down := s.policy().Status.ScaleDowns[0]; down.Gone != nil {
			t.Fatalf("told before it is over: %+v", down)
		}
		return s
	}
	s := withdrawn()
	s.look(s.Patience)
	s.ended(0, 2, "RequestFailed")
	s.rests(time.Second)

	s = withdrawn()
	s.count(2, 4, false)
	s.look(time.Second)
	s.deletePods(0, 1)
	s.count(2, 2, true)
	s.look(time.Second)
	s.ended(2, 0, "")
	s.rests(time.Second)

	s = withdrawn()
	s.deletePods(0, 2)
	s.count(2, 2, true)
	s.look(time.Second)
	s.ended(1, 1, "RequestFailed: web-1")
	s.rests(time.Second)
}

// A mark that the template gave to pods, or anybody else, is not this program's: nothing is done about it, and nothing is counted.
func TestMarkOfTemplate(t *testing.T) {
	set, policy, pods := fakeapi.Shop(1)
	pods[0].Annotations = map[string]string{cost.Annotation: "x"}
	fakeapi.Manage(pods[0], "kube-controller-manager", cost.Annotation)
	s := newShop(t)
	s.API = fakeapi.New(set, policy, pods[0])
	s.Cache, s.Live, s.Costs = s.API, s.API.Bounded(), cost.NewWriter(s.API, s.API)
	off := since(t, "costs_taken_off_total")
	for range 3 {
		s.rests(time.Hour)
	}
	off(0)
	if writes := s.Written(); len(writes) != 0 {
		t.Errorf("written: %v", writes)
	}
}

// A cost that nobody may take off is given up after an hour, and told.
func TestGivesUp(t *testing.T) {
	s := newShop(t, mark(2))
	s.Before = func(*fakeapi.Write) error {
		return apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no"))
	}
	left := since(t, "costs_left_total")
	s.look(0)
	s.deletePods(2, 3)
	s.count(2, 2, true)
	tries := 0
	for range 100 {
		s.now = s.now.Add(time.Minute)
		result, err := s.Reconcile(context.Background(), id)
		if err == nil && result.RequeueAfter == 0 {
			break
		}
		tries++
	}
	if tries < 60 || tries > 62 {
		t.Errorf("%d tries", tries)
	}
	left(1)
	s.rests(time.Hour)
	left(1)

	s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")))
	orphan := cleanup.Set{Namespace: id.Namespace, Name: "web-0"}
	for range 62 {
		_, err := s.Reconcile(context.Background(), orphan)
		if s.now = s.now.Add(time.Minute); err == nil {
			break
		}
	}
	left(2)
}

// The count falls and rises before the controller has done its work.
func TestRoseAgain(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.count(2, 4, false)
	s.look(time.Second)
	s.count(4, 4, false)
	s.look(time.Second)
	s.has()
	s.ended(0, 2, "CountRoseAgain")
}

// A pod that should have gone and stayed is wanted again, and its cost fits, just before it comes off. The cache does not show the
// new mark yet.
func TestWantedAgain(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	s.deletePods(0, 2)
	s.count(2, 2, true)
	s.Cache = s.frozen()
	later := markOf(1)
	later.Request = fakeapi.UID(5, 1)
	write := cost.Write{Pod: pod(1), Cost: -1, Mark: later}
	s.must(s.Costs.Write(context.Background(), []cost.Write{write})[0])
	s.look(time.Second)
	s.has("web-1")
	s.ended(1, 1, "OthersWentFirst: web-1")
	s.Cache = s.API
	s.look(time.Second)
	s.has("web-1")
	s.count(1, 2, false)
	s.deletePods(1)
	s.look(time.Second)
	s.rests(time.Second)
}

// frozen is a cache that lags.
func (s *shop) frozen() client.Reader {
	s.Helper()
	var pods corev1.PodList
	s.must(s.List(context.Background(), &pods))
	objects := []client.Object{fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")}
	for i := range pods.Items {
		objects = append(objects, &pods.Items[i])
	}
	return fakeapi.New(append(objects, s.policy())...)
}

// A cost on a pod that stays is not asked for, and comes off like the others.
func TestStays(t *testing.T) {
	staying := markOf(2)
	staying.Goes = false
	s := newShop(t, mark(2), mark(2), staying.String())
	s.look(0)
	s.deletePods(0, 1)
	s.count(2, 2, true)
	s.look(time.Second)
	s.has()
	s.ended(2, 0, "")
}

// metric is the sum of a metric over all labels.
func metric(t testing.TB, name string) (value float64) {
	t.Helper()
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

// since returns a check of how much a metric has grown since.
func since(t testing.TB, name string) func(want float64) {
	before := metric(t, name)
	return func(want float64) {
		t.Helper()
		if grown := metric(t, name) - before; grown != want {
			t.Errorf("%s grew by %v, not %v", name, grown, want)
		}
	}
}

// Somebody overrules a cost where the template has one, too. The mark comes off all the same, and that is told once.
func TestOverruledWithTemplate(t *testing.T) {
	s := newShop(t, mark(2))
	s.costOfTemplate()
	s.look(0)
	s.overrule("web-0")
	s.count(2, 2, true)
	s.look(time.Second)
	s.has()
	s.ended(0, 1, "CostChanged: web-0")
	s.costs("web-0", "100")
}

// A cache shows for a long time a mark that was taken off: that changes nothing of what was told.
func TestStale(t *testing.T) {
	s := newShop(t, mark(2))
	s.look(0)
	s.count(2, 2, true)
	s.Cache = s.frozen()
	asked, missed := since(t, "pods_asked_total"), since(t, "pods_missed_total")
	for range 20 {
		s.look(10 * time.Second)
	}
	s.has()
	s.ended(0, 1, "OthersWentFirst: web-0")
	asked(0)
	missed(1)
	s.Cache = s.API
	s.look(time.Second)
	s.rests(time.Second)
}

// The cost of one pod cannot be taken off. The others come off, all are reported once, and it is tried again.
func TestOneFails(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.look(0)
	fails := true
	s.Before = func(write *fakeapi.Write) error {
		if write.Name == "web-0" && fails {
			return apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("no"))
		}
		return nil
	}
	s.count(2, 2, true)
	asked, missed := since(t, "pods_asked_total"), since(t, "pods_missed_total")
	for range 3 {
		s.now = s.now.Add(time.Minute)
		if _, err := s.Reconcile(context.Background(), id); err == nil || !strings.Contains(err.Error(), "forbidden") {
			t.Errorf("%v", err)
		}
	}
	s.has("web-0")
	s.ended(0, 2, "OthersWentFirst")
	asked(0)
	missed(2)
	fails = false
	s.look(time.Minute)
	s.has()
	s.rests(time.Second)
}

// The set is deleted in the middle of a scale-down, and perhaps made anew under its name. Nothing is left to look at.
func TestSetDeleted(t *testing.T) {
	for _, anew := range []bool{false, true} {
		s := newShop(t, mark(2), mark(2))
		s.look(0)
		s.deletePods(0)
		set := fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")
		s.must(s.Delete(context.Background(), set))
		if anew {
			set.UID, set.ResourceVersion = "another", ""
			s.must(s.Create(context.Background(), set))
		}
		done := since(t, "pods_done_total")
		if wait := s.look(time.Second); wait == 0 {
			t.Error("does not look again although a pod is there")
		}
		s.deletePods(1)
		s.rests(time.Second)
		done(2)
	}
}

// A pod whose owner is none that there is, by kind, name and UID, costs no request, however often it changes its owner.
func TestNoSuchOwner(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	s.Live = nil
	for _, forged := range []cleanup.Set{
		{Kind: workload.ReplicaSet, Namespace: id.Namespace, Name: "other", UID: id.UID},
		{Kind: workload.ReplicationController, Namespace: id.Namespace, Name: "web", UID: id.UID},
	} {
		result, err := s.Reconcile(context.Background(), forged)
		s.must(err)
		if result.RequeueAfter != 0 {
			t.Errorf("%+v is looked at again", forged)
		}
	}
	for _, pod := range []string{"web-0", "web-1"} {
		changed := fakeapi.Read[corev1.Pod](s, s.API, pod)
		changed.OwnerReferences[0].UID = fakeapi.UID(9, 1)
		s.must(s.Update(context.Background(), changed))
	}
	_, err := s.Reconcile(context.Background(), cleanup.Set{Kind: workload.ReplicaSet, Namespace: id.Namespace, Name: "web", UID: fakeapi.UID(9, 1)})
	s.must(err)
}

// A pod elsewhere whose owner reference has the UID of this set changes nothing about it.
func TestForgedOwner(t *testing.T) {
	s := newShop(t, mark(2), mark(2))
	elsewhere := fakeapi.Read[corev1.Pod](s, s.API, "web-3").DeepCopy()
	elsewhere.Namespace, elsewhere.Name, elsewhere.UID, elsewhere.ResourceVersion = "another", "forged", fakeapi.UID(9, 9), ""
	s.must(s.Create(context.Background(), elsewhere))
	write := cost.Write{Pod: cost.PodOf(elsewhere), Cost: -1, Mark: markOf(2)}
	s.must(s.Costs.Write(context.Background(), []cost.Write{write})[0])
	forged := cleanup.Set{Kind: workload.ReplicaSet, Namespace: "another", Name: "web", UID: id.UID}
	counted := since(t, "pods_asked_total")
	for range 20 {
		s.look(time.Second)
		result, err := s.Reconcile(context.Background(), forged)
		s.must(err)
		if result.RequeueAfter != 0 {
			t.Fatal("the forged set is looked at again")
		}
	}
	// The request was refused: after its patience, the costs are off, and only its own two pods were counted.
	s.must(s.Delete(context.Background(), elsewhere))
	s.has()
	s.ended(0, 2, "CountDidNotFall")
	counted(2)
}

// A replica that becomes leader later knows plans of its own that are long over.
func TestOldPlan(t *testing.T) {
	s := newShop(t)
	s.plan(pod(0))
	asked := since(t, "pods_asked_total")
	s.rests(s.Patience + time.Second)
	asked(0)
}

// A pod that should go and needs no cost is compared, too.
func TestUnmarked(t *testing.T) {
	s := newShop(t)
	s.plan(pod(0), pod(1))
	s.count(2, 4, false)
	s.look(0)
	s.deletePods(0, 2)
	s.count(2, 2, true)
	s.look(time.Second)
	s.ended(1, 1, "OthersWentFirst: web-1")
}

// plan has the pods wanted that need no cost.
func (s *shop) plan(wanted ...cost.Pod) {
	s.Helper()
	set, err := workload.Get(context.Background(), s.API.Bounded(), id.Kind, fakeapi.Key("web"))
	s.must(err)
	s.Plans.Add(&steer.Outcome{Request: steer.Request{To: 2}, Result: steer.Steered, At: s.now, Set: set, Wanted: wanted})
}

// The set is deleted and leaves its pods behind.
func TestOrphans(t *testing.T) {
	s := newShop(t, mark(2))
	s.look(0)
	s.must(s.Delete(context.Background(), fakeapi.Read[appsv1.ReplicaSet](s, s.API, "web")))
	s.look(time.Minute)
	s.has("web-0")
	_, err := s.Reconcile(context.Background(), cleanup.Set{Namespace: id.Namespace, Name: "web-0"})
	s.must(err)
	s.has()
}

// While one set of a namespace is looked at, another one of it takes no worker, and one of another namespace does.
func TestOneOfEach(t *testing.T) {
	s := newShop(t, mark(2))
	s.look(0)
	s.now = s.now.Add(s.Patience)
	other, another := id, id
	other.Name, other.UID = "other", fakeapi.UID(1, 7)
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
	s.look(0)
	if want := []time.Duration{50 * time.Millisecond, 0}; !slices.Equal(waits, want) {
		t.Errorf("%v, not %v", waits, want)
	}
	s.has()
}

// A set with many pods lets others have their turn.
func TestBatches(t *testing.T) {
	s := newShop(t)
	_, _, pods := fakeapi.Shop(450)
	for i, pod := range pods {
		if i >= 4 {
			s.must(s.Create(context.Background(), pod))
		}
		write := cost.Write{Pod: cost.PodOf(pod), Cost: -1, Mark: markOf(2)}
		s.must(s.Costs.Write(context.Background(), []cost.Write{write})[0])
	}
	s.look(0)
	before := len(s.Written())
	var offs []int
	for wait := s.look(s.Patience); wait == time.Millisecond; wait = s.look(wait) {
		offs = append(offs, len(s.Written())-before)
	}
	if want := []int{200, 400}; !slices.Equal(offs, want) || len(s.Written())-before != 450 {
		t.Errorf("%v, and in the end %d", offs, len(s.Written())-before)
	}
	s.has()
	s.ended(0, 450, "CountDidNotFall")
}

// Costs of the template are put back.
func TestTemplate(t *testing.T) {
	s := newShop(t, mark(2))
	s.costOfTemplate()
	s.look(0)
	s.look(s.Patience)
	s.has()
	s.costs("web-0", "10")
}
