package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// log is a reporter whose log is text, as in the program, on a server with the policy of the shop.
func log() (*report.Reporter, *bytes.Buffer) {
	_, policy, _ := fakeapi.Shop(0)
	r, events := fakeapi.New(policy).NewReporter()
	events.Events = nil
	var lines bytes.Buffer
	r.Log = zap.New(zap.WriteTo(&lines))
	return r, &lines
}

// sent returns what is read from a recorder: the events as they are sent, since the last time.
func sent(events *events.FakeRecorder) (all []string) {
	for len(events.Events) > 0 {
		all = append(all, <-events.Events)
	}
	return all
}

// recording has a reporter send events to a recorder with everything that they say.
func recording(r *report.Reporter) *events.FakeRecorder {
	recorder := events.NewFakeRecorder(10)
	recorder.Verbose, r.Events = true, recorder
	return recorder
}

// outcome is one of a request that lowers the count of the set "web" by the policy of the shop, by which pods of these names go.
func outcome(t *testing.T, result steer.Result, why steer.Why, names ...string) *steer.Outcome {
	t.Helper()
	_, policy, _ := fakeapi.Shop(0)
	policy.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ScaleDownPolicy"))
	o := &steer.Outcome{
		Request: steer.Request{UID: fakeapi.UID(5, 1), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 6, To: 4},
		Result:  result, Set: set(t), Policy: policy, At: fakeapi.Now, Count: len(names), Written: len(names), Rules: map[string]int{why.Rule: len(names)},
	}
	for i, name := range names {
		o.Selected, o.Whys = append(o.Selected, cost.Pod{Key: fakeapi.Key(name), UID: fakeapi.UID(3, i)}), append(o.Whys, why)
	}
	return o
}

// Checks records as text. A record has no field that does not concern its policy.
func TestRecord(t *testing.T) {
	value := 2.5
	const head = `"msg":"decision","decision":{"v":1,"time":"2026-03-10T12:00:00.000Z","request":"00000005-0000-4000-8000-000000000001",` +
		`"kind":"ReplicaSet","namespace":"shop","name":"web","uid":"00000001-0000-4000-8000-000000000000","generation":1,"mode":"Steer","from":6,"to":4,`
	full := outcome(t, steer.Steered, steer.Why{Rule: "deletion-cost"}, "web-0", "web-1")
	full.Next, full.UnsteerableCount = "web-2", 1
	late := outcome(t, steer.DeadlineExceeded, steer.Why{Rule: "uid"}, "web-0")
	late.Message, late.Policy = "it is <late>", nil
	for _, c := range []struct {
		of      *steer.Outcome
		publish bool
		want    string
	}{
		{full, false, head + `"result":"Steered","policy":"spot","written":2,"unsteerable":1,"next":"web-2","pods":[` +
			`{"name":"web-0","uid":"00000003-0000-4000-8000-000000000000","rule":"deletion-cost"},` +
			`{"name":"web-1","uid":"00000003-0000-4000-8000-000000000001","rule":"deletion-cost"}],"rules":{"deletion-cost":2}}}` + "\n"},
		{outcome(t, steer.Unconfirmed, steer.Why{Rule: "value", Value: &value}, "web-0"), false, head + `"result":"Unconfirmed","policy":"spot","written":1,"pods":[` +
			`{"name":"web-0","uid":"00000003-0000-4000-8000-000000000000","rule":"value"}],"rules":{"value":1}}}` + "\n"},
		{outcome(t, steer.Steered, steer.Why{Rule: "value", Value: &value}, "web-0"), true, head + `"result":"Steered","policy":"spot","written":1,"pods":[` +
			`{"name":"web-0","uid":"00000003-0000-4000-8000-000000000000","rule":"value","value":2.5}],"rules":{"value":1}}}` + "\n"},
		{late, false, head + `"result":"DeadlineExceeded","message":"it is <late>","written":1,"pods":[],"rules":{}}}` + "\n"},
		{outcome(t, steer.NoPolicy, steer.Why{Rule: "uid"}), false, ""},
	} {
		r, lines := log()
		r.PublishValues = c.publish
		r.Outcome(context.Background(), c.of)
		if got := lines.String(); !strings.HasSuffix(got, c.want) || (got == "") != (c.want == "") || strings.Count(got, "\n") > 1 {
			t.Errorf("%s\nnot\n%s", got, c.want)
		}
	}
}

