package engine

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
)

// The laws, which each engine must obey. Those of core, in tests/laws, are the same.

// forEach asks each engine this many questions, and ends with the first one that fails.
func forEach(t *testing.T, questions int, law func(t *testing.T, e core.Engine, q *question)) {
	for _, engine := range engines {
		t.Run(engine.Name(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(82, 1))
			for number := range questions {
				s := random(r)
				q := newQuestion(&s)
				law(t, engine, q)
				if t.Failed() {
					t.Fatalf("question %d: %+v", number, q)
				}
			}
		})
	}
}

// selects returns the first k pods.
func selects(t *testing.T, e core.Engine, pods []core.Pod, options core.Options, k int) []uint32 {
	selected, scratch := make([]uint32, k), []core.Scratch(nil)
	count, err := e.Select(pods, options, selected, &scratch)
	if err != nil {
		t.Error(err)
	}
	return selected[:count]
}

func TestTheOrderIsThatOfTheDocuments(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		for i := range q.pods {
			for j := range q.pods[:min(i+1, 5)] {
				a, b := &q.pods[i], &q.pods[j]
				first, rule := naiveOrder(q.options, a, b)
				var rows [core.RowMax]core.Row
				count, err := e.Explain(a, b, q.options, &rows)
				gotFirst, gotRule := 0, uint8(core.RuleNone)
				for k, naive := range naiveRules(q.options) {
					row := rows[k]
					if row.Rule != naive.number || int(row.Ordering) != naive.compare(a, b) {
						t.Errorf("%+v of\n%+v\n%+v", row, a, b)
					}
					if row.Decides != 0 {
						gotFirst, gotRule = int(row.Ordering), row.Rule
					}
				}
				if err != nil || count != 12 || first != gotFirst || rule != gotRule {
					t.Errorf("%d by %d, want %d by %d, of\n%+v\n%+v", gotFirst, gotRule, first, rule, a, b)
				}
			}
		}
	})
}

func TestTheFirstPodsAreSelected(t *testing.T) {
	forEach(t, 1000, func(t *testing.T, e core.Engine, q *question) {
		want := naiveSort(q.options, q.pods)
		for _, k := range []int{0, 1, len(q.pods) / 9, q.k, len(q.pods), len(q.pods) + 1} {
			if got := selects(t, e, q.pods, q.options, k); !slices.Equal(got, want[:min(k, len(want))]) {
				t.Errorf("the first %d are %v, want %v", k, got, want)
			}
		}
	})
}

func TestKubernetesComparesAsInTheDocuments(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		for i := range q.pods {
			for j := range q.pods[:min(i+1, 5)] {
				for _, pair := range [][2]*core.Pod{{&q.pods[i], &q.pods[j]}, {&q.pods[j], &q.pods[i]}} {
					first, rule := naiveKubernetes(q.options, pair[0], pair[1])
					got, gotRule, err := e.Kubernetes(pair[0], pair[1], q.options)
					if err != nil || got != first || gotRule != rule {
						t.Errorf("%d by %d, want %d by %d, of\n%+v\n%+v", got, gotRule, first, rule, pair[0], pair[1])
					}
				}
			}
		}
	})
}

// The groups are in their order, and the pods of a group in the order. The group in which the first k end is possible.
func TestPredictionsAreGroups(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		groups, want := naiveGroups(q.options, q.pods), naiveSort(q.options, q.pods)
		slices.SortStableFunc(want, func(a, b uint32) int { return groups[a].start - groups[b].start })
		n := len(q.pods)
		for k := range n + 2 {
			order := make([]uint32, n)
			certain, possible, err := e.Predict(q.pods, q.options, k, order, make([]uint64, n))
			wantCertain, wantPossible := min(k, n), 0
			for _, group := range groups {
				if group.start < k && k < group.start+group.size {
					wantCertain, wantPossible = group.start, group.size
				}
			}
			if err != nil || certain != wantCertain || possible != wantPossible || !slices.Equal(order, want) {
				t.Errorf("k = %d: %d certain and %d possible of %v, %v, want %d and %d of %v",
					k, certain, possible, order, err, wantCertain, wantPossible, want)
			}
		}
	})
}

