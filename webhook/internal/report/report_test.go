package report_test

import (
	"context"
	"strings"
	"testing"
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
	r.Over(context.Background(), &report.Over{Set: set(t), UID: "web", To: 1, Policy: policy, Gone: 1})
	r.Wait()
	if after := version(); after != before {
		t.Errorf("written: %s is now %s", before, after)
	}
}
