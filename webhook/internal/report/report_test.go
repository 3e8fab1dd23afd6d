package report_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/values"
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

// A status that does not change is not written.
func TestNothingToWrite(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	version := func() string { return fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").ResourceVersion }
	before := version()
	r, _ := api.NewReporter()
	// Its request is in no status, so that it may follow for some time.
	for seconds, want := range map[time.Duration]bool{0: false, 6: false, 11: true} {
		isTold, err := r.Over(context.Background(), &report.Over{Namespace: "shop", UID: "web", To: 1, Deleted: 1, Waited: seconds * time.Second})
		if fakeapi.Must(t, err); isTold != want {
			t.Errorf("after %d s: %v", seconds, isTold)
		}
	}
	if after := version(); after != before {
		t.Errorf("written: %s is now %s", before, after)
	}
}

// entry is what a status says of a scale-down of a set from 9 on.
func entry(uid string, generation int64, to int32, deleted *int32) v1alpha1.WorkloadStatus {
	return v1alpha1.WorkloadStatus{Kind: "ReplicaSet", Name: uid, UID: types.UID(uid), LastScaleDown: v1alpha1.ScaleDown{
		Time: metav1.NewTime(fakeapi.Now), Generation: generation, From: 9, To: to, Result: "Steered", Deleted: deleted, Missed: deleted,
	}}
}

// The end of a scale-down is noted where that is known: by its set, generation and count, in its namespace, if it has no end yet. The status may come to know
// of it only after that.
func TestOver(t *testing.T) {
	one := int32(1)
	// Another replica has reported, whose clock differs by so much.
	off := func(by time.Duration) v1alpha1.WorkloadStatus {
		entry := entry("web", 3, 4, nil)
		entry.LastScaleDown.Time = metav1.NewTime(fakeapi.Now.Add(by))
		return entry
	}
	for name, c := range map[string]struct {
		entry v1alpha1.WorkloadStatus
		want  *int32
	}{
		"its own":                    {entry("web", 3, 4, nil), new(int32(5))},
		"it has an end":              {entry("web", 3, 4, &one), &one},
		"its own, by a slow clock":   {off(-7 * time.Second), new(int32(5))},
		"its own, by a fast clock":   {off(7 * time.Second), new(int32(5))},
		"much later":                 {off(time.Minute), nil},
		"another set":                {entry("db", 3, 4, nil), nil},
		"another count":              {entry("web", 3, 5, nil), nil},
		"a later one, to that count": {entry("web", 5, 4, nil), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, policy, _ := fakeapi.Shop(0)
			unaware, elsewhere := policy.DeepCopy(), policy.DeepCopy()
			unaware.Name, unaware.UID = "a", "a"
			elsewhere.Namespace, elsewhere.UID = "elsewhere", "elsewhere"
			elsewhere.Status.Workloads = []v1alpha1.WorkloadStatus{entry("web", 3, 4, nil)}
			api := fakeapi.New(policy, unaware, elsewhere)
			r, _ := api.NewReporter()
			over := &report.Over{Namespace: "shop", UID: "web", Generation: 3, To: 4, First: fakeapi.Now, Deleted: 5, IsEarlier: true}
			if isTold, err := r.Over(context.Background(), over); isTold || err != nil {
				t.Fatalf("told in vain: %v", err)
			}
			policy = fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot")
			policy.Status.Workloads = []v1alpha1.WorkloadStatus{c.entry}
			fakeapi.Must(t, api.Status().Update(context.Background(), policy))
			over.Waited = 11 * time.Second
			if isTold, err := r.Over(context.Background(), over); !isTold || err != nil {
				t.Errorf("not told: %v", err)
			}
			var all v1alpha1.ScaleDownPolicyList
			fakeapi.Must(t, api.List(context.Background(), &all))
			for _, policy := range all.Items {
				for _, entry := range policy.Status.Workloads {
					want := c.want
					if policy.Namespace == "elsewhere" {
						want = nil
					}
					if got := entry.LastScaleDown.Deleted; (got == nil) != (want == nil) || got != nil && *got != *want {
						t.Errorf("%s: %+v", policy.Namespace, entry)
					}
				}
			}
		})
	}
}

// A decision that has no other report is in the log nevertheless.
func TestLogOnly(t *testing.T) {
	r, _ := fakeapi.New().NewReporter()
	var lines []string
	r.Log = funcr.NewJSON(func(line string) { lines = append(lines, line) }, funcr.Options{})
	r.LogOnly(&steer.Outcome{Request: steer.Request{Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 4, To: 3}, Result: steer.Steered, Set: set(t)})
	if text := strings.Join(lines, ""); !strings.Contains(text, `"msg":"decision"`) || !strings.Contains(text, `"result":"Steered"`) {
		t.Error(text)
	}
}