// sortedPods is a list for sort.Sort.
type sortedPods struct {
	less [][]bool
	list []uint32
}

func (s sortedPods) Len() int           { return len(s.list) }
func (s sortedPods) Less(i, j int) bool { return s.less[s.list[i]][s.list[j]] }
func (s sortedPods) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }

// deletions counts how often each pod is among the first k of these lists once Go has sorted them by Kubernetes'
// comparison.
func deletions(q *question, pods []core.Pod, k int, lists func(yield func([]uint32) bool)) (counts []int, all int) {
	less := make([][]bool, len(pods))
	for a := range pods {
		for b := range pods {
			first, _ := naiveKubernetes(q.options, &pods[a], &pods[b])
			less[a] = append(less[a], first < 0)
		}
	}
	counts = make([]int, len(pods))
	for list := range lists {
		all++
		sort.Sort(sortedPods{less, list})
		for _, index := range list[:min(k, len(list))] {
			counts[index]++
		}
	}
	return counts, all
}

// permutations yields each order of n indices.
func permutations(n int) func(yield func([]uint32) bool) {
	return func(yield func([]uint32) bool) {
		list := indices(n)
		var from func(i int) bool
		from = func(i int) bool {
			if i == n {
				return yield(slices.Clone(list))
			}
			for j := i; j < n; j++ {
				list[i], list[j] = list[j], list[i]
				more := from(i + 1)
				list[i], list[j] = list[j], list[i]
				if !more {
					return false
				}
			}
			return true
		}
		from(0)
	}
}

// Of a few pods, the probability of each is its share of all lists.
func TestProbabilitiesOfFewPodsAreExact(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		pods := q.pods[:min(len(q.pods), 6)]
		probabilities := make([]core.Probability, len(pods))
		_, _, err := e.Probabilities(pods, q.options, q.k, make([]uint32, len(pods)), probabilities)
		counts, all := deletions(q, pods, q.k, permutations(len(pods)))
		for i, of := range probabilities {
			if err != nil || of.StdErrorPpm != 0 || of.Samples == 0 || int(of.Deleted)*all != counts[i]*int(of.Samples) {
				t.Errorf("pod %d: %+v, want %d of %d, %v", i, of, counts[i], all, err)
			}
		}
	})
}

// Of more, they are within five standard errors of how often the pod is deleted from other lists. They sum to k, and
// pods that are certainly deleted or kept have 1 or 0.
func TestProbabilitiesOfManyPodsAreFrequencies(t *testing.T) {
	sampled := 0
	forEach(t, 60, func(t *testing.T, e core.Engine, q *question) {
		n, k := len(q.pods), min(q.k, len(q.pods))
		order, probabilities := make([]uint32, n), make([]core.Probability, n)
		certain, possible, err := e.Probabilities(q.pods, q.options, k, order, probabilities)
		predicted := make([]uint32, n)
		wantCertain, wantPossible, _ := e.Predict(q.pods, q.options, k, predicted, make([]uint64, n))
		if err != nil || certain != wantCertain || possible != wantPossible || !slices.Equal(order, predicted) {
			t.Errorf("%d and %d of %v, and Predict says %d and %d of %v", certain, possible, order, wantCertain, wantPossible, predicted)
		}
		const lists = 4096
		r := rand.New(rand.NewPCG(82, 2))
		counts, _ := deletions(q, q.pods, k, func(yield func([]uint32) bool) {
			list := indices(n)
			for range lists {
				r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
				if !yield(slices.Clone(list)) {
					return
				}
			}
		})
		sum := 0.
		for i, of := range probabilities {
			p, frequency := float64(of.Deleted)/float64(of.Samples), float64(counts[i])/lists
			sum += p
			mean := (p + frequency) / 2
			if math.Abs(p-frequency) > 5*math.Sqrt(2*mean*(1-mean)/lists)+5./lists {
				t.Errorf("pod %d: %+v, and it is deleted from %d of %d lists", i, of, counts[i], lists)
			}
			if at := slices.Index(order, uint32(i)); at < certain && p != 1 || at >= certain+possible && p != 0 {
				t.Errorf("pod %d at %d: %+v", i, at, of)
			}
			if of.StdErrorPpm == 0 {
				continue
			}
			sampled++
			want := math.Sqrt(p * (1 - p) / lists)
			if of.Deleted == 0 || of.Deleted == of.Samples {
				want = 3. / lists
			}
			if math.Abs(float64(of.StdErrorPpm)/1e6-want) > 3e-4 {
				t.Errorf("pod %d: %+v, want an error of %v", i, of, want)
			}
		}
		if math.Abs(sum-float64(k)) > 1e-6 {
			t.Errorf("%v are deleted, want %d", sum, k)
		}
	})
	if sampled < 50 {
		t.Errorf("only %d probabilities were sampled", sampled)
	}
}

