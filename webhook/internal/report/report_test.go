package report_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

func set(t *testing.T) *workload.Set {
	t.Helper()
	replicaSet, _, _ := fakeapi.Shop(0)
	set, err := workload.Of(replicaSet)
	fakeapi.Must(t, err)
	return set
}

// The API server refuses events with longer notes.
func TestLongNote(t *testing.T) {
	r, recorder := fakeapi.New().NewReporter()
	r.Outcome(context.Background(), &steer.Outcome{Result: steer.Failed, Message: strings.Repeat("ä", 2_000), Set: set(t)})
	// The recorder puts type and reason before it.
	event := strings.TrimPrefix(<-recorder.Events, "Warning Failed ")
	if len(event) > 1000 || len(event) < 990 || !utf8.ValidString(event) || !strings.HasSuffix(event, "ä…") {
		t.Errorf("%d bytes: %s", len(event), event)
	}
}

// Nothing is written to a status that stays as it is.
func TestNothingToWrite(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	version := func() string { return fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").ResourceVersion }
	before := version()
	r, _ := api.NewReporter()
	// Its request is in no status, so that it looks for it several times.
	r.Over(context.Background(), &report.Over{Namespace: "shop", UID: "web", To: 1, Gone: 1})
	r.Wait()
	if after := version(); after != before {
		t.Errorf("written: %s is now %s", before, after)
	}
}

// The end of a scale-down is noted where that is known: by its set and count, in its namespace, if it has no end yet. The status may come to know of it
// only after that.
func TestOver(t *testing.T) {
	one := int32(1)
	entry := func(uid string, to int32, gone *int32) v1alpha1.ScaleDown {
		return v1alpha1.ScaleDown{Kind: "ReplicaSet", Name: uid, UID: types.UID(uid), From: 9, To: to, Result: "Steered", Gone: gone, Missed: gone}
	}
	_, policy, _ := fakeapi.Shop(0)
	unaware, elsewhere := policy.DeepCopy(), policy.DeepCopy()
	unaware.Name, unaware.UID = "a", "a"
	downs := []v1alpha1.ScaleDown{entry("web", 4, &one), entry("db", 4, nil), entry("web", 5, nil), entry("web", 4, nil)}
	elsewhere.Namespace, elsewhere.UID, elsewhere.Status.ScaleDowns = "elsewhere", "elsewhere", downs
	api := fakeapi.New(policy, unaware, elsewhere)
	r, _ := api.NewReporter()
	r.Over(context.Background(), &report.Over{Namespace: "shop", UID: "web", To: 4, Gone: 5, Others: map[int32]bool{5: true}})
	time.Sleep(100 * time.Millisecond) // until it was looked for in vain
	policy = fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot")
	policy.Status.ScaleDowns = downs
	fakeapi.Must(t, api.Status().Update(context.Background(), policy))
	r.Wait()
	var all v1alpha1.ScaleDownPolicyList
	fakeapi.Must(t, api.List(context.Background(), &all))
	var ends []string
	for _, policy := range all.Items {
		for i, down := range policy.Status.ScaleDowns {
			if down.Gone != nil {
				ends = append(ends, fmt.Sprintf("%s %d: %d", policy.Namespace, i, *down.Gone))
			}
		}
	}
	if want := []string{"elsewhere 0: 1", "shop 0: 1", "shop 3: 5"}; !slices.Equal(ends, want) {
		t.Errorf("%v, not %v", ends, want)
	}
}

// A request for which there was no time to read anything is told, too.
func TestUnread(t *testing.T) {
	r, events := fakeapi.New().NewReporter()
	r.Outcome(context.Background(), &steer.Outcome{
		Request: steer.Request{Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), SetUID: "web", From: 4, To: 2}, Result: steer.DeadlineExceeded, Message: "late",
	})
	if event := <-events.Events; event != "Warning DeadlineExceeded from 4 to 2 without steering: late" {
		t.Error(event)
	}
}

// A fall that is asked about anew is one scale-down, also if the count is another, or if another set falls in between.
func TestAskedAnew(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, _ := api.NewReporter()
	falls := func(set *workload.Set, from, to int32, written int, later time.Duration) {
		t.Helper()
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(set.Object), Kind: set.Kind, From: from, To: to}, Result: steer.Steered, Set: set, Policy: policy,
			Written: written, At: fakeapi.Now.Add(later),
		})
	}
	downs := func() []v1alpha1.ScaleDown {
		return fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.ScaleDowns
	}
	web, other := set(t), set(t)
	other.Object.SetUID(fakeapi.UID(1, 1))
	falls(web, 11, 7, 4, 0)
	falls(other, 5, 4, 1, 0)
	falls(web, 11, 6, 1, time.Second)
	if all := downs(); len(all) != 2 || all[0].To != 6 || all[0].Written != 5 || all[1].UID != other.UID() {
		t.Errorf("%+v", all)
	}
	// One of another replica that is late to report an earlier request changes nothing.
	falls(web, 11, 8, 1, 0)
	if all := downs(); len(all) != 2 || all[0].To != 6 || all[0].Written != 6 {
		t.Errorf("%+v", all)
	}
	// Much later, it is another one, and so it is at another count.
	falls(web, 6, 5, 1, 2*time.Second)
	falls(web, 6, 5, 1, time.Minute)
	if all := downs(); len(all) != 4 || all[0].Written != 1 {
		t.Errorf("%+v", all)
	}
}