// The answer to the write of a status is lost, while this replica ends: the log has the end once, and before the status.
func TestLostAnswer(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	policy.Status.Workloads = []v1alpha1.WorkloadStatus{entry("web", 3, 4, nil)}
	api := fakeapi.New(policy)
	r, _ := api.NewReporter()
	lines, updates := 0, 0
	r.Log = funcr.New(func(_, line string) { lines++ }, funcr.Options{})
	r.Statuses.Client = interceptor.NewClient(api, interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, to client.Client, name string, object client.Object, options ...client.SubResourceUpdateOption) error {
			if updates++; lines != 1 {
				t.Errorf("%d lines before the status", lines)
			}
			return errors.Join(to.SubResource(name).Update(ctx, object, options...), errors.New("no answer"))
		},
	})
	ends, stop := context.WithCancel(context.Background())
	stop()
	over := &report.Over{Namespace: "shop", UID: "web", Generation: 3, To: 4, First: fakeapi.Now, Deleted: 5}
	for _, want := range []bool{false, true} {
		if isTold, err := r.Over(ends, over); isTold != want || (err == nil) != want {
			t.Errorf("%v, %v", isTold, err)
		}
	}
	if lines != 1 || updates != 1 {
		t.Errorf("%d lines, %d updates", lines, updates)
	}
}

// The end of a first decision about a scale-down is reported before a second one selects another pod, which is kept.
func TestSecondEnd(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, recorder := api.NewReporter()
	web := set(t)
	for i, over := range []report.Over{{Deleted: 1}, {Missed: map[string][]string{"OtherPodsDeleted": {"web-1"}}}} {
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 4, To: 3}, Result: steer.Steered, Set: web, Policy: policy,
			At: fakeapi.Now.Add(time.Duration(i) * time.Second), Count: 1,
		})
		over.Set, over.Namespace, over.UID, over.Generation, over.From, over.To, over.First = web, "shop", web.UID(), web.Object.GetGeneration(), 4, 3, fakeapi.Now
		if isTold, err := r.Over(context.Background(), &over); !isTold || err != nil {
			t.Errorf("%v, %v", isTold, err)
		}
	}
	events := 0
	for len(recorder.Events) > 0 {
		if strings.Contains(<-recorder.Events, "Missed") {
			events++
		}
	}
	// One of the set, and one of the policy.
	if down := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads[0].LastScaleDown; events != 2 || *down.Deleted != 0 || *down.Missed != 1 {
		t.Errorf("%d events, %d deleted, %d missed", events, *down.Deleted, *down.Missed)
	}
}

// A request for which there was no time to read anything is reported, too.
func TestUnread(t *testing.T) {
	r, events := fakeapi.New().NewReporter()
	r.Outcome(context.Background(), &steer.Outcome{
		Request: steer.Request{Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), SetUID: "web", From: 4, To: 2}, Result: steer.DeadlineExceeded, Message: "late",
	})
	if event := <-events.Events; event != "Warning DeadlineExceeded Scaling from 4 to 2 without steering: late" {
		t.Error(event)
	}
}

// A scale-down about which the API server asks several times is one, also if the count is another. A status has the last one of each workload.
func TestAskedAnew(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, _ := api.NewReporter()
	falls := func(set *workload.Set, generation int64, from, to int32, written int, later time.Duration) {
		t.Helper()
		set.Object.SetGeneration(generation)
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(set.Object), Kind: set.Kind, From: from, To: to}, Result: steer.Steered, Set: set, Policy: policy,
			Written: written, At: fakeapi.Now.Add(later),
		})
	}
	is := func(want string) {
		t.Helper()
		got := ""
		for _, each := range fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads {
			down := each.LastScaleDown
			got += fmt.Sprintf("%s %d to %d: wrote %d, ended %v; ", each.UID[:8], down.From, down.To, down.Written, down.Deleted != nil)
		}
		if got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
	web, other := set(t), set(t)
	other.Object.SetUID(fakeapi.UID(2, 1))
	falls(web, 1, 11, 7, 4, 0)
	falls(other, 1, 5, 4, 1, 0)
	falls(web, 1, 11, 6, 1, time.Second)
	is("00000001 11 to 6: wrote 5, ended false; 00000002 5 to 4: wrote 1, ended false; ")
	// One of another replica that is late to report an earlier request only adds what it wrote.
	falls(web, 1, 11, 8, 1, 0)
	is("00000001 11 to 6: wrote 6, ended false; 00000002 5 to 4: wrote 1, ended false; ")
	// The same if the end has already been reported, and the report does not change.
	isTold, err := r.Over(context.Background(), &report.Over{Namespace: "shop", UID: web.UID(), Generation: 1, From: 11, To: 6, First: fakeapi.Now, Deleted: 5})
	if fakeapi.Must(t, err); !isTold {
		t.Error("not told")
	}
	falls(web, 1, 11, 6, 1, 2*time.Second)
	is("00000001 11 to 6: wrote 7, ended true; 00000002 5 to 4: wrote 1, ended false; ")
	// At another generation, it is another one, and so it is much later.
	falls(web, 2, 6, 5, 1, 3*time.Second)
	is("00000001 6 to 5: wrote 1, ended false; 00000002 5 to 4: wrote 1, ended false; ")
	falls(web, 2, 6, 5, 1, time.Minute)
	is("00000001 6 to 5: wrote 1, ended false; 00000002 5 to 4: wrote 1, ended false; ")
	// An earlier one is no longer the last, whenever it is reported.
	falls(web, 1, 11, 6, 1, time.Hour)
	is("00000001 6 to 5: wrote 1, ended false; 00000002 5 to 4: wrote 1, ended false; ")
}

