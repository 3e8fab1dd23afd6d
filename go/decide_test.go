package podrank

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type vectorPolicy struct {
	Now          nanoseconds
	FeatureGates map[string]bool
}

func (p vectorPolicy) options(t *testing.T) core.Options {
	t.Helper()
	options := core.Options{}
	if p.Now.int64 != nil {
		options = core.Options{Flags: core.OptionsNow, Now: *p.Now.int64}
	}
	for gate, on := range p.FeatureGates {
		s := settings{}
		switch gate {
		case "PodDeletionCost":
			WithPodDeletionCost(on)(&s)
		case "LogarithmicScaleDown":
			WithLogarithmicScaleDown(on)(&s)
		case "PreferForScaleDown":
			WithPreferForScaleDown(on)(&s)
		default:
			t.Fatalf("unknown gate %s", gate)
		}
		options.Flags |= s.flags
	}
	return options
}

func or(own *vectorPolicy, all vectorPolicy) vectorPolicy {
	if own != nil {
		return *own
	}
	return all
}

func explained(t *testing.T, a, b core.Pod, options core.Options) (first int, rule Rule) {
	t.Helper()
	var rows [core.RowMax]core.Row
	count, err := engine.Current.Explain(&a, &b, options, &rows)
	if err != nil || count != 12 {
		t.Fatalf("%d rows, %v", count, err)
	}
	for _, row := range rows[:count] {
		if row.Decides != 0 {
			return int(row.Ordering), ruleOf(row.Rule)
		}
	}
	return 0, ""
}

// Every rule of the header has a row, in the order of the numbers: a rule that an engine does not know fails here.
func TestEveryRuleIsExplained(t *testing.T) {
	var rows [core.RowMax]core.Row
	count, err := engine.Current.Explain(&core.Pod{}, &core.Pod{}, core.Options{}, &rows)
	if err != nil {
		t.Fatal(err)
	}
	var rules []uint8
	for _, row := range rows[:count] {
		rules = append(rules, row.Rule)
	}
	if want := slices.Sorted(maps.Keys(ruleNames)); !slices.Equal(rules, want) {
		t.Errorf("%s explains the rules %v, and the header has %v", Engine(), rules, want)
	}
}

// orderGroup is pods of order.json, with pairs and selections of them.
type orderGroup struct {
	Name       string
	Policy     vectorPolicy
	Pods       map[string]vectorRecord
	Pairs      []orderPair
	Selections []orderSelection
}

type orderPair struct {
	First, Second string
	Rule          Rule
	Ranks         *[2]uint32
	Policy        *vectorPolicy
}

type orderSelection struct {
	Pods, Related, Victims []string
	Delete                 int
	AnyOrder               bool
	Policy                 *vectorPolicy
}

