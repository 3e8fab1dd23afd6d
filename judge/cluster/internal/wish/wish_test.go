package wish

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pods reads pods, one a word: a name, then marks. "u" is unassigned, "n" not ready, "f" a fixed cost, "d" draining, "s" on a
// spot node, "z=ZONE", "c=COST". A node is "h=NODE", else it is the name of the pod.
func pods(t *testing.T, text string) []Pod {
	t.Helper()
	var pods []Pod
	for word := range strings.FieldsSeq(text) {
		marks := strings.Split(word, ",")
		pod := Pod{Name: marks[0], UID: types.UID(marks[0]), Node: marks[0], Phase: corev1.PodRunning, Ready: true, Available: true,
			Labels: map[string]string{}, NodeLabels: map[string]string{}}
		for _, mark := range marks[1:] {
			key, value, _ := strings.Cut(mark, "=")
			switch key {
			case "u":
				pod.Node, pod.Phase, pod.Ready, pod.Available = "", corev1.PodPending, false, false
			case "n":
				pod.Ready, pod.Available = false, false
			case "y":
				pod.Available = false
			case "f":
				pod.Fixed = true
			case "d":
				pod.Labels[Draining] = "true"
			case "s":
				pod.NodeLabels[Lifecycle] = "spot"
			case "z":
				pod.NodeLabels[Zone] = value
			case "h":
				pod.Node, pod.NodeLabels[Hostname] = value, value
			case "c":
				if _, err := fmt.Sscan(value, &pod.Cost); err != nil {
					t.Fatal(err)
				}
			default:
				t.Fatalf("mark %q", mark)
			}
		}
		pods = append(pods, pod)
	}
	return pods
}

