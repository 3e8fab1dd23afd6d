package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/go/judge/internal/answers"
	library "github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// group is a group of order.json.
type group struct {
	Name       string
	Policy     vectors.Policy
	Pods       map[string]vectors.Record
	Selections []groupSelection
	Pairs      []groupPair
}

type groupSelection struct {
	Pods, Related, Victims []string
	Delete                 int
	AnyOrder               bool
	Policy                 *vectors.Policy
}

type groupPair struct {
	First, Second, Rule string
	Ranks               *[2]int
	Policy              *vectors.Policy
}

// The groups of order.json that claim to be facts of upstream are: the real
// code gives the same answers, be it pairs, sorts or the controller's choice.
func TestFactsOfOrderJSON(t *testing.T) {
	// As many pairs and selections as they have at least.
	facts := map[string]int{
		"active pods": 11, "active pods with ranks": 27, "pods to delete": 10, "deletion cost, integration": 4,
		"trap: a step that is true both ways": 2, "trap: phases compared as text": 3, "trap: the zero time": 16, "trap: costs": 6,
		"trap: sidecar restarts": 2,
	}
	var groups []group
	if err := vectors.Read("order.json", &groups); err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if least, isFact := facts[g.Name]; !isFact || len(g.Pairs)+len(g.Selections) < least {
			continue
		}
		delete(facts, g.Name)
		for _, pair := range g.Pairs {
			g.checkPair(t, pair)
		}
		for _, selection := range g.Selections {
			g.checkSelection(t, selection)
		}
	}
	if len(facts) > 0 {
		t.Errorf("not there, or smaller than it was: %v", facts)
	}
}

// checkPair says that upstream calls the first pod of a pair before the second, or neither.
func (g group) checkPair(t *testing.T, pair groupPair) {
	if pair.Rule == "uid" {
		return // upstream asks it elsewhere
	}
	first, second := g.Pods[pair.First], g.Pods[pair.Second]
	ranks := [2]int{first.Rank, second.Rank}
	if pair.Ranks != nil {
		ranks = *pair.Ranks
	}
	want := -1
	if pair.Rule == "" {
		want = 0
	}
	a, b := &sample{pod: first.V1(), rank: ranks[0]}, &sample{pod: second.V1(), rank: ranks[1]}
	if got := says(t, gates(t, or(pair.Policy, g.Policy)), a, b); got != want {
		t.Errorf("%s: %s and %s: upstream says %d", g.Name, pair.First, pair.Second, got)
	}
}

// checkSelection says that upstream takes the victims of a selection.
func (g group) checkSelection(t *testing.T, s groupSelection) {
	w := gates(t, or(s.Policy, g.Policy))
	var pods, related []*v1.Pod
	var ranks []int
	name := map[*v1.Pod]string{}
	for _, n := range s.Pods {
		p := g.Pods[n].V1()
		pods, ranks, name[p] = append(pods, p), append(ranks, g.Pods[n].Rank), n
	}
	for _, n := range s.Related {
		related = append(related, g.Pods[n].V1())
	}
	victims := pods[:s.Delete]
	if s.Related == nil {
		upstream.Sort(pods, ranks, w.now)
	} else {
		victims = upstream.PodsToDelete(pods, related, s.Delete)
	}
	var got []string
	for _, p := range victims {
		got = append(got, name[p])
	}
	want := slices.Clone(s.Victims)
	if s.AnyOrder {
		slices.Sort(got)
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: deleting %d of %v, upstream takes %v, want %v", g.Name, s.Delete, s.Pods, got, want)
	}
}

func or(own *vectors.Policy, p vectors.Policy) vectors.Policy {
	if own != nil {
		return *own
	}
	return p
}

// gates sets upstream's gate as the policy says, and gives a world of its now.
func gates(t *testing.T, p vectors.Policy) *world {
	costGate(t, p.CostOn())
	w := &world{now: vectors.Time(p.Now)}
	if on, ok := p.FeatureGates["LogarithmicScaleDown"]; ok && !on {
		w.now.Reset() // the gate is gone upstream; a zero now does what its "off" did
	}
	return w
}