func TestOrderJSON(t *testing.T) {
	pairs, selections := 0, 0
	for _, g := range vectors[orderGroup](t, "order.json", 15) {
		for _, pair := range g.Pairs {
			pairs++
			options := or(pair.Policy, g.Policy).options(t)
			a, b := g.Pods[pair.First].record(t), g.Pods[pair.Second].record(t)
			if pair.Ranks != nil {
				a.Rank, b.Rank = pair.Ranks[0], pair.Ranks[1]
			}
			want := -1
			if pair.Rule == "" {
				want = 0
			}
			if first, rule := explained(t, a, b, options); first != want || rule != pair.Rule {
				t.Errorf("%s: %s and %s: %d by %q, want %d by %q", g.Name, pair.First, pair.Second, first, rule, want, pair.Rule)
			}
			if first, rule := explained(t, b, a, options); first != -want || rule != pair.Rule {
				t.Errorf("%s: %s and %s, the other way round: %d by %q", g.Name, pair.First, pair.Second, first, rule)
			}
		}
		for _, s := range g.Selections {
			selections++
			records := g.ranked(t, s)
			for _, scratch := range [][]core.Scratch{nil, make([]core.Scratch, 1, 99)} {
				victims := make([]uint32, s.Delete)
				count, err := engine.Current.Select(records, or(s.Policy, g.Policy).options(t), victims, &scratch)
				if err != nil {
					t.Fatal(err)
				}
				got, want := []string{}, slices.Clone(s.Victims)
				for _, index := range victims[:count] {
					got = append(got, s.Pods[index])
				}
				if s.AnyOrder {
					slices.Sort(got)
					slices.Sort(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: deleting %d of %v: %v, want %v", g.Name, s.Delete, s.Pods, got, want)
				}
			}
		}
	}
	if pairs < 80 || selections < 30 {
		t.Errorf("only %d pairs and %d selections", pairs, selections)
	}
}

// Go makes no keys, but says of two pods what their keys say, which databases compare.
func TestKeysJSON(t *testing.T) {
	var file struct {
		Keys map[string][2]string
	}
	readVectors(t, "keys.json", &file)
	pairs := 0
	for _, g := range vectors[orderGroup](t, "order.json", 15) {
		for _, pair := range g.Pairs {
			a, b := g.Pods[pair.First].record(t), g.Pods[pair.Second].record(t)
			ranks := "None"
			if pair.Ranks != nil {
				a.Rank, b.Rank = pair.Ranks[0], pair.Ranks[1]
				ranks = fmt.Sprintf("Some([%d, %d])", a.Rank, b.Rank)
			}
			keys, ok := file.Keys[fmt.Sprintf("%s: %s and %s %s", g.Name, pair.First, pair.Second, ranks)]
			first, _ := explained(t, a, b, or(pair.Policy, g.Policy).options(t))
			if want := strings.Compare(keys[0], keys[1]); !ok || first != want {
				t.Errorf("%s: %s and %s: %d, and their keys say %d, known: %t", g.Name, pair.First, pair.Second, first, want, ok)
			}
			pairs++
		}
	}
	if pairs < len(file.Keys) || len(file.Keys) < 80 {
		t.Errorf("%d pairs have %d keys", pairs, len(file.Keys))
	}
}

// ranked returns the pods of a selection, with the ranks that its related pods give them.
func (g orderGroup) ranked(t *testing.T, s orderSelection) []core.Pod {
	type node struct {
		assigned bool
		number   uint32
	}
	counts := map[node]uint32{}
	for _, name := range s.Related {
		counts[node{g.Pods[name].Assigned, g.Pods[name].Node}]++
	}
	var records []core.Pod
	for _, name := range s.Pods {
		record := g.Pods[name].record(t)
		if s.Related != nil {
			record.Rank = counts[node{g.Pods[name].Assigned, g.Pods[name].Node}]
		}
		records = append(records, record)
	}
	return records
}

// What Kubernetes' own code said of pairs: judge/code asks it again.
func TestUpstreamJSON(t *testing.T) {
	var file struct {
		Now   nanoseconds
		Pods  map[string]vectorRecord
		Pairs []struct {
			First, Second, Relation string
			Policy                  *vectorPolicy
		}
	}
	readVectors(t, "upstream.json", &file)
	if len(file.Pairs) < 500 {
		t.Errorf("only %d pairs", len(file.Pairs))
	}
	for _, pair := range file.Pairs {
		options := or(pair.Policy, vectorPolicy{Now: file.Now}).options(t)
		a, b := file.Pods[pair.First].record(t), file.Pods[pair.Second].record(t)
		want := map[string]int{"before": -1, "tie": 0}[pair.Relation]
		got, _, err := engine.Current.Kubernetes(&a, &b, options)
		back, _, _ := engine.Current.Kubernetes(&b, &a, options)
		if err != nil || got != want || back != -want {
			t.Errorf("%s, %s: %d, %d, %v, want %d", pair.First, pair.Second, got, back, err, want)
		}
	}
}

// An object is a pod or a set, of which only the metadata and a ReplicaSet's selector are read.
type object struct {
	Kind string
	appsv1.ReplicaSet
	pod *corev1.Pod
}

func (o *object) UnmarshalJSON(data []byte) error {
	var kind metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &kind); err != nil {
		return err
	}
	o.Kind, o.ObjectMeta = kind.Kind, kind.ObjectMeta
	switch o.Kind {
	case "Pod":
		return json.Unmarshal(data, &o.pod)
	case "ReplicaSet":
		return json.Unmarshal(data, &o.ReplicaSet)
	}
	return nil
}

