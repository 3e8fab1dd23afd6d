// Package wish draws commands of `kubectl podrank scale` and `drop`, and decides independently what their outcome must be. It
// is naive on purpose, shares no code with the program under test, and does not use a cluster.
package wish

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pod is what matters of an active pod of the workload.
type Pod struct {
	Name               string
	UID                types.UID
	Node               string // unassigned if empty
	Labels, NodeLabels map[string]string
	Phase              corev1.PodPhase
	Ready, Available   bool
	Cost               int32
	Fixed              bool // its cost is someone else's
}

// class is what rules 1 to 3 of the order say: pods of a lower class go first, whatever their costs.
func (p Pod) class() int {
	class := 0
	if p.Node != "" {
		class += 100
	}
	switch p.Phase {
	case corev1.PodRunning:
		class += 20
	case corev1.PodUnknown:
		class += 10
	}
	if p.Ready {
		class++
	}
	return class
}

// starting says that the pod goes before every pod that runs.
func (p Pod) starting() bool { return p.Node == "" || p.Phase != corev1.PodRunning }

// Wish is one flag that chooses pods.
type Wish struct {
	Flag, Value string
	Values      map[string]float64 // for --by-value: by the name of the pod
}

// Case is one command and the workload that it is for.
type Case struct {
	Target   string         // as TYPE/NAME
	Pods     []Pod          // the active ones; as many as spec.replicas
	NodeLoad map[string]int // active pods by node, of all workloads
	Refused  string         // why the workload cannot be steered, whatever is asked; empty if it can
	Rolls    bool           // whether a rollout has begun: each of its sets loses a share that is not worked out here

	Drop              bool     // rather than scale
	To                int      // what it is scaled to
	Names             []string // pods that must go
	Wishes            []Wish   // in order; those that name pods are not among them
	Also, Force, Keep bool
	Evict             bool
	Batch             int // how many are evicted at a time
	ByValueFromAFile  bool
	namesAfterWishes  int // how many wishes precede the named pods on the command line
}

// Verdict says whether a command must be carried out.
type Verdict string

// Verdicts.
const (
	Feasible   Verdict = "feasible"
	Infeasible Verdict = "infeasible"
	Open       Verdict = "open" // both answers are right
)

// Expectation is what must come of a command.
type Expectation struct {
	Verdict Verdict
	Why     string // of an infeasible or open one
	Delete  int
	Must    map[types.UID]bool // these go in any case
	Never   map[types.UID]bool // these stay in any case; the remaining ones depend on rules that are not looked at here
}

func refuse(format string, arguments ...any) Expectation {
	return Expectation{Verdict: Infeasible, Why: fmt.Sprintf(format, arguments...)}
}

// Expect says what must come of the command.
func (c *Case) Expect() Expectation {
	if c.Refused != "" {
		return refuse("%s", c.Refused)
	}
	if c.Rolls {
		return Expectation{Verdict: Open, Why: "a rollout is not complete"}
	}
	if why := c.mistake(); why != "" {
		return refuse("%s", why)
	}
	named := map[string]bool{}
	for _, name := range c.Names {
		named[name] = true
	}
	ahead := c.aheadOf(named)
	count := len(c.Pods) - c.To
	if c.Drop {
		count = len(named)
		if c.Also {
			count += len(ahead)
		}
	}
	if len(named) > count {
		return refuse("%d are named and %d go", len(named), count)
	}
	if c.Evict {
		return c.expectEviction(named, count)
	}
	if len(named)+len(ahead) > count {
		return refuse("%d named, %d before them, and %d go", len(named), len(ahead), count)
	}
	e := c.expectOrder(count, func(pod Pod) bool { return named[pod.Name] || ahead[pod.Name] })
	if c.Force || count == len(c.Pods) {
		return e
	}
	return c.expectRoom(e)
}

// mistake says what is wrong with the command, whatever the state of the pods, or nothing.
func (c *Case) mistake() string {
	for _, name := range c.Names {
		if !slices.ContainsFunc(c.Pods, func(p Pod) bool { return p.Name == name }) {
			return name + " is not of this workload"
		}
	}
	if !c.Drop && c.To > len(c.Pods) {
		return fmt.Sprintf("%d is higher", c.To)
	}
	if c.Drop || c.To == len(c.Pods) {
		return ""
	}
	for i := range c.Wishes {
		if wish := &c.Wishes[i]; !slices.ContainsFunc(c.Pods, wish.mayMatch) {
			return fmt.Sprintf("no pod matches %s %s", wish.Flag, wish.Value)
		}
	}
	return ""
}

// aheadOf are the pods that are not named and go before a named one by rules 1 to 3.
func (c *Case) aheadOf(named map[string]bool) map[string]bool {
	highest := -1 // class of the named pods
	for _, pod := range c.Pods {
		if named[pod.Name] {
			highest = max(highest, pod.class())
		}
	}
	ahead := map[string]bool{}
	for _, pod := range c.Pods {
		if !named[pod.Name] && pod.class() < highest {
			ahead[pod.Name] = true
		}
	}
	return ahead
}