func joined(set map[types.UID]bool) string {
	var names []string
	for uid := range set {
		names = append(names, string(uid))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func drop(names ...string) Case            { return Case{Drop: true, Names: names} }
func scale(to int, wishes ...Wish) Case    { return Case{To: to, Wishes: wishes} }
func named(c Case, names ...string) Case   { c.Names = names; return c }
func with(c Case, change func(*Case)) Case { change(&c); return c }

var spot, draining = Wish{Flag: "--prefer-nodes", Value: "lifecycle=spot"}, Wish{Flag: "--prefer-pods", Value: "draining=true"}

var expectations = []struct {
	name, pods  string
	c           Case
	verdict     Verdict
	must, never string
}{
	{"a named pod goes and no other", "a b c", drop("b"), Feasible, "b", "a c"},
	{"the same pod twice", "a b c", drop("b", "b"), Feasible, "b", "a c"},
	{"a pod of another workload", "a b c", drop("b", "x"), Infeasible, "", ""},
	{"a pod that is not ready is before it", "a,n b c", drop("b"), Infeasible, "", ""},
	{"an unassigned pod is before it", "a,u b c", drop("b"), Infeasible, "", ""},
	{"it is taken too", "a,n b c", with(drop("b"), func(c *Case) { c.Also = true }), Feasible, "a b", "c"},
	{"the named one is not ready itself", "a,n b c", drop("a"), Feasible, "a", "b c"},
	{"an unassigned one is before one that is not ready", "a,n b,u c", drop("a"), Infeasible, "", ""},
	{"eviction asks for no order", "a,n b c", with(drop("b"), func(c *Case) { c.Evict = true }), Feasible, "b", "a c"},
	{"eviction beside a pod that starts", "a,u b c", with(drop("b"), func(c *Case) { c.Evict = true }), Open, "b", "a c"},
	{"the workload cannot be steered", "a b", with(drop("a"), func(c *Case) { c.Refused = "owned" }), Infeasible, "", ""},
	{"a rollout has begun", "a b", with(drop("a"), func(c *Case) { c.Rolls = true }), Open, "", ""},

	{"any of three", "a b c", scale(1), Feasible, "", ""},
	{"to none", "a b,f,c=5 c,f,c=3", scale(0), Feasible, "a b c", ""},
	{"the same count", "a b c", scale(3), Feasible, "", "a b c"},
	{"the same count, and a wish that matches none", "a b c", scale(3, spot), Feasible, "", "a b c"},
	{"the same count, but one is named", "a b c", named(scale(3), "a"), Infeasible, "", ""},
	{"a higher count", "a b c", scale(4), Infeasible, "", ""},
	{"no pod is on spot", "a b c", scale(2, spot), Infeasible, "", ""},
	{"the second of two wishes matches none", "a,s b c", scale(2, spot, draining), Infeasible, "", ""},
	{"values for other pods", "a b c", scale(2, Wish{Flag: "--by-value", Values: map[string]float64{"x": 1}}), Infeasible, "", ""},
	{"all are available", "a b c", scale(2, Wish{Flag: "--not-available-first"}), Feasible, "", ""},
	{"room for one that is not ready", "a,n b c d", named(scale(2), "b"), Feasible, "a b", "c d"},
	{"no room for it", "a,n b c d", named(scale(3), "b"), Infeasible, "", ""},
	{"more named than go", "a b c d", named(scale(3), "a", "b"), Infeasible, "", ""},
	{"fewer named than go", "a b c d", named(scale(2), "a"), Feasible, "a", ""},
	{"spot first", "a,s b c,s d", scale(2, spot), Feasible, "a c", "b d"},
	{"spot first, and then any", "a,s b c,s d", scale(1, spot), Feasible, "a b c", "d"},
	{"the first of the spot ones", "a,s b c,s d", scale(3, spot), Feasible, "a", "b c d"},
	{"not ready comes before spot", "a,s b,n c,s d", scale(3, spot), Feasible, "b", "a c d"},
	{"two wishes in order", "a,s b,d c,s,d d", scale(2, spot, draining), Feasible, "a c", "b d"},
	{"two wishes in the other order", "a,s b,d c,s,d d", scale(2, draining, spot), Feasible, "b c", "a d"},
	{"named before wishes", "a,s b c,s d", named(scale(2, spot), "d"), Feasible, "a d", "b c"},
	{"not available first", "a b,y c", scale(2, Wish{Flag: "--not-available-first"}), Feasible, "b", "a c"},
	{"a spread is asked last", "a,s b c,s d", scale(2, Wish{Flag: "--spread", Value: Zone}, spot), Feasible, "a c", "b d"},
	{"lowest values first", "a b c", scale(1, Wish{Flag: "--by-value", Values: map[string]float64{"a": 2, "b": -1, "c": 0.5}}),
		Feasible, "b c", "a"},
	{"whole nodes, those of others last", "a,h=1 b,h=1 c,h=2 d,h=3", with(scale(2, Wish{Flag: "--empty-nodes"}),
		func(c *Case) { c.NodeLoad = map[string]int{"1": 2, "2": 3, "3": 9} }), Feasible, "a b", "c d"},
	{"fewest own ones first", "a,h=1 b,h=2 c,h=2", with(scale(1, Wish{Flag: "--empty-nodes"}),
		func(c *Case) { c.NodeLoad = map[string]int{"1": 1, "2": 2} }), Feasible, "a", ""},
	{"what stays by an earlier wish keeps its node", "a,h=1,s b,h=1 c,h=2,s", with(scale(2, spot, Wish{Flag: "--empty-nodes"}),
		func(c *Case) { c.NodeLoad = map[string]int{"1": 2, "2": 1} }), Feasible, "c", "a b"},

	{"costs in line", "a,f,c=1 b,f,c=2 c", drop("a"), Feasible, "a", "b c"},
	{"costs against it", "a,f,c=2 b,f,c=1 c", drop("a"), Infeasible, "", ""},
	{"equal costs", "a,f,c=1 b,f,c=1 c", drop("a"), Infeasible, "", ""},
	{"written over", "a,f,c=2 b,f,c=1 c", with(drop("a"), func(c *Case) { c.Force = true }), Feasible, "a", "b c"},
	{"the template's costs", "a,c=2 b,c=2 c,c=2", drop("a"), Feasible, "a", "b c"},
	{"no cost is lower", "a b,f,c=-2147483648", drop("a"), Infeasible, "", ""},
	{"no cost is higher", "a,f,c=2147483647 b", drop("a"), Infeasible, "", ""},
	{"rules 1 to 3 decide anyway", "a,n,f,c=9 b,f,c=1", drop("a"), Open, "a", "b"},
	{"it depends on which goes", "a,f,c=1 b,f,c=5 c", scale(2), Open, "", ""},
}

func TestExpect(t *testing.T) {
	for _, test := range expectations {
		c := test.c
		c.Pods = pods(t, test.pods)
		e := c.Expect()
		if e.Verdict != test.verdict || joined(e.Must) != test.must || joined(e.Never) != test.never {
			t.Errorf("%s: %s (%s), must [%s], never [%s]; want %s, [%s], [%s]", test.name, e.Verdict, e.Why, joined(e.Must),
				joined(e.Never), test.verdict, test.must, test.never)
		}
		if e.Verdict == Feasible && len(e.Must) == e.Delete {
			if err := c.Check(&e, slices.Collect(keys(e.Must))); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}

func keys(set map[types.UID]bool) func(func(types.UID) bool) {
	return func(yield func(types.UID) bool) {
		for uid := range set {
			if !yield(uid) {
				return
			}
		}
	}
}

// leastOfAll is the fewest writes that put the named pods below all others, or -1: all assignments of few costs are tried.
func leastOfAll(c *Case) int {
	least := -1
	costs := make([]int32, len(c.Pods))
	isNamed := func(i int) bool { return slices.Contains(c.Names, c.Pods[i].Name) }
	var try func(int, int)
	try = func(i, writes int) {
		if i < len(costs) {
			for cost := int32(-3); cost <= 6; cost++ {
				costs[i] = cost
				switch written := cost != c.Pods[i].Cost; {
				case !written:
					try(i+1, writes)
				case c.Pods[i].Fixed:
				case isNamed(i):
					try(i+1, writes+1)
				default:
					try(i+1, writes+2)
				}
			}
			return
		}
		for a := range costs {
			for b := range costs {
				if isNamed(a) && !isNamed(b) && costs[a] >= costs[b] {
					return
				}
			}
		}
		if least < 0 || writes < least {
			least = writes
		}
	}
	try(0, 0)
	return least
}

// Whatever room is said to be there must be there.
func TestRoomAndLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	verdicts := map[Verdict]int{}
	for range 3000 {
		c := Case{Drop: true}
		for i := range 2 + r.IntN(3) {
			name := string(rune('a' + i))
			c.Pods = append(c.Pods, Pod{Name: name, UID: types.UID(name), Node: "n", Phase: corev1.PodRunning, Ready: true,
				Cost: int32(r.IntN(4)), Fixed: r.IntN(2) == 0})
			if i == 0 || i == 1 && r.IntN(2) == 0 {
				c.Names = append(c.Names, name)
			}
		}
		if len(c.Names) == len(c.Pods) {
			continue
		}
		e := c.Expect()
		verdicts[e.Verdict]++
		least := leastOfAll(&c)
		if (least >= 0) != (e.Verdict == Feasible) {
			t.Fatalf("%+v: %s (%s), but %d writes", c.Pods, e.Verdict, e.Why, least)
		}
		var wanted []types.UID
		for _, name := range c.Names {
			wanted = append(wanted, types.UID(name))
		}
		if got := c.Least(wanted); least >= 0 && got != least {
			t.Fatalf("%+v without %v: %d writes, want %d", c.Pods, c.Names, got, least)
		}
	}
	if verdicts[Feasible] < 500 || verdicts[Infeasible] < 500 {
		t.Errorf("one-sided: %v", verdicts)
	}
}

func TestSpread(t *testing.T) {
	c := Case{Pods: pods(t, "a,z=1,h=x b,z=1,h=x c,z=1,h=y d,z=2,h=z e,z=2,h=w"), To: 3,
		Wishes: []Wish{{Flag: "--spread", Value: Zone + "," + Hostname}}}
	e := c.Expect()
	for wanted, right := range map[string]bool{
		"a d": true, "b e": true, "a c": true, "a b": true, "c d": false, "c e": false, "d e": false,
	} {
		var uids []types.UID
		for name := range strings.FieldsSeq(wanted) {
			uids = append(uids, types.UID(name))
		}
		if err := c.Check(&e, uids); (err == nil) != right {
			t.Errorf("%s: %v", wanted, err)
		}
	}
	c.Pods[0].Cost = 1
	if c.isSpreadAlone() {
		t.Error("a cost comes before the spread")
	}
}

func TestCheckNotices(t *testing.T) {
	c := Case{Pods: pods(t, "a,s b c,s d"), To: 3, Wishes: []Wish{{Flag: "--prefer-nodes", Value: "lifecycle=spot"}}}
	e := c.Expect()
	for wanted, right := range map[types.UID]bool{"a": true, "c": false, "b": false, "d": false} {
		if err := c.Check(&e, []types.UID{wanted}); (err == nil) != right {
			t.Errorf("%s: %v", wanted, err)
		}
	}
	if c.Check(&e, []types.UID{"a", "c"}) == nil {
		t.Error("two pods, not one")
	}
}

// The same seed asks the same, and all verdicts and flags come up.
func TestDraw(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(2000) {
		var commands [2]string
		for i := range commands {
			c := Case{Target: "deploy/web", Pods: pods(t, "a,s b,n c,s,d d e,f,c=1 f,d,f,c=4 g,c=3 h i,y j")}
			Draw(rand.New(rand.NewPCG(seed, 1)), &c, []string{"stranger"}, Limits{Evictions: true})
			commands[i] = strings.Join(c.Arguments("FILE"), " ") + c.Values()
			if i == 0 {
				seen[string(c.Expect().Verdict)]++
				for flag := range strings.FieldsSeq(strings.Join(c.Arguments("FILE"), " ")) {
					seen[flag]++
				}
			}
		}
		if commands[0] != commands[1] {
			t.Fatalf("%s\n%s", commands[0], commands[1])
		}
		c := Case{Pods: pods(t, "a b,n c d,f,c=7 e f"), Target: "rs/web"}
		Draw(rand.New(rand.NewPCG(seed, 2)), &c, []string{"stranger"}, Limits{OnlyFeasible: true, Most: 3})
		if e := c.Expect(); e.Verdict != Feasible || e.Delete < 1 || e.Delete > 3 {
			t.Fatalf("%v: %s, %d", c.Arguments(""), e.Verdict, e.Delete)
		}
	}
	for _, word := range []string{"feasible", "infeasible", "open", "scale", "drop", "--pod", "--also", "--prefer-nodes",
		"--prefer-pods", "--by-value", "FILE", "-", "--not-available-first", "--empty-nodes", "--spread", "--force-conflicts",
		"--keep-costs", "--by", "stranger"} {
		if seen[word] == 0 {
			t.Errorf("%s never comes up: %v", word, seen)
		}
	}
}