// Reports about one policy, which may be large, are written one after the other, and all of them arrive.
func TestOneByOne(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, _ := api.NewReporter()
	live, reads := api.Counted()
	r.Statuses.Live = live
	var group sync.WaitGroup
	for i := range 10 {
		web := set(t)
		web.Object.SetUID(fakeapi.UID(1, i))
		group.Go(func() {
			r.Outcome(context.Background(), &steer.Outcome{
				Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 4, To: 3}, Result: steer.Steered, Set: web, Policy: policy, At: fakeapi.Now,
			})
		})
	}
	group.Wait()
	if downs := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.ScaleDowns; len(downs) != 10 || reads.Most() != 1 {
		t.Errorf("%d scale-downs, or several at a time", len(downs))
	}
}

// Whether values counted is said in any case, and what they are only if they may be published.
func TestValues(t *testing.T) {
	last, next := 0., 2.5
	read := steer.Valuation{Pods: 5, Valued: 4, Oldest: 1234 * time.Millisecond, Last: &last, Next: &next}
	for name, c := range map[string]struct {
		publish bool
		of      *steer.Valuation
		message string
		entry   [4]string
	}{
		"none wanted": {true, nil, "0 deletion costs were written", [4]string{"-", "-"}},
		"secret":      {false, &read, "written; 4 of 5 pods have a value, at most 1.2s old", [4]string{"4", "1.2s"}},
		"published":   {true, &read, "old; the last that goes has 0, and the first that stays has 2.5", [4]string{"4", "1.2s", "0", "2.5"}},
		"all go":      {true, &steer.Valuation{Pods: 1, Valued: 1, Last: &last}, "1 of 1 pods have a value, at most 0s old; the last that goes has 0", [4]string{"1", "0s", "0"}},
		"unread":      {true, &steer.Valuation{Pods: 5, Why: errors.New("it is down")}, "written; no value counted: it is down", [4]string{"0", "-"}},
	} {
		_, policy, _ := fakeapi.Shop(0)
		api := fakeapi.New(policy)
		r, recorder := api.NewReporter()
		r.PublishValues = c.publish
		web := set(t)
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 6, To: 5}, Result: steer.Steered, Set: web, Policy: policy, At: fakeapi.Now, Valuation: c.of,
		})
		down := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.ScaleDowns[0]
		got := [4]string{"-", "-", down.LastToGo, down.NextToGo}
		if down.Valued != nil {
			got[0] = fmt.Sprint(*down.Valued)
		}
		if down.OldestValue != nil {
			got[1] = down.OldestValue.Duration.String()
		}
		event := <-recorder.Events
		if got != c.entry || !strings.HasSuffix(down.Message, c.message) || !strings.HasSuffix(event, c.message) {
			t.Errorf("%s: %v, %s, %s", name, got, down.Message, event)
		}
		if warned := len(recorder.Events) > 0 && <-recorder.Events == "Warning NotValued no value counted: it is down"; warned != (name == "unread") {
			t.Errorf("%s: warned: %v", name, warned)
		}
	}
}

// Thirty sets scale down together, and a status keeps ten scale-downs. Their ends are written together, and nothing waits for entries that cannot follow.
func TestTogether(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, recorder := api.NewReporter()
	recorder.Events = make(chan string, 100)
	live, reads := api.Counted()
	r.Statuses.Live = live
	for i := range 30 {
		web := set(t)
		web.Object.SetUID(fakeapi.UID(1, i))
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 4, To: 3}, Result: steer.Steered, Set: web, Policy: policy,
			At: fakeapi.Now, Count: 1,
		})
	}
	began := time.Now()
	for i := range 30 {
		web := set(t)
		web.Object.SetUID(fakeapi.UID(1, i))
		r.Over(context.Background(), &report.Over{Set: web, Namespace: "shop", UID: web.UID(), From: 4, To: 3, First: fakeapi.Now, Gone: 1})
	}
	r.Wait()
	if count, took := reads.Count.Load(), time.Since(began); count > 60 || took > 4*time.Second {
		t.Errorf("%d reads, and %v until all were told", count, took)
	}
	for _, down := range fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.ScaleDowns {
		if down.Gone == nil || *down.Gone != 1 || *down.Missed != 0 {
			t.Errorf("%+v", down)
		}
	}
}

// Each scale-down that a policy may cover and that was not steered has a line in the log at the default level, with its reason, and in the audit log.
func TestUnsteered(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	r, _ := fakeapi.New(policy).NewReporter()
	var lines []string
	r.Log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	for _, result := range append(steer.Unsteered, steer.NoPolicy, steer.Repeated) {
		lines = nil
		o := &steer.Outcome{
			Request: steer.Request{Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), SetUID: "web", From: 4, To: 2}, Result: result, Message: "because",
		}
		r.Outcome(context.Background(), o)
		isUnsteered := slices.Contains(steer.Unsteered, result)
		isLogged := slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, fmt.Sprintf(`"result"=%q`, result)) && strings.Contains(line, "because")
		})
		if isLogged != isUnsteered || (report.Audit(o)["result"] == string(result)) != isUnsteered {
			t.Errorf("%s: %v, %v", result, lines, report.Audit(o))
		}
	}
	r.Skip()
	r.Skip()
	lines = nil
	r.Outcome(context.Background(), &steer.Outcome{Result: steer.Repeated})
	r.Outcome(context.Background(), &steer.Outcome{Result: steer.Repeated})
	if len(lines) != 1 || !strings.Contains(lines[0], `"count"=2`) {
		t.Errorf("%v", lines)
	}
}