// Each event about a decision goes to the set and to the policy, with the fields that programs need, which never have
// values of pods.
func TestEvents(t *testing.T) {
	value := 2.5
	r, _ := log()
	recorder := recording(r)
	r.PublishValues = true
	r.Outcome(context.Background(), outcome(t, steer.Steered, steer.Why{Rule: "value", Value: &value}, "web-0", "web-1"))
	const set, policy = " {kind=ReplicaSet,apiVersion=apps/v1}", " {kind=ScaleDownPolicy,apiVersion=podrank.dev/v1alpha1}"
	const says = "Normal Steered ScaleDown Scaling from 6 to 4: selected 2 pods: web-0 (value 2.5), web-1 (value 2.5), wrote 2 deletion costs"
	const annotation = ` map[podrank.dev/scale-down:{"v":1,"mode":"Steer","from":6,"to":4,"pods":[` +
		`{"uid":"00000003-0000-4000-8000-000000000000","rule":"value"},{"uid":"00000003-0000-4000-8000-000000000001","rule":"value"}]}]`
	if got, want := sent(recorder), []string{says + set + policy + annotation, says + policy + set + annotation}; !slices.Equal(got, want) {
		t.Errorf("%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	late := outcome(t, steer.DeadlineExceeded, steer.Why{Rule: "uid"}, "web-0")
	late.Policy, late.Message = nil, "late"
	r.Outcome(context.Background(), late)
	if got, want := sent(recorder), []string{`Warning DeadlineExceeded ScaleDown Scaling from 6 to 4 without steering: late` + set + ` map[podrank.dev/scale-down:{"v":1,"mode":"Steer","from":6,"to":4,"pods":[]}]`}; !slices.Equal(got, want) {
		t.Errorf("%s", got)
	}
	over := &report.Over{Set: late.Set, Namespace: "shop", UID: late.Set.UID(), Generation: 1, From: 6, To: 4, First: fakeapi.Now, Deleted: 1, Missed: map[string][]string{}, Waited: time.Minute}
	over.Miss("CostChanged", "web-1", "karpenter")
	if isTold, err := r.Over(context.Background(), over); !isTold || err != nil {
		t.Errorf("not told: %v", err)
	}
	const missed = "Warning Missed ScaleDown Scaled from 6 to 4: kept 1 of 2 selected pods: CostChanged: web-1 (cost written by karpenter)"
	if got, want := sent(recorder), []string{missed + set, missed + set}; !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Of a scale-down that was observed, it is recorded what became of the pods, with the probability of those about which chance decided.
func TestRecordObserved(t *testing.T) {
	r, lines := log()
	o := outcome(t, steer.Observed, steer.Why{})
	id := func(i int) types.UID { return fakeapi.UID(3, i) }
	o.Observation = &steer.Observation{Prediction: &decide.Prediction{
		Delete: 4, Certain: decide.Names{id(0): "web-0", id(1): "web-1"}, Possible: map[types.UID]bool{id(0): true, id(1): true, id(2): true, id(3): true},
		Whys: map[types.UID]decide.Why{id(0): {Rule: "restarts"}, id(1): {}}, Chances: map[types.UID]float64{id(2): 0.25, id(3): 0.75},
	}}
	deleted := decide.Names{id(3): "web-3", id(0): "web-0", id(1): "web-1", id(4): "web-4"}
	r.Observed(context.Background(), o, steer.Comparison{Without: steer.Changed, Deleted: deleted})
	if strings.Contains(lines.String(), "decision") {
		t.Errorf("it was not compared: %s", lines)
	}
	r.Observed(context.Background(), o, steer.Comparison{Deleted: deleted, Wrong: []string{"web-4 went"}})
	want := `"result":"PredictedWrongly","policy":"spot","message":"web-4 went","written":0,"pods":[` +
		`{"name":"web-0","uid":"00000003-0000-4000-8000-000000000000","rule":"restarts"},` +
		`{"name":"web-1","uid":"00000003-0000-4000-8000-000000000001","rule":"certain"},` +
		`{"name":"web-3","uid":"00000003-0000-4000-8000-000000000003","rule":"chance","probability":0.75},` +
		`{"name":"web-4","uid":"00000003-0000-4000-8000-000000000004","rule":"unpredicted"}],` +
		`"rules":{"certain":1,"chance":1,"restarts":1,"unpredicted":1}}}` + "\n"
	if !strings.HasSuffix(lines.String(), want) {
		t.Errorf("%s\nnot\n%s", lines, want)
	}
}

// Of a very large scale-down, a line and an event name 100 pods.
func TestRecordMany(t *testing.T) {
	r, lines := log()
	recorder := recording(r)
	var names []string
	for i := range 700 {
		names = append(names, fmt.Sprint("web-", i))
	}
	r.Outcome(context.Background(), outcome(t, steer.Steered, steer.Why{Rule: "not-ready"}, names...))
	type few struct {
		Pods  []any
		More  int
		Rules map[string]int
	}
	var line struct{ Decision few }
	fakeapi.Must(t, json.Unmarshal(lines.Bytes(), &line))
	if d := line.Decision; len(d.Pods) != 100 || d.More != 600 || d.Rules["not-ready"] != 700 || lines.Len() > 16<<10 {
		t.Errorf("%d pods, %d more, %v, %d bytes", len(d.Pods), d.More, d.Rules, lines.Len())
	}
	_, text, _ := strings.Cut(strings.TrimSuffix(sent(recorder)[0], "]"), "map["+report.Annotation+":")
	var event few
	fakeapi.Must(t, json.Unmarshal([]byte(text), &event))
	if len(event.Pods) != 100 || event.More != 600 {
		t.Errorf("%d pods, %d more", len(event.Pods), event.More)
	}
}

// The page has exactly the fields of a line.
func TestRecordPage(t *testing.T) {
	text, err := os.ReadFile(page)
	fakeapi.Must(t, err)
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\| (?:text|number|array|object) \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, strings.TrimPrefix(row[1], "pods."))
	}
	if has := report.Fields(); !slices.Equal(documented, has) {
		t.Errorf("%v, not %v", documented, has)
	}
}

// The end of a scale-down is in its status, however long it is.
func TestLongEnd(t *testing.T) {
	_, policy, _ := fakeapi.Shop(0)
	policy.Status.Workloads = []v1alpha1.WorkloadStatus{entry("web", 0, 4, nil)}
	api := fakeapi.New(policy)
	r, _ := api.NewReporter()
	over := &report.Over{Namespace: "shop", UID: "web", To: 4, First: fakeapi.Now, Missed: map[string][]string{}}
	over.Miss("CostChanged", strings.Repeat("n", 2000), "karpenter")
	if isTold, err := r.Over(context.Background(), over); !isTold || err != nil {
		t.Errorf("not told: %v", err)
	}
	message := fakeapi.Read[v1alpha1.ScaleDownPolicy](t, api, "spot").Status.Workloads[0].LastScaleDown.MissedMessage
	if len(message) > 1000 || !strings.HasPrefix(message, "CostChanged: nnn") || !strings.HasSuffix(message, "n…") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
}

// However long names are and however much else there is to say, an event fits, and says how many pods there are. Names come before what else there is.
func TestLongNames(t *testing.T) {
	for _, length := range []int{5, 40, 253} {
		for _, unsteerable := range []int{0, 5} {
			var names []string
			for i := range 300 {
				names = append(names, fmt.Sprintf("%s%03d", strings.Repeat("n", length-3), i))
			}
			o := outcome(t, steer.Unconfirmed, steer.Why{Rule: "rank"}, names...)
			o.Policy, o.Next, o.UnsteerableCount = nil, names[0], unsteerable
			for i := range unsteerable {
				o.Unsteerable = append(o.Unsteerable, decide.Unsteerable{Pod: names[i], Rule: "phase"})
			}
			r, events := fakeapi.New().NewReporter()
			r.Outcome(context.Background(), o)
			_, event, _ := strings.Cut(<-events.Events, " Unconfirmed ")
			has := strings.Count(event, " (rank)")
			if !strings.Contains(event, fmt.Sprintf("(rank) and %d more, the next one would be %s, wrote 300 deletion", 300-has, names[0])) {
				t.Errorf("%d: %s", length, event)
			}
			least := map[int]int{5: 10, 40: 8, 253: 1}[length]
			if len(event) > 1000 || has < least || has > 10 {
				t.Errorf("%d: %d bytes, %d names: %s", length, len(event), has, event)
			}
		}
	}
}