// expectOrder says which pods go if this many do: the first ones, and then by rules 1 to 3 and the wishes.
func (c *Case) expectOrder(count int, isFirst func(Pod) bool) Expectation {
	keys := make([][]float64, len(c.Pods))
	for i, pod := range c.Pods {
		keys[i] = append([]float64{1, float64(pod.class())}, c.tiers(pod, c.given())...)
		if isFirst(pod) {
			keys[i] = []float64{0}
		}
	}
	e := Expectation{Verdict: Feasible, Delete: count, Must: map[types.UID]bool{}, Never: map[types.UID]bool{}}
	for i, pod := range c.Pods {
		before, notAfter := 0, 0
		for _, other := range keys {
			switch slices.Compare(other, keys[i]) {
			case -1:
				before++
				notAfter++
			case 0:
				notAfter++
			}
		}
		if notAfter <= count {
			e.Must[pod.UID] = true
		} else if before >= count {
			e.Never[pod.UID] = true
		}
	}
	return e
}

// expectRoom is what is left of the expectation if costs that are someone else's have to stay.
func (c *Case) expectRoom(e Expectation) Expectation {
	mustGo := func(p Pod) bool { return e.Must[p.UID] }
	mustStay := func(p Pod) bool { return e.Never[p.UID] }
	mayGo := func(p Pod) bool { return !e.Never[p.UID] }
	mayStay := func(p Pod) bool { return !e.Must[p.UID] }
	if why := c.noRoom(mustGo, mustStay, true); why != "" {
		return refuse("%s", why)
	}
	if why := c.noRoom(mayGo, mayStay, false); why != "" {
		e.Verdict, e.Why = Open, why
	}
	return e
}

// expectEviction is for pods that are evicted one by one: costs do not matter then, nor do pods that are not ready. What
// replaces an evicted pod is to be the next victim, so no other pod may be starting.
func (c *Case) expectEviction(named map[string]bool, count int) Expectation {
	e := Expectation{Verdict: Feasible, Delete: count, Must: map[types.UID]bool{}, Never: map[types.UID]bool{}}
	for _, pod := range c.Pods {
		if named[pod.Name] {
			e.Must[pod.UID] = true
			continue
		}
		if count == len(named) {
			e.Never[pod.UID] = true
		}
		if pod.starting() {
			e.Verdict, e.Why = Open, pod.Name+" is starting"
		}
	}
	return e
}

// mayMatch says that a pod matches the wish, unless the wish is one that never has to match any.
func (w *Wish) mayMatch(pod Pod) bool {
	switch w.Flag {
	case "--prefer-nodes":
		return pod.Node != "" && notMatching(w.Value, pod.NodeLabels) == 0
	case "--prefer-pods":
		return notMatching(w.Value, pod.Labels) == 0
	case "--by-value":
		_, ok := w.Values[pod.Name]
		return ok
	}
	return true
}

// given are the wishes with the one that is implied: whoever prefers nodes wants them to become empty.
func (c *Case) given() []Wish {
	has := func(flag string) bool {
		return slices.ContainsFunc(c.Wishes, func(w Wish) bool { return w.Flag == flag })
	}
	if has("--prefer-nodes") && !has("--spread") && !has("--empty-nodes") {
		return append(slices.Clone(c.Wishes), Wish{Flag: "--empty-nodes"})
	}
	return c.Wishes
}

// tiers are the keys of these wishes, the first given first: lower goes first. The spread is none: it decides among pods that
// all other wishes leave equal.
func (c *Case) tiers(pod Pod, wishes []Wish) []float64 {
	var tiers []float64
	for i := range wishes {
		switch wish := &wishes[i]; wish.Flag {
		case "--prefer-nodes":
			tiers = append(tiers, notMatching(wish.Value, pod.NodeLabels))
		case "--prefer-pods":
			tiers = append(tiers, notMatching(wish.Value, pod.Labels))
		case "--by-value":
			tiers = append(tiers, wish.Values[pod.Name])
		case "--not-available-first":
			tier := 0.0
			if pod.Available {
				tier = 1
			}
			tiers = append(tiers, tier)
		case "--empty-nodes":
			tiers = append(tiers, c.wholeNode(pod, wishes[:i])...)
		}
	}
	return tiers
}

// wholeNode is the place of the pod's node among those that become empty, after earlier wishes: how many pods have to leave it besides,
// how many go from it now, and its name. A pod of nobody is a set of its own. What is not known here is left open: which nodes
// of a domain a spread prefers, and in which states evictions come.
func (c *Case) wholeNode(pod Pod, earlier []Wish) []float64 {
	if pod.Node == "" || c.Evict {
		return nil
	}
	stage := func(p Pod) []float64 {
		named := 1.0
		if slices.Contains(c.Names, p.Name) {
			named = 0
		}
		return append([]float64{float64(p.class()), named}, c.tiers(p, earlier)...)
	}
	now, own, same, later := stage(pod), 0, 0, 0
	var names []string
	for _, other := range c.Pods {
		names = append(names, other.Node)
		if other.Node != pod.Node {
			continue
		}
		own++
		switch slices.Compare(stage(other), now) {
		case 0:
			same++
		case 1:
			later++
		}
	}
	key := []float64{float64(c.NodeLoad[pod.Node] - own + later), float64(same)}
	if slices.ContainsFunc(c.Wishes, func(w Wish) bool { return w.Flag == "--spread" }) {
		return key
	}
	slices.Sort(names)
	return append(key, float64(slices.Index(names, pod.Node)))
}

