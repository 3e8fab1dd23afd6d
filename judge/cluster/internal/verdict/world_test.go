package verdict

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// at returns a time of a round, in seconds.
func at(second float64) time.Time { return began.Add(time.Duration(second * float64(time.Second))) }

func set(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// outcome is what a run printed.
func outcome(t *testing.T, text string) (s *preview.Steered) {
	t.Helper()
	if text != "" {
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// scaledWorld is one in which podrank lowered the count from 4 to 2 at second 10, and the controller took these pods at second 11.
func scaledWorld(took string) *World {
	w := &World{Count: 4, Before: set("a b c d"), Made: map[string]time.Time{}, Occupied: set("n1"),
		Counts: []Counted{{By: "podrank", From: 4, To: 2, At: at(10)}}}
	for name := range strings.FieldsSeq(took) {
		w.Deleted = append(w.Deleted, Deleted{name, Controller, at(11)})
	}
	return w
}

// seen is a run that confirmed a and b, read at second 9 before its count, and looked at second 15 last.
func seen(t *testing.T, exit int, said, document string) *Seen {
	return &Seen{User: "podrank", Confirmed: set("a b"), Exit: exit, Said: said, Document: outcome(t, document),
		LastRead: at(9), LastLook: at(15), Ended: at(16)}
}

const (
	allWent = "Scaled deploy/web from 4 to 2. Deleted exactly the 2 selected pods."
	cWent   = "Scaled deploy/web from 4 to 2, but not all went as planned; these stayed: b; these went although they should have stayed: c"
)

func TestTake(t *testing.T) {
	for _, test := range []struct {
		name  string
		took  string
		exit  int
		said  string
		more  func(*World, *Seen)
		taken Taken
		wrong string
	}{
		{"exactly the confirmed pods", "a b", 0, allWent, nil, Taken{Confirmed: 2}, ""},
		{"another, and nothing changed", "a c", 3, cWent, nil, Taken{Confirmed: 1}, "nothing had changed"},
		{"another, after a change that came late", "a c", 3, cWent, func(w *World, _ *Seen) {
			w.Changes = []Change{{"unready", "somebody", at(9.5)}}
		}, Taken{Confirmed: 1, Late: 1}, ""},
		{"another, after a change that it could see", "a c", 3, cWent, func(w *World, _ *Seen) {
			w.Changes = []Change{{"unready", "somebody", at(8.5)}}
		}, Taken{Confirmed: 1}, "nothing had changed"},
		{"another, after a change of its own", "a c", 3, cWent, func(w *World, _ *Seen) {
			w.Changes = []Change{{"cost", "podrank", at(9.5)}}
		}, Taken{Confirmed: 1}, "nothing had changed"},
		{"another, after the change, unsaid", "a c", 0, allWent, func(w *World, _ *Seen) {
			w.Changes = []Change{{"unready", "somebody", at(9.5)}}
		}, Taken{Confirmed: 1}, "does not say so"},
		{"another, after the change, and killed", "a c", -1, "", func(w *World, s *Seen) {
			w.Changes = []Change{{"unready", "somebody", at(9.5)}}
			s.Signal = syscall.SIGKILL
		}, Taken{Confirmed: 1, Late: 1}, ""},
		{"one more by an autoscaler", "a b c", 3, cWent, func(w *World, _ *Seen) {
			w.Counts = append(w.Counts, Counted{"hpa", 2, 1, at(10.5)})
		}, Taken{Confirmed: 2, ByOthers: 1}, ""},
		{"two more than an autoscaler wanted", "a b c d", 3, cWent, func(w *World, _ *Seen) {
			w.Counts = append(w.Counts, Counted{"hpa", 2, 1, at(10.5)})
		}, Taken{Confirmed: 2, ByOthers: 1}, "d went"},
		{"by a rollout", "a b c d", 3, cWent, func(w *World, _ *Seen) { w.Rolled = at(10.5) }, Taken{Confirmed: 2, ByOthers: 2}, ""},
		{"before a rollout", "a c", 3, cWent, func(w *World, _ *Seen) { w.Rolled = at(12) }, Taken{Confirmed: 1}, "nothing had changed"},
		{"without any count", "a", 1, "was not scaled", func(w *World, _ *Seen) { w.Counts = nil }, Taken{}, "nobody had lowered"},
		{"before the count", "a", 1, "", func(w *World, _ *Seen) { w.Counts[0].At = at(12) }, Taken{}, "nobody had lowered"},
		{"by another run that was asked for it", "a b c", 0, allWent, func(w *World, _ *Seen) {
			w.Counts = append(w.Counts, Counted{"rival", 2, 1, at(10.5)})
		}, Taken{Confirmed: 3}, ""},
	} {
		w, run := scaledWorld(test.took), seen(t, test.exit, test.said, "")
		if test.more != nil {
			test.more(w, run)
		}
		rival := &Seen{User: "rival", Confirmed: set("c"), LastRead: at(9)}
		taken, wrong := w.Take([]*Seen{run, rival})
		texts := ""
		for _, err := range wrong {
			texts += err.Error() + "\n"
		}
		if taken != test.taken || (texts == "") != (test.wrong == "") || !strings.Contains(texts, test.wrong) {
			t.Errorf("%s: %+v %s", test.name, taken, texts)
		}
	}
}

const document = `{"exit":0,"deleted":[{"name":"a"},{"name":"b"}],"nodes":[{"name":"n2","becomesEmpty":true}],"message":"x"}`

// statements are true and false ones about what became of a run.
var statements = []struct {
	name           string
	took           string
	exit           int
	said, document string
	more           func(*World, *Seen)
	wrong          string
}{
	{"true", "a b", 0, allWent, document, nil, ""},
	{"one stayed", "a", 0, allWent, "", nil, "b, which was confirmed, stays"},
	{"another went", "a b c", 0, allWent, "", nil, "c went, which was not confirmed"},
	{"another went that came later than the reading", "a b e", 0, allWent, "", func(w *World, _ *Seen) { w.Made["e"] = at(9.5) }, ""},
	{"another went that was new", "a b e", 0, allWent, "", func(w *World, _ *Seen) { w.Made["e"] = at(8) }, "e went"},
	{"another went after the last look", "a b", 0, allWent, "", func(w *World, _ *Seen) {
		w.Deleted = append(w.Deleted, Deleted{"c", Controller, at(15.5)})
	}, ""},
	{"another was deleted by somebody", "a b", 0, allWent, "", func(w *World, _ *Seen) {
		w.Deleted = append(w.Deleted, Deleted{"c", "somebody", at(12)})
	}, ""},
	{"no count", "", 0, allWent, "", func(w *World, _ *Seen) { w.Counts = nil }, "did not change the count"},
	{"another count", "a b", 0, "Scaled deploy/web from 4 to 1. Deleted exactly the 2 selected pods.", "", nil, "from 4 to 1"},
	{"another number", "a b", 0, "Scaled deploy/web from 4 to 2. Deleted exactly the 3 selected pods.", "", nil, "3 selected pods"},
	{"the document has another status", "a b", 0, allWent, `{"exit":3,"deleted":[{"name":"a"},{"name":"b"}]}`, nil, "the outcome says 3"},
	{"a promised node is not empty", "a b", 0, allWent, document, func(w *World, _ *Seen) { w.Occupied["n2"] = true }, "n2 is not empty"},
	{"a promised node has pods of a rollout", "a b", 0, allWent, document, func(w *World, _ *Seen) {
		w.Occupied["n2"], w.Rolled = true, at(15)
	}, ""},
	{"it forgets one", "a b", 0, allWent, `{"exit":0,"deleted":[{"name":"a"}]}`, nil, "what became of b"},
	{"it says that one went", "a c", 3, cWent, `{"exit":3,"deleted":[{"name":"a"},{"name":"b"}],"unexpected":[{"name":"c"}]}`, nil, "says that b went"},
	{"it says that one stayed", "a b c", 3, cWent, `{"exit":3,"deleted":[{"name":"a"}],"missed":[{"name":"b"}],"unexpected":[{"name":"c"}]}`, nil, "says that b stayed"},
	{"it says that another went", "a c", 3, cWent, `{"exit":3,"deleted":[{"name":"a"}],"missed":[{"name":"b"}],"unexpected":[{"name":"c"},{"name":"d"}]}`, nil, "says that d went"},
	{"not as planned", "a c", 3, cWent, `{"exit":3,"deleted":[{"name":"a"}],"missed":[{"name":"b"}],"unexpected":[{"name":"c"}]}`, nil, ""},
	{"it does not name the other", "a c", 3, "Scaled deploy/web from 4 to 2; these stayed: b", "", nil, "c went, which was not confirmed, and it does not"},
	{"it does not name the one that stays", "a c", 3, "Scaled deploy/web from 4 to 2, and these went: c", "", nil, "b, which was confirmed, stays"},
	{"all went as planned", "a b", 3, "Scaled deploy/web from 4 to 2, not as planned", "", nil, "exactly the confirmed pods went"},
	{"a node is named, and empty", "a b", 3, "n2 did not become empty", "", nil, "exactly the confirmed pods went"},
	{"a node is named, and is not empty", "a b", 3, "n1 did not become empty", "", nil, ""},
	{"unscaled, it says", "a b", 1, "deploy/web was not scaled: it is over", "", nil, "changed the count from 4 to 2"},
	{"unscaled", "", 1, "deploy/web was not scaled: it is over", "", func(w *World, _ *Seen) { w.Counts = nil }, ""},
	{"not as planned without a count", "", 3, "", "", func(w *World, _ *Seen) { w.Counts = nil }, "nobody lowered the count"},
	{"lowered by somebody else", "a", 3, "deploy/web was not scaled; its count is 3 now; these went meanwhile: a", "", func(w *World, _ *Seen) {
		w.Counts[0] = Counted{"hpa", 4, 3, at(10)}
	}, ""},
	{"another went by a rollout", "a b c", 0, allWent, "", func(w *World, _ *Seen) { w.Rolled = at(10.5) }, ""},
	{"another went before a rollout", "a b c", 0, allWent, "", func(w *World, _ *Seen) { w.Rolled = at(11.5) }, "c went"},
	{"a rollout took them", "a b", 3, "deploy/web was not scaled; these went meanwhile: a, b", "", func(w *World, _ *Seen) {
		w.Counts, w.Rolled = nil, at(10.5)
	}, ""},
	{"scaled by somebody else", "a b", 0, "Somebody else scaled deploy/web from 4 to 2. Deleted exactly the 2 selected pods.", "",
		func(w *World, _ *Seen) { w.Counts[0].By = "hpa" }, ""},
	{"scaled by somebody else, unsaid", "a b", 0, allWent, "", func(w *World, _ *Seen) { w.Counts[0].By = "hpa" }, "did not change the count"},
	{"scaled by nobody", "a b", 0, "Somebody else scaled deploy/web from 4 to 2. Deleted exactly the 2 selected pods.", "",
		func(w *World, _ *Seen) { w.Counts = nil }, "did not change the count"},
	{"lowered by somebody else, and no pod is named", "a", 3, "deploy/web was not scaled", "", func(w *World, _ *Seen) {
		w.Counts[0] = Counted{"hpa", 4, 3, at(10)}
	}, "nobody lowered the count"},
	{"without the command", "a", 4, "costs are left", "", nil, "without the command"},
	{"with the command", "a", 4, "costs are left; run: kubectl podrank undo deploy/web", "", nil, ""},
	{"with the command for a barrier pod", "a b", 4, allWent + " the barrier pod is left: kubectl delete replicasets.apps,pods -l podrank.dev/barrier=x", "", nil, ""},
	{"an unknown status", "", 7, "", "", func(w *World, _ *Seen) { w.Counts = nil }, "exit status 7"},
	{"after a no", "a b", 0, allWent, "", func(_ *World, s *Seen) { s.Refused = true }, "not answered with yes"},
	{"raised again", "a b", 0, allWent + " Its count is 4 again.", "", func(w *World, _ *Seen) {
		w.Counts = append(w.Counts, Counted{"hpa", 2, 4, at(12)})
	}, ""},
	{"raised again, it says", "a b", 0, allWent + " Its count is 4 again.", "", nil, "count is 4 again"},
	{"costs are left, with another status", "a b", 0, allWent,
		`{"exit":0,"deleted":[{"name":"a"},{"name":"b"}],"leftovers":[{"name":"c"}]}`, nil, "costs are left"},
	{"killed", "a c", -1, "", "", func(_ *World, s *Seen) { s.Signal = syscall.SIGKILL }, ""},
	{"ended by Ctrl-C after the count", "a b", -1, "", "", func(_ *World, s *Seen) { s.Signal = syscall.SIGINT }, "exit status -1"},
}

// TestTold finds each false statement.
func TestTold(t *testing.T) {
	for _, test := range statements {
		w, run := scaledWorld(test.took), seen(t, test.exit, test.said, test.document)
		if test.more != nil {
			test.more(w, run)
		}
		err := w.Told(run)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
