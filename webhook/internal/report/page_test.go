package report_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
)

const page = "../../../docs/decisions.md"

// queries runs the SQL of the page in a folder: the first statement reads the lines, and each other one answers with its rows. SQLite's shell has a
// function readfile, which Python has not.
const queries = `
import json, re, sqlite3, sys
reads, *asks = re.findall("^` + "```sql\\n(.*?)^```" + `$", open(sys.argv[1]).read(), re.MULTILINE | re.DOTALL)
base = sqlite3.connect(":memory:")
base.create_function("readfile", 1, lambda name: open(name, "rb").read())
base.executescript(reads)
print(json.dumps([base.execute(ask).fetchall() for ask in asks]))
`

// answers are what the queries of the page say about these lines, as JSON.
func answers(t *testing.T, lines []byte) []string {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(page)
	fakeapi.Must(t, err)
	fakeapi.Must(t, os.WriteFile(filepath.Join(dir, "decisions.jsonl"), lines, 0o644))
	run := exec.Command("python3", "-c", queries, path)
	run.Dir, run.Stderr = dir, os.Stderr
	out, err := run.Output()
	fakeapi.Must(t, err)
	var answers []json.RawMessage
	fakeapi.Must(t, json.Unmarshal(out, &answers))
	var texts []string
	for _, answer := range answers {
		var compact bytes.Buffer
		fakeapi.Must(t, json.Compact(&compact, answer))
		texts = append(texts, compact.String())
	}
	return texts
}

// A month of scale-downs, and the answers to the page's questions as they are made.
type month struct {
	rules map[string]int
	pods  [][]any
	fails map[[2]string]int
	// missed is how many pods each workload has missed.
	missed map[string]int
}

// row is a row of an answer.
func row(values ...any) []any { return values }

// The queries of the page answer as somebody would who counts while the lines are written: with scale-downs of three months, some of which were
// asked about twice, and some of which were not steered.
func TestPage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	r, lines := log()
	// Otherwise it would write only some of so many.
	var mu sync.Mutex
	r.Log = funcr.NewJSON(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(lines, line)
	}, funcr.Options{})
	rules := []string{"first[0]", "value", "not-ready", "restarts", "uid", "uid", "uid"}
	results := []steer.Result{steer.Steered, steer.Steered, steer.Unconfirmed, steer.NoRoom, steer.DeadlineExceeded}
	year, m, _ := time.Now().UTC().Date()
	last := time.Date(year, m-1, 1, 0, 0, 0, 0, time.UTC)
	begins := []time.Time{last.AddDate(0, -1, 0), last, last.AddDate(0, 1, 0)}
	want := month{rules: map[string]int{}, fails: map[[2]string]int{}, missed: map[string]int{}}
	for i := range 600 {
		at := begins[i/200].Add(time.Duration(i%200) * time.Hour)
		if i == 399 {
			at = begins[2].Add(-time.Millisecond)
		}
		o := outcome(t, results[random.IntN(len(results))], steer.Why{Rule: rules[random.IntN(len(rules))]}, fmt.Sprint("web-", i), "web-7c5ddbdf54-x2v9p")
		o.At, o.Message, o.Next = at, "so it is", "web-0"
		o.Set.Object.SetUID(fakeapi.UID(1, i))
		o.Key.Name = fmt.Sprint("web-", i%7)
		// Nobody has a policy of this name, so there is no status to write.
		o.Policy.Name = fmt.Sprint("policy-", random.IntN(3))
		if random.IntN(4) == 0 {
			again := *o
			again.Result, again.At, again.Next = results[random.IntN(len(results))], at.Add(-9*time.Second), "web-9"
			r.Outcome(context.Background(), &again)
		}
		r.Outcome(context.Background(), o)
		if i%9 == 0 && o.Result.Holds() {
			// Some ends are written twice.
			over := &report.Over{Namespace: "shop", UID: fakeapi.UID(1, i), Generation: 1, To: o.To, First: at, Deleted: 1, Missed: map[string][]string{}, Waited: time.Minute}
			over.Miss("CostChanged", "web-1", "")
			for range 1 + i%2 {
				if isTold, err := r.Over(context.Background(), over); !isTold || err != nil {
					t.Errorf("not told: %v", err)
				}
			}
			want.missed[fmt.Sprint("web-", i%7)]++
		}
		if !o.Result.Holds() {
			want.fails[[2]string{o.Policy.Name, string(o.Result)}]++
			continue
		}
		want.pods = append(want.pods, row(at.Format("2006-01-02T15:04:05.000Z"), o.Result, o.Whys[1].Rule, "web-0"))
		if begins[i/200].Equal(last) {
			want.rules[o.Whys[0].Rule] += 2
		}
	}
	got := answers(t, lines.Bytes())
	for i, rows := range [][][]any{want.byRule(), want.pods, want.byPolicy(), want.byName()} {
		slices.SortStableFunc(rows, func(a, b []any) int {
			if i == 1 {
				return 0
			}
			return cmp.Compare(b[len(b)-1].(int), a[len(a)-1].(int))
		})
		text, err := json.Marshal(rows)
		fakeapi.Must(t, err)
		if len(rows) < 5 || i >= len(got) || got[i] != string(text) {
			t.Errorf("query %d: %s\nnot\n%s", i+1, strings.Join(got[i:min(i+1, len(got))], ""), text)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d queries", len(got))
	}
}

func (m *month) byRule() (rows [][]any) {
	for rule, pods := range m.rules {
		rows = append(rows, row(rule, pods))
	}
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	return rows
}

func (m *month) byPolicy() (rows [][]any) {
	for of, times := range m.fails {
		rows = append(rows, row("shop", of[0], of[1], times))
	}
	slices.SortFunc(rows, func(a, b []any) int {
		return cmp.Or(strings.Compare(a[1].(string), b[1].(string)), strings.Compare(a[2].(string), b[2].(string)))
	})
	return rows
}

func (m *month) byName() (rows [][]any) {
	for _, name := range slices.Sorted(maps.Keys(m.missed)) {
		rows = append(rows, row(name, m.missed[name]))
	}
	return rows
}