const lowest, most = -1 << 31, 1<<31 - 1

// noRoom says why costs cannot put every pod that goes below every pod that stays, or nothing if they can. If sameClass,
// only pairs count that rules 1 to 3 leave to the cost.
func (c *Case) noRoom(goes, stays func(Pod) bool, sameClass bool) string {
	for i, a := range c.Pods {
		for j, b := range c.Pods {
			if i == j || !goes(a) || !stays(b) || sameClass && a.class() != b.class() {
				continue
			}
			switch {
			case a.Fixed && b.Fixed && a.Cost >= b.Cost:
				return fmt.Sprintf("%s has the cost %d of another and %s the cost %d", a.Name, a.Cost, b.Name, b.Cost)
			case b.Fixed && b.Cost == lowest:
				return fmt.Sprintf("there is no cost below the one of %s", b.Name)
			case a.Fixed && a.Cost == most:
				return fmt.Sprintf("there is no cost above the one of %s", a.Name)
			}
		}
	}
	return ""
}

// Check holds the pods that the program wants against the expectation.
func (c *Case) Check(e *Expectation, wanted []types.UID) error {
	if len(wanted) != e.Delete {
		return fmt.Errorf("%d pods are wanted, not %d", len(wanted), e.Delete)
	}
	var gone []Pod
	for _, pod := range c.Pods {
		is := slices.Contains(wanted, pod.UID)
		if is {
			gone = append(gone, pod)
		}
		if e.Must[pod.UID] && !is {
			return fmt.Errorf("%s should be wanted", pod.Name)
		}
		if e.Never[pod.UID] && is {
			return fmt.Errorf("%s should not be wanted", pod.Name)
		}
	}
	if !c.isSpreadAlone() {
		return nil
	}
	return balanced(c.Pods, gone, strings.Split(c.Wishes[0].Value, ","))
}

// Rest says how much of the answer the expectation decides.
func (c *Case) Rest(e *Expectation) string {
	switch {
	case len(e.Must) == e.Delete:
		return "all"
	case c.isSpreadAlone():
		return "spread"
	case len(e.Must)+len(e.Never) > 0:
		return "part"
	}
	return "count"
}

// isSpreadAlone says that the spread alone decides how many pods each domain loses.
func (c *Case) isSpreadAlone() bool {
	if c.Drop || len(c.Names) > 0 || len(c.Wishes) != 1 || c.Wishes[0].Flag != "--spread" {
		return false
	}
	return !slices.ContainsFunc(c.Pods, func(p Pod) bool {
		return p.class() != c.Pods[0].class() || p.Fixed || p.Cost != c.Pods[0].Cost || p.Node == ""
	})
}

// balanced takes one pod at a time from the domain that has most, and compares how many that leaves.
func balanced(pods, gone []Pod, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	byDomain := func(of []Pod) map[string][]Pod {
		domains := map[string][]Pod{}
		for _, pod := range of {
			domains[pod.NodeLabels[keys[0]]] = append(domains[pod.NodeLabels[keys[0]]], pod)
		}
		return domains
	}
	before, taken := byDomain(pods), byDomain(gone)
	var want, left []int
	for domain, pods := range before {
		want = append(want, len(pods))
		left = append(left, len(pods)-len(taken[domain]))
	}
	for range gone {
		slices.Sort(want)
		want[len(want)-1]--
	}
	slices.Sort(want)
	slices.Sort(left)
	if !slices.Equal(want, left) {
		return fmt.Errorf("the spread over %s leaves %d, not %d", keys[0], left, want)
	}
	for domain, pods := range before {
		if err := balanced(pods, taken[domain], keys[1:]); err != nil {
			return err
		}
	}
	return nil
}

// Least is the fewest writes that put the wanted pods below all others: one for a wanted pod, two for another one, whose cost
// has to come off again.
func (c *Case) Least(wanted []types.UID) int {
	if len(wanted) == len(c.Pods) {
		return 0
	}
	least := -1
	for _, last := range c.Pods {
		for _, highest := range []int64{int64(last.Cost), int64(last.Cost) - 1} { // of the wanted pods
			writes, ok := 0, highest >= lowest && highest < most
			for _, pod := range c.Pods {
				goes := slices.Contains(wanted, pod.UID)
				if goes == (int64(pod.Cost) <= highest) {
					continue
				}
				ok = ok && (!pod.Fixed || c.Force)
				writes++
				if !goes {
					writes++
				}
			}
			if ok && (least < 0 || writes < least) {
				least = writes
			}
		}
	}
	return least
}
