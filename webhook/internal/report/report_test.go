package report_test

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

func set(t *testing.T) *workload.Set {
	t.Helper()
	replicaSet, _, _ := fakeapi.Shop(0)
	set, err := workload.OfReplicaSet(replicaSet)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The API server refuses events with longer notes.
func TestLongNote(t *testing.T) {
	r, recorder := fakeapi.New().NewReporter()
	r.Outcome(context.Background(), &steer.Outcome{Result: steer.Failed, Message: strings.Repeat("ä", 2_000), Set: set(t)})
	// The recorder puts type and reason before it.
	event := strings.TrimPrefix(<-recorder.Events, "Warning Failed ")
	if len(event) > 1024 || len(event) < 1000 || !utf8.ValidString(event) || !strings.HasSuffix(event, "ä…") {
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
	r.Over(context.Background(), &report.Over{Set: set(t), Namespace: "shop", UID: "web", To: 1, Gone: 1})
	r.Wait()
	if after := version(); after != before {
		t.Errorf("written: %s is now %s", before, after)
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
			Request: steer.Request{Key: set.Key(), Kind: set.Kind, From: from, To: to}, Result: steer.Steered, Set: set, Policy: policy,
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
	// Much later, it is another one, and so it is at another count.
	falls(web, 6, 5, 1, 2*time.Second)
	falls(web, 6, 5, 1, time.Minute)
	if all := downs(); len(all) != 4 || all[0].Written != 1 {
		t.Errorf("%+v", all)
	}
}