// related are the pods that [RelatedPods] finds: none for a ReplicationController, as in Kubernetes.
func related(t *testing.T, set *object, objects []object) []*corev1.Pod {
	t.Helper()
	if set.Kind != "ReplicaSet" {
		return nil
	}
	var sets setLister
	var pods podLister
	for i := range objects {
		switch o := &objects[i]; {
		case o.pod != nil && o.pod.Namespace == set.Namespace:
			pods = append(pods, o.pod)
		case o.Kind == "ReplicaSet" && o.Namespace == set.Namespace:
			sets = append(sets, &o.ReplicaSet)
		}
	}
	all, err := RelatedPods(&set.ReplicaSet, sets, pods)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestScaleDownJSON(t *testing.T) {
	for _, c := range vectors[struct {
		Name, ReplicaSet string
		Now              time.Time
		Replicas         int
		Victims          []string
		Objects          []object
	}](t, "scale-down.json", 25) {
		set := &c.Objects[slices.IndexFunc(c.Objects, func(o object) bool {
			return o.pod == nil && o.Name == c.ReplicaSet && o.Namespace == "default"
		})]
		var active []*corev1.Pod
		for _, o := range c.Objects {
			if o.pod == nil {
				continue
			}
			if owner := metav1.GetControllerOf(o.pod); owner != nil && owner.UID == set.UID && IsActive(o.pod) {
				active = append(active, o.pod)
			}
		}
		got := toDelete(t, active, related(t, set, c.Objects), len(active)-c.Replicas, WithNow(c.Now))
		if !slices.Equal(got, c.Victims) {
			t.Errorf("%s: %v go, want %v", c.Name, got, c.Victims)
		}
	}
}

func TestSteeringJSON(t *testing.T) {
	type pods []vectorRecord
	var file struct {
		Steer []struct {
			Name        string
			Pods        pods
			Fixed       []int
			Prices      []int
			Costs       []int32
			Unsteerable [][3]any
			NoRoom      []uint32
		}
		Spread []struct {
			Name         string
			Pods, Others pods
			Nodes        int
			Ranks        []uint32
		}
	}
	readVectors(t, "steering.json", &file)
	records := func(pods pods) (records []core.Pod) {
		for _, pod := range pods {
			records = append(records, pod.record(t))
		}
		return records
	}
	for _, c := range file.Steer {
		n := len(c.Pods)
		prices, costs, unsteerable := make([]uint8, n), make([]int32, n), make([]core.Unsteerable, n)
		for i, price := range c.Prices {
			prices[i] = uint8(price)
		}
		for _, i := range c.Fixed {
			prices[i] = core.SteerPriceFixed
		}
		steered, err := engine.Current.Steer(records(c.Pods), core.Options{}, prices, costs, unsteerable)
		if c.NoRoom != nil {
			if got := []uint32{steered.Lower, steered.Higher}; !errors.Is(err, core.ErrNoRoom) || !reflect.DeepEqual(got, c.NoRoom) {
				t.Errorf("%s: %v %v, not no room at %v", c.Name, got, err, c.NoRoom)
			}
			continue
		}
		var pairs [][3]any
		for _, pair := range unsteerable[:steered.Unsteerable] {
			pairs = append(pairs, [3]any{float64(pair.Pod), float64(pair.Before), string(ruleOf(pair.Rule))})
		}
		if err != nil || n > 0 && !reflect.DeepEqual(costs, c.Costs) || !reflect.DeepEqual(pairs, c.Unsteerable) {
			t.Errorf("%s: %v %v %v, not %v %v", c.Name, costs, pairs, err, c.Costs, c.Unsteerable)
		}
	}
	for _, c := range file.Spread {
		own := records(c.Pods)
		err := engine.Current.Spread(own, records(c.Others), core.Options{}, make([]uint32, c.Nodes), make([]uint32, len(own)))
		ranks := []uint32{}
		for _, record := range own {
			ranks = append(ranks, record.Rank)
		}
		if err != nil || !reflect.DeepEqual(ranks, c.Ranks) {
			t.Errorf("%s: %v %v, not %v", c.Name, ranks, err, c.Ranks)
		}
	}
	atLeast(t, 15, len(file.Steer))
	atLeast(t, 5, len(file.Spread))
}