// A status has 20 workloads, and says how many it has dropped.
func TestDropped(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, recorder := api.NewReporter()
	recorder.Events = nil
	for i := range 23 {
		web := set(t)
		web.Object.SetUID(fakeapi.UID(1, i))
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 4, To: 3}, Result: steer.Steered, Set: web, Policy: policy, At: fakeapi.Now,
		})
	}
	status := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status
	if len(status.Workloads) != 20 || status.DroppedWorkloads != 3 || status.Workloads[0].UID != fakeapi.UID(1, 22) || status.Workloads[19].UID != fakeapi.UID(1, 3) {
		t.Errorf("%+v", status)
	}
}

// Each result that a status may have is one that its CRD allows.
func TestResults(t *testing.T) {
	crd, err := os.ReadFile("../../chart/files/podrank.dev_scaledownpolicies.yaml")
	fakeapi.Must(t, err)
	for _, result := range append(steer.Unsteered, steer.Steered, steer.Unconfirmed, steer.Observed, "PredictedWrongly") {
		isIn := strings.Contains(string(crd), "\n                          - "+string(result)+"\n")
		if tells := result.Concerns() || result == steer.Observed || result == "PredictedWrongly"; tells != isIn {
			t.Errorf("%s: told: %v, in the CRD: %v", result, tells, isIn)
		}
	}
}

// Reports about one policy, which may be large, are written one after the other, and all of them arrive.
func TestOneByOne(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	api := fakeapi.New(policy)
	r, recorder := api.NewReporter()
	live, reads := api.Counted()
	r.Statuses.Live = live
	recorder.Events = nil
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
	if downs := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads; len(downs) != 10 || reads.Most() != 1 {
		t.Errorf("%d workloads, or several at a time", len(downs))
	}
}

// Whether values counted is said in any case, and what they are only if they may be published.
func TestValues(t *testing.T) {
	read := values.Order{Pods: 5, Valued: 4, Oldest: fakeapi.Now.Add(-1234 * time.Millisecond)}
	for name, c := range map[string]struct {
		publish bool
		of      *values.Order
		message string
		entry   [2]string
	}{
		"none selected": {true, nil, "wrote 0 deletion costs", [2]string{"-", "-"}},
		"secret":        {false, &read, "costs; counted the values of 4 of 5 pods", [2]string{"4", "1.2s"}},
		"published":     {true, &read, "costs; counted the values of 4 of 5 pods", [2]string{"4", "1.2s"}},
		"all go":        {true, &values.Order{Pods: 1, Valued: 1, Oldest: fakeapi.Now}, "costs; counted the values of 1 of 1 pod", [2]string{"1", "0s"}},
		"unread":        {true, &values.Order{Pods: 5, Why: errors.New("it is down")}, "costs; no value counted: it is down", [2]string{"0", "-"}},
	} {
		_, policy, _ := fakeapi.Shop(0)
		api := fakeapi.New(policy)
		r, recorder := api.NewReporter()
		r.PublishValues = c.publish
		web := set(t)
		r.Outcome(context.Background(), &steer.Outcome{
			Request: steer.Request{Key: client.ObjectKeyFromObject(web.Object), Kind: web.Kind, From: 6, To: 5}, Result: steer.Steered, Set: web, Policy: policy, At: fakeapi.Now, Valuation: c.of,
		})
		down := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads[0].LastScaleDown
		got := [2]string{"-", "-"}
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
		if warned := strings.HasPrefix(event, "Warning"); warned != (name == "unread") {
			t.Errorf("%s: warned: %v", name, warned)
		}
	}
}

// Thirty sets scale down together, and a status keeps twenty. Nothing waits for entries that cannot follow.
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
		isTold, err := r.Over(context.Background(), &report.Over{Set: web, Namespace: "shop", UID: web.UID(), Generation: 1, From: 4, To: 3, First: fakeapi.Now, Deleted: 1})
		if fakeapi.Must(t, err); !isTold {
			t.Error("not told")
		}
	}
	if count, took := reads.Count.Load(), time.Since(began); count > 60 || took > 4*time.Second {
		t.Errorf("%d reads, and %v until all were told", count, took)
	}
	for _, each := range fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads {
		if down := each.LastScaleDown; down.Deleted == nil || *down.Deleted != 1 || *down.Missed != 0 {
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
			return (strings.Contains(line, fmt.Sprintf(`"result"=%q`, result)) || strings.Contains(line, fmt.Sprintf(`"result":%q`, result))) &&
				strings.Contains(line, "because")
		})
		if isLogged != isUnsteered || (report.Audit(o)["result"] == string(result)) != isUnsteered {
			t.Errorf("%s: %v, %v", result, lines, report.Audit(o))
		}
	}
}