// where is the node of a pod. All pods that are unassigned are at one place.
func where(pod *core.Pod) int {
	if has(pod, core.PodAssigned) == 0 {
		return -1
	}
	return int(pod.Node)
}

// Deleting by the ranks is deleting one pod at a time, and counting again after each.
func TestSpreadCountsAgain(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		for i := range q.pods {
			q.pods[i].Rank = 0
		}
		counts := map[int]uint32{}
		for _, list := range [][]core.Pod{q.pods, q.others} {
			for i := range list {
				counts[where(&list[i])]++
			}
		}
		var want []uint32
		for left := indices(len(q.pods)); len(left) > 0; {
			next := slices.MinFunc(left, func(a, b uint32) int {
				x, y := q.pods[a], q.pods[b]
				x.Rank, y.Rank = counts[where(&x)], counts[where(&y)]
				first, _ := naiveOrder(q.options, &x, &y)
				return first
			})
			counts[where(&q.pods[next])]--
			want = append(want, next)
			left = slices.DeleteFunc(left, func(index uint32) bool { return index == next })
		}
		n := len(q.pods)
		err := e.Spread(q.pods, q.others, q.options, make([]uint32, len(q.weights)), make([]uint32, n))
		if got := selects(t, e, q.pods, q.options, n); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	})
}

// Each set weighs one in all, and on a node its share of pods.
func TestEachSetWeighsOne(t *testing.T) {
	forEach(t, 1000, func(t *testing.T, e core.Engine, q *question) {
		want := slices.Clone(q.weights)
		for node := range want {
			for set := range uint32(3) {
				all, here := uint64(0), uint64(0)
				for _, neighbour := range q.neighbours {
					if neighbour.Set == set {
						all++
						if int(neighbour.Node) == node {
							here++
						}
					}
				}
				want[node] += here << 32 / max(all, 1)
			}
		}
		if err := e.NodeWeights(q.neighbours, q.weights); err != nil || !slices.Equal(q.weights, want) {
			t.Errorf("%v, %v, want %v", q.weights, err, want)
		}
	})
}

// nextNode returns the node that is emptied next if these pods are left: see [podrank.WithEmptyNodes].
func nextNode(q *question, left []uint32, class, tier int) (next int) {
	next = -1
	var best []uint64
	for node := range q.weights {
		weight, own := q.weights[node], uint64(0)
		domains := make([]uint64, len(q.domains)/len(q.weights))
		for _, index := range left {
			pod := &q.pods[index]
			if where(pod) < 0 {
				continue
			}
			for level := range domains {
				if q.domains[level*len(q.weights)+int(pod.Node)] == q.domains[level*len(q.weights)+node] {
					domains[level]-- // The most are first.
				}
			}
			switch {
			case where(pod) != node:
			case naiveClass(pod) == class && int(pod.Tier) == tier:
				own++
			case weight <= math.MaxUint64-1<<32:
				weight += 1 << 32
			default:
				weight = math.MaxUint64
			}
		}
		place := append([]uint64{weight, own}, domains...)
		if own > 0 && (next < 0 || slices.Compare(place, best) < 0) {
			next, best = node, place
		}
	}
	return next
}

