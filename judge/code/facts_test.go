package judge

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/go/judge/internal/podrank"
	"github.com/podrank/podrank/go/judge/internal/vectors"
	"github.com/podrank/podrank/go/judge/upstream"
)

// group is a group of order.json.
type group struct {
	Name       string
	Policy     vectors.Policy
	Pods       map[string]vectors.Record
	Selections []struct {
		Pods, Related, Victims []string
		Delete                 int
		AnyOrder               bool
		Policy                 *vectors.Policy
	}
	Pairs []struct {
		First, Second, Rule string
		Ranks               *[2]int
		Policy              *vectors.Policy
	}
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
			policy := or(pair.Policy, g.Policy)
			first, second := g.Pods[pair.First], g.Pods[pair.Second]
			ranks := [2]int{first.Rank, second.Rank}
			if pair.Ranks != nil {
				ranks = *pair.Ranks
			}
			w := gates(t, policy)
			want := podrank.Before
			if pair.Rule == "" {
				want = podrank.Tie
			}
			a, b := &sample{pod: first.V1(), rank: ranks[0]}, &sample{pod: second.V1(), rank: ranks[1]}
			if pair.Rule == "uid" {
				continue // upstream asks it elsewhere
			}
			if got := says(t, w, a, b); got != want {
				t.Errorf("%s: %s and %s: upstream says %v", c.name, pair.First, pair.Second, got)
			}
		}
		for _, s := range g.Selections {
			var pods []*v1.Pod
			var ranks []int
			name := map[*v1.Pod]string{}
			w := gates(t, or(s.Policy, g.Policy))
			for _, n := range s.Pods {
				p := g.Pods[n].V1()
				pods, ranks, name[p] = append(pods, p), append(ranks, g.Pods[n].Rank), n
			}
			if s.Related == nil {
				upstream.Sort(pods, ranks, w.now)
				pods = pods[:s.Delete]
			} else {
				var related []*v1.Pod
				for _, n := range s.Related {
					related = append(related, g.Pods[n].V1())
				}
				pods = upstream.PodsToDelete(pods, related, s.Delete)
			}
			var got []string
			for _, p := range pods {
				got = append(got, name[p])
			}
			want := slices.Clone(s.Victims)
			if s.AnyOrder {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: deleting %d of %v, upstream takes %v, want %v", c.name, s.Delete, s.Pods, got, want)
			}
		}
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
	costOn, ok := p.FeatureGates["PodDeletionCost"]
	if err := upstream.SetDeletionCostGate(costOn || !ok); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = upstream.SetDeletionCostGate(true) })
	w := &world{now: p.Now.Time()}
	if on, ok := p.FeatureGates["LogarithmicScaleDown"]; ok && !on {
		w.now.Reset() // the gate is gone upstream; a zero now does what its "off" did
	}
	return w
}

// upstream.json is what upstream says now, and podrank says the same.
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
	w := &world{nodes: podrank.Nodes{}}
	for _, pair := range read.Pairs {
		p := read.PolicyOf(pair)
		policy := podrank.Policy{Now: podrank.TimeUnset}
		if p.Now != nil {
			policy.Now = int64(*p.Now)
		}
		if on, ok := p.FeatureGates["PodDeletionCost"]; ok {
			policy.CostOff = !on
		}
		a := w.record(read.Pods[pair.First].V1(), read.Pods[pair.First].Rank)
		b := w.record(read.Pods[pair.Second].V1(), read.Pods[pair.Second].Rank)
		if got, rule := podrank.Upstream(&a, &b, policy); got.String() != pair.Relation {
			t.Errorf("%s, %s: upstream says %s, podrank %v by %v", pair.First, pair.Second, pair.Relation, got, rule)
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
		got, err := podrank.DeletionCost(text)
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
