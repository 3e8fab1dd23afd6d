package judge

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	podrank "github.com/podrank/podrank/go"
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

func groups(t *testing.T) map[string]group {
	var list []group
	if err := vectors.Read("order.json", &list); err != nil {
		t.Fatal(err)
	}
	byName := map[string]group{}
	for _, g := range list {
		byName[g.Name] = g
	}
	return byName
}

// The groups of order.json that claim to be facts of upstream are: the real
// code gives the same answers, be it pairs, sorts or the controller's choice.
// The Go module selects the same pods.
func TestFactsOfOrderJSON(t *testing.T) {
	all := groups(t)
	for _, c := range []struct {
		name              string
		pairs, selections int // as many as there are at least
	}{
		{"active pods", 9, 2},
		{"active pods with ranks", 27, 0},
		{"pods to delete", 0, 10},
		{"deletion cost, integration", 0, 4},
		{"trap: a step that is true both ways", 2, 0},
		{"trap: phases compared as text", 3, 0},
		{"trap: the zero time", 16, 0},
		{"trap: costs", 6, 0},
		{"trap: sidecar restarts", 2, 0},
	} {
		g := all[c.name]
		if len(g.Pairs) < c.pairs || len(g.Selections) < c.selections {
			t.Errorf("%s: only %d pairs and %d selections", c.name, len(g.Pairs), len(g.Selections))
		}
		for _, pair := range g.Pairs {
			g.checkPair(t, pair)
		}
		for _, selection := range g.Selections {
			g.checkSelection(t, selection)
		}
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

// checkSelection says that podrank, in both orders, and upstream take the victims of a selection.
func (g group) checkSelection(t *testing.T, s groupSelection) {
	policy, name := or(s.Policy, g.Policy), map[*v1.Pod]string{}
	w := gates(t, policy)
	var pods, related []*v1.Pod
	var ranks []int
	for _, n := range s.Pods {
		p := g.Pods[n].V1()
		pods, ranks, name[p] = append(pods, p), append(ranks, g.Pods[n].Rank), n
	}
	for _, n := range s.Related {
		related = append(related, g.Pods[n].V1())
	}
	check := func(who string, victims []*v1.Pod, err error) {
		var got []string
		for _, p := range victims {
			got = append(got, name[p])
		}
		want := slices.Clone(s.Victims)
		if s.AnyOrder {
			slices.Sort(got)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) || err != nil {
			t.Errorf("%s: deleting %d of %v, %s takes %v, want %v: %v", g.Name, s.Delete, s.Pods, who, got, want, err)
		}
	}
	for _, order := range [][]podrank.Option{nil, {podrank.Kubernetes()}} {
		options := append(order, podrank.WithNow(policy.Now.Time().Time), podrank.WithPodDeletionCost(policy.CostOn()))
		victims, err := podrank.PodsToDelete(pods, related, s.Delete, options...)
		check("podrank", victims, err)
	}
	if s.Related == nil {
		upstream.Sort(pods, ranks, w.now)
		check("upstream", pods[:s.Delete], nil)
	} else {
		check("upstream", upstream.PodsToDelete(pods, related, s.Delete), nil)
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
	w := &world{now: p.Now.Time()}
	if on, ok := p.FeatureGates["LogarithmicScaleDown"]; ok && !on {
		w.now.Reset() // the gate is gone upstream; a zero now does what its "off" did
	}
	return w
}

// upstream.json is what upstream says now, and podrank says the same, asked for its record of upstream and by the Go module.
func TestUpstreamJSON(t *testing.T) {
	var now bytes.Buffer
	file := vectors.Upstream(Kubernetes)
	if err := file.Write(&now); err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile(vectors.Path("upstream.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now.Bytes(), then) {
		t.Error("tests/vectors/upstream.json is out of date: go run ./cmd/vectors")
	}

	var read vectors.File
	if err := vectors.Read("upstream.json", &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Pairs) < 500 {
		t.Errorf("only %d pairs", len(read.Pairs))
	}
	w := &world{nodes: library.Nodes{}}
	for _, pair := range read.Pairs {
		p, first, second := read.PolicyOf(pair), read.Pods[pair.First], read.Pods[pair.Second]
		want := map[string]int{"before": -1, "tie": 0}[pair.Relation]
		a, b := w.record(first.V1(), first.Rank), w.record(second.V1(), second.Rank)
		if got, rule := library.Upstream(&a, &b, library.Time(p.Now.Time()), !p.CostOn()); got != want {
			t.Errorf("%s, %s: upstream says %s, podrank %d by %v", pair.First, pair.Second, pair.Relation, got, library.RuleName(rule))
		}
		if first.Rank != second.Rank {
			continue // a rank is no pod's own: TestRelation counts it
		}
		options := []podrank.Option{podrank.WithNow(p.Now.Time().Time), podrank.WithPodDeletionCost(p.CostOn())}
		if got := relation(t, first.V1(), second.V1(), nil, options...); got != want {
			t.Errorf("%s, %s: the Go module says %d, want %d", pair.First, pair.Second, got, want)
		}
	}
}

// Both readers of the annotation agree on every text.
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
		want, wantErr := upstream.DeletionCost(map[string]string{"controller.kubernetes.io/pod-deletion-cost": text})
		got, err := library.DeletionCost(text)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: upstream says %d, %v; podrank %d, %v", text, want, wantErr, got, err)
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
		for range r.IntN(13) {
			if r.IntN(8) > 0 {
				b.WriteByte(byte('0' + r.IntN(10)))
			} else {
				b.WriteString(pick(r, "-", "-", "+", "_", ".", "e", "x", " ", "\n", "\x00", "\xff", "٣"))
			}
		}
		if r.IntN(4) == 0 { // near the ends of int32
			b.Reset()
			fmt.Fprint(&b, pick(r, int64(-1)<<31, 1<<31)+r.Int64N(7)-3)
		}
		text := pick(r, "", "", "", "-", "-0", "+", "0") + b.String()
		if _, ok := check(text); ok {
			valid++
		}
	}
	t.Logf("%d of %d random texts are valid", valid, texts)
	if valid < texts/10 || valid > texts*9/10 {
		t.Error("too one-sided to tell")
	}
	if cost, err := upstream.DeletionCost(nil); cost != 0 || err != nil {
		t.Errorf("a missing annotation: %d, %v", cost, err)
	}
}