// upstream.json is what upstream says now of the pairs in it, each of which has a line. UPSTREAM=write writes what it says.
func TestUpstreamJSON(t *testing.T) {
	path := vectors.Path("upstream.json")
	then, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Now  *int64 `json:",string"`
		Pods map[string]vectors.Record
	}
	if err := json.Unmarshal(then, &file); err != nil {
		t.Fatal(err)
	}
	pairs := 0
	answers.Again(t, path, "UPSTREAM", "go test -run TestUpstreamJSON .", func(line string) string {
		var pair struct {
			First    string          `json:"first"`
			Second   string          `json:"second"`
			Relation string          `json:"relation"`
			Policy   *vectors.Policy `json:"policy,omitempty"`
		}
		if strings.HasPrefix(line, `  "kubernetes":`) {
			return fmt.Sprintf(`  "kubernetes": %q`, Kubernetes)
		}
		if json.Unmarshal([]byte(line), &pair) != nil || pair.First == "" {
			return line
		}
		pairs++
		w := gates(t, or(pair.Policy, vectors.Policy{Now: file.Now}))
		first, second := file.Pods[pair.First], file.Pods[pair.Second]
		relation := says(t, w, &sample{pod: first.V1(), rank: first.Rank}, &sample{pod: second.V1(), rank: second.Rank})
		pair.Relation = map[bool]string{true: "tie", false: "before"}[relation == 0]
		if relation == 1 {
			pair.First, pair.Second = pair.Second, pair.First
		}
		text, err := json.Marshal(pair)
		if err != nil {
			t.Fatal(err)
		}
		return "    " + string(text)
	})
	if pairs < 500 {
		t.Errorf("%d pairs", pairs)
	}
}

// Three readers of the annotation agree on every text: upstream's, the library's and the module's.
func TestDeletionCost(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Text  string
		Cost  int32
		Error string
	}
	if err := vectors.Read("deletion-cost.json", &cases); err != nil {
		t.Fatal(err)
	}
	check := func(text string) (int32, bool) {
		want, wantErr := upstream.DeletionCost(map[string]string{v1.PodDeletionCost: text})
		got, err := library.DeletionCost(text)
		ours, ok := library.ModuleDeletionCost(text)
		if got != want || (err == nil) != (wantErr == nil) || ours != want || ok != (wantErr == nil) {
			t.Errorf("%q: upstream says %d, %v; the library %d, %v; the module %d, %t", text, want, wantErr, got, err, ours, ok)
		}
		return want, wantErr == nil
	}
	for _, c := range cases {
		if cost, ok := check(c.Text); cost != c.Cost || ok != (c.Error == "") {
			t.Errorf("deletion-cost.json: %q is %d, valid: %t", c.Text, cost, ok)
		}
	}
	r, valid := seeded(6, 0), 0
	const texts = 1_000_000
	for range texts {
		var b strings.Builder
		for range pick(r, r.IntN(13), r.IntN(13), r.IntN(60)) {
			if r.IntN(12) > 0 {
				b.WriteByte(byte('0' + r.IntN(10)))
			} else {
				b.WriteString(pick(r, "-", "-", "+", "_", ".", "e", "x", " ", "\n", "\x00", "\xff", "٣"))
			}
		}
		if r.IntN(4) == 0 { // near the ends of int32
			b.Reset()
			fmt.Fprint(&b, pick(r, int64(-1)<<31, 1<<31, 1<<32)+r.Int64N(7)-3)
		}
		text := pick(r, "", "", "", "-", "-0", "+", "0") + b.String()
		if _, ok := check(text); ok {
			valid++
		}
	}
	if valid < texts/10 || valid > texts*9/10 {
		t.Errorf("%d of %d random texts are valid", valid, texts)
	}
	if cost, err := upstream.DeletionCost(nil); cost != 0 || err != nil {
		t.Errorf("a missing annotation: %d, %v", cost, err)
	}
}