// naiveClass has the values of the rules before the tier.
func naiveClass(pod *core.Pod) int {
	return has(pod, core.PodAssigned)*100 + int(pod.Phase)*10 + has(pod, core.PodReady)
}

// Deleting by the tiers is deleting one pod at a time, from the node that is to be emptied next. The order of
// the given tiers does not change.
func TestNodesAreEmptiedOneAfterTheOther(t *testing.T) {
	forEach(t, 300, func(t *testing.T, e core.Engine, q *question) {
		order := naiveSort(q.options, q.pods)
		var want []uint32
		for left := slices.Clone(order); len(left) > 0; {
			first := slices.MinFunc(left, func(a, b uint32) int { // It is stable.
				x, y := &q.pods[a], &q.pods[b]
				if naiveClass(x) != naiveClass(y) {
					return naiveClass(x) - naiveClass(y)
				}
				return int(x.Tier) - int(y.Tier)
			})
			class, tier := naiveClass(&q.pods[first]), int(q.pods[first].Tier)
			node := -1
			if where(&q.pods[first]) >= 0 {
				node = nextNode(q, left, class, tier)
			}
			at := slices.IndexFunc(left, func(index uint32) bool {
				pod := &q.pods[index]
				return naiveClass(pod) == class && int(pod.Tier) == tier && where(pod) == node
			})
			want = append(want, left[at])
			left = slices.Delete(left, at, at+1)
		}
		tiered := slices.Clone(q.pods)
		err := e.EmptyNodes(tiered, q.weights, q.domains, make([]uint32, len(q.weights)+6))
		if got := selects(t, e, tiered, q.options, len(tiered)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		for a := range tiered {
			for b := range tiered {
				if q.pods[a].Tier < q.pods[b].Tier && tiered[a].Tier >= tiered[b].Tier {
					t.Errorf("pod %d was in a lower tier than pod %d: %v", a, b, tiered)
				}
			}
		}
	})
}

// There are 65,536 tiers, so of pods in all of them, none may need one more.
func TestTiersDoNotSuffice(t *testing.T) {
	for _, e := range engines {
		pods := make([]core.Pod, math.MaxUint16+2)
		for i := range pods {
			pods[i].Tier = uint16(min(i, math.MaxUint16))
		}
		if err := e.EmptyNodes(pods, nil, nil, scratch[uint32](1)); err != nil {
			t.Errorf("%s: %v", e.Name(), err)
		}
		pods[len(pods)-1].Phase = 1
		if err := e.EmptyNodes(pods, nil, nil, scratch[uint32](1)); err == nil {
			t.Errorf("%s finds 65,537 tiers", e.Name())
		}
	}
}

// priceTo is what changing a pod's cost is worth, or a lot if it is fixed.
func priceTo(q *question, index int) int {
	switch {
	case len(q.prices) == 0 || q.prices[index] == 0:
		return 1
	case q.prices[index] == core.SteerPriceFixed:
		return 1 << 20
	}
	return int(q.prices[index])
}

// cheapest is the least sum of prices with which some of the pods keep their costs, and the others can get any. Pods
// can keep theirs if each of a lower tier costs less than each of a higher one, with a number for each tier between,
// and if there is a number for each tier below and above.
func cheapest(q *question) int {
	var tiers []int
	for _, pod := range q.pods {
		tiers = append(tiers, int(pod.Tier))
	}
	slices.Sort(tiers)
	tiers = slices.Compact(tiers)
	best := math.MaxInt
	for kept := range 1 << len(q.pods) {
		sum, fits := 0, true
		for i, a := range q.pods {
			if kept>>i&1 == 0 {
				sum += priceTo(q, i)
				continue
			}
			tier := int64(slices.Index(tiers, int(a.Tier)))
			cost := int64(a.DeletionCost)
			fits = fits && cost-tier >= math.MinInt32 && cost+int64(len(tiers)-1)-tier <= math.MaxInt32
			for j, b := range q.pods {
				other := int64(slices.Index(tiers, int(b.Tier)))
				fits = fits && (kept>>j&1 == 0 || other <= tier || int64(b.DeletionCost)-cost >= other-tier)
			}
		}
		if fits {
			best = min(best, sum)
		}
	}
	return best
}

// Lower tiers cost less, nothing that is fixed changes, and the changes are the cheapest.
func TestCostsFollowTheTiersAtTheLeastPrice(t *testing.T) {
	refused, unsteerables := 0, 0
	forEach(t, 1000, func(t *testing.T, e core.Engine, q *question) {
		n := min(len(q.pods), 7)
		q.pods, q.prices = q.pods[:n], q.prices[:min(n, len(q.prices))]
		q.options.Flags &^= core.OptionsPodDeletionCostOff
		for i := range q.pods {
			q.pods[i].Tier %= 5
		}
		costs, unsteerable := make([]int32, n), make([]core.Unsteerable, n)
		steered, err := e.Steer(q.pods, q.options, q.prices, costs, unsteerable)
		least := cheapest(q)
		if errors.Is(err, core.ErrNoRoom) {
			refused++
			lower, higher := int(steered.Lower), int(steered.Higher)
			if least < 1<<20 || q.pods[lower].Tier >= q.pods[higher].Tier ||
				priceTo(q, lower) < 1<<20 && priceTo(q, higher) < 1<<20 {
				t.Errorf("%+v, and the least is %d", steered, least)
			}
			return
		}
		sum, changed := 0, 0
		for i, a := range q.pods {
			if a.DeletionCost != costs[i] {
				changed++
				sum += priceTo(q, i)
			}
			for j, b := range q.pods {
				if a.Tier < b.Tier && costs[i] >= costs[j] {
					t.Errorf("pod %d costs %d, pod %d %d", i, costs[i], j, costs[j])
				}
			}
		}
		if err != nil || changed != int(steered.Changed) || sum != least {
			t.Errorf("%d changes cost %d: %v, %v, want %d", changed, sum, costs, err, least)
		}
		unsteerables += int(steered.Unsteerable)
		checkUnsteerable(t, q, unsteerable[:steered.Unsteerable])
	})
	if refused < 40 || unsteerables < 1000 {
		t.Errorf("%d without room, %d unsteerable: too few to tell", refused, unsteerables)
	}
}

// If no pod can keep its cost, the lowest tier gets 0.
func TestCostsStartAtZero(t *testing.T) {
	pods := []core.Pod{{Tier: 3, DeletionCost: math.MaxInt32}, {Tier: 5, DeletionCost: math.MinInt32}}
	for _, e := range engines {
		costs := make([]int32, 2)
		_, err := e.Steer(pods, core.Options{}, nil, costs, make([]core.Unsteerable, 2))
		if err != nil || !slices.Equal(costs, []int32{0, 1}) {
			t.Errorf("%s: %v, %v", e.Name(), costs, err)
		}
	}
}

// checkUnsteerable checks that these are the pods that are deleted before one of a lower tier in any case.
func checkUnsteerable(t *testing.T, q *question, unsteerable []core.Unsteerable) {
	found := map[uint32]core.Unsteerable{}
	for _, pair := range unsteerable {
		found[pair.Pod] = pair
	}
	for i, a := range q.pods {
		last := -1
		for j, b := range q.pods {
			if b.Tier < a.Tier && (last < 0 || naiveClass(&b) > naiveClass(&q.pods[last])) {
				last = j
			}
		}
		pair, ok := found[uint32(i)]
		if want := last >= 0 && naiveClass(&a) < naiveClass(&q.pods[last]); ok != want {
			t.Errorf("pod %d is unsteerable: %t, want %t", i, ok, want)
		} else if ok {
			before := &q.pods[pair.Before]
			first, rule := naiveOrder(q.options, &a, before)
			if before.Tier >= a.Tier || naiveClass(before) != naiveClass(&q.pods[last]) || first != -1 || rule != pair.Rule {
				t.Errorf("%+v: %d by rule %d", pair, first, rule)
			}
		}
	}
	if len(found) != len(unsteerable) {
		t.Errorf("%v", unsteerable)
	}
}
