package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/podrank/podrank/go/judge/upstream"
)

// Now is the moment of upstream.json: no whole second, as no real one is.
const Now = 1773144000123456789 // 2026-03-10T12:00:00.123456789Z

const (
	second = int64(1e9)
	about  = "What ActivePodsWithRanks.Less of kube-controller-manager says of pairs of pods, by that very code: " +
		"go run ./cmd/vectors in judge/code writes this file. See README.md."
)

// Pair is a pair of upstream.json. Its relation is "before" (first before
// second, and not the other way round) or "tie" (neither before the other).
type Pair struct {
	First    string  `json:"first"`
	Second   string  `json:"second"`
	Relation string  `json:"relation"`
	Policy   *Policy `json:"policy,omitempty"`
}

// File is upstream.json.
type File struct {
	About      string            `json:"about"`
	Kubernetes string            `json:"kubernetes"`
	Now        *Nanos            `json:"now"`
	Pods       map[string]Record `json:"pods"`
	Pairs      []Pair            `json:"pairs"`

	names []string // of the pods, as they came
}

// PolicyOf is the policy that decides a pair.
func (f *File) PolicyOf(p Pair) Policy {
	if p.Policy != nil {
		return *p.Policy
	}
	return Policy{Now: f.Now}
}

// Write writes the file with a line for each pod and pair.
func (f *File) Write(w io.Writer) error {
	var b bytes.Buffer
	text := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			panic(err) // no type here can fail
		}
		return string(data)
	}
	fmt.Fprintf(&b, "{\n  \"about\": %s,\n  \"kubernetes\": %s,\n  \"now\": %s,\n  \"pods\": {",
		text(f.About), text(f.Kubernetes), text(f.Now))
	comma := ""
	for _, name := range f.names {
		fmt.Fprintf(&b, "%s\n    %s: %s", comma, text(name), text(f.Pods[name]))
		comma = ","
	}
	b.WriteString("\n  },\n  \"pairs\": [")
	comma = ""
	for _, pair := range f.Pairs {
		fmt.Fprintf(&b, "%s\n    %s", comma, text(pair))
		comma = ","
	}
	b.WriteString("\n  ]\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

// ask adds what upstream says of two pods; no policy stands for the file's.
func (f *File) ask(a, b string, policy *Policy) {
	p := f.PolicyOf(Pair{Policy: policy})
	if err := upstream.SetDeletionCostGate(p.CostOn()); err != nil {
		panic(err)
	}
	defer upstream.SetDeletionCostGate(true)
	first, second := f.Pods[a], f.Pods[b]
	ab := upstream.Less(first.V1(), second.V1(), first.Rank, second.Rank, p.Now.Time())
	ba := upstream.Less(second.V1(), first.V1(), second.Rank, first.Rank, p.Now.Time())
	relation := "before"
	switch {
	case ab && ba:
		panic(fmt.Sprintf("upstream says both ways that %s and %s are before each other", a, b))
	case ba:
		a, b = b, a
	case !ab:
		relation = "tie"
	}
	f.Pairs = append(f.Pairs, Pair{First: a, Second: b, Relation: relation, Policy: policy})
}

func (f *File) add(name string, r Record) string {
	if _, ok := f.Pods[name]; ok {
		panic("two pods called " + name)
	}
	f.Pods[name] = r
	f.names = append(f.names, name)
	return name
}

// uid numbers UIDs; a smaller number is a smaller UID.
func uid(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// running is a pod like others in all that is not set afterwards.
func running(n int, ready, created *Nanos) Record {
	return Record{UID: uid(n), Assigned: true, Phase: 2, Ready: true, ReadyTime: ready, CreationTime: created, Rank: 1}
}

// Upstream asks upstream about all pairs of the file. This release is the one
// that go.mod names.
func Upstream(release string) *File {
	f := &File{About: about, Kubernetes: release, Now: At(Now), Pods: map[string]Record{}}
	asTheyAre := &Policy{}
	costOff := &Policy{Now: At(Now), FeatureGates: map[string]bool{"PodDeletionCost": false}}
	f.steps(asTheyAre, costOff)
	f.costs(costOff)
	f.cycle(asTheyAre)
	f.uids()
	f.moments(asTheyAre)
	f.edges()
	return f
}

// steps has a pair for each step: equal in those before it, and all after it
// would say the opposite.
func (f *File) steps(policies ...*Policy) {
	steps := []struct {
		name string
		win  func(*Record)
	}{
		{"assigned", func(r *Record) { r.Assigned = false }},
		{"phase", func(r *Record) { r.Phase = 1 }},
		{"ready", func(r *Record) { r.Ready, r.ReadyTime = false, nil }},
		{"cost", func(r *Record) { r.DeletionCost = -1 }},
		{"rank", func(r *Record) { r.Rank = 2 }},
		{"ready time", func(r *Record) {
			if r.Ready {
				r.ReadyTime = At(Now - 10*second)
			}
		}},
		{"restarts", func(r *Record) { r.Restarts = 5 }},
		{"sidecar restarts", func(r *Record) { r.SidecarRestarts = 2 }},
		{"creation time", func(r *Record) { r.CreationTime = At(Now - 20*second) }},
		{"uid", func(r *Record) { r.UID = uid(1) }},
	}
	for i, step := range steps {
		a := running(2, At(Now-100*second), At(Now-200*second))
		b := a
		step.win(&a)
		for _, later := range steps[i+1:] {
			later.win(&b)
		}
		first, second := f.add(step.name+" goes", a), f.add(step.name+" stays", b)
		for _, policy := range append([]*Policy{nil}, policies...) {
			f.ask(first, second, policy)
		}
	}
	pending := running(3, nil, nil)
	pending.Phase = 0
	f.add("pending", pending)
	f.ask("pending", "phase goes", nil)
	f.ask("pending", "phase stays", nil)
	preferred := running(4, nil, nil)
	f.add("not preferred", preferred)
	preferred.UID, preferred.Preferred = uid(5), true
	f.add("preferred", preferred)
	f.ask("preferred", "not preferred", nil) // there is no such step upstream
}

// costs and other numbers at their ends.
func (f *File) costs(costOff *Policy) {
	var last string
	for i, cost := range []int32{math.MinInt32, math.MinInt32 + 1, -1, 0, 1, math.MaxInt32 - 1, math.MaxInt32} {
		r := running(10+i, nil, nil)
		r.DeletionCost = cost
		name := f.add(fmt.Sprintf("cost %d", cost), r)
		if last != "" {
			f.ask(last, name, nil)
			f.ask(last, name, costOff)
		}
		last = name
	}
	f.ask("cost -2147483648", "cost 2147483647", nil)
	for k, what := range []string{"rank", "restarts", "sidecar restarts"} {
		last = ""
		for i, n := range []int32{0, 1, math.MaxInt32 - 1, math.MaxInt32} {
			r := running(0x20+0x10*k+i, nil, nil)
			switch what {
			case "rank":
				r.Rank = int(n)
			case "restarts":
				r.Restarts = n
			default:
				r.SidecarRestarts = n
			}
			name := f.add(fmt.Sprintf("%s %d", what, n), r)
			if last != "" {
				f.ask(last, name, nil)
			}
			last = name
		}
	}
}

// cycle: X before Z before Y before X.
func (f *File) cycle(asTheyAre *Policy) {
	at := Now - 3600*second
	y := running(0x63, At(at), nil)
	y.Restarts = 5
	f.add("X", running(0x61, At(at), nil))
	f.add("Y", y)
	f.add("Z", running(0x62, At(at-second), nil))
	for _, policy := range []*Policy{nil, asTheyAre} {
		f.ask("X", "Z", policy)
		f.ask("Z", "Y", policy)
		f.ask("Y", "X", policy)
	}
}

// uids settle two moments of one age bucket; equal ones end the comparison.
func (f *File) uids() {
	uids := []string{
		"", "00000000-0000-0000-0000-000000000001", "0000000f-0000-0000-0000-000000000000",
		"00000010-0000-0000-0000-000000000000", "9fffffff-ffff-ffff-ffff-ffffffffffff",
		"a0000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
	}
	for _, what := range []string{"ready", "created"} {
		var names, older []string
		for i, id := range uids {
			ready, created := At(Now-3600*second+int64(i)), At(Now-7200*second)
			if what == "created" {
				ready, created = created, ready
			}
			r := running(0, ready, created)
			r.UID = id
			names = append(names, f.add(fmt.Sprintf("%s, uid %q", what, id), r))
			// A twin a second older, which all later steps would keep.
			if what == "created" {
				r.CreationTime = At(int64(*created) - second)
			} else {
				r.ReadyTime = At(int64(*ready) - second)
			}
			older = append(older, f.add(fmt.Sprintf("%s 1 s earlier, uid %q", what, id), r))
		}
		for i := range names {
			f.ask(names[i], older[i], nil)
			if i > 0 {
				f.ask(names[i], names[i-1], nil)
				f.ask(names[i], older[i-1], nil)
				f.ask(older[i], names[i-1], nil)
			}
		}
	}
	// The tie by UID ends it: restarts, which would come next, are not asked.
	r := f.Pods[`ready, uid "ffffffff-ffff-ffff-ffff-ffffffffffff"`]
	r.Restarts = 7
	f.add("restarted", r)
	f.ask("restarted", `ready, uid "ffffffff-ffff-ffff-ffff-ffffffffffff"`, nil)
	f.ask("restarted", `ready 1 s earlier, uid "ffffffff-ffff-ffff-ffff-ffffffffffff"`, nil)
}

// moments that are special, each against each. The older has the smaller UID,
// so that it shows whether the age decided or the UID.
func (f *File) moments(asTheyAre *Policy) {
	moments := []struct {
		name string
		at   *Nanos
	}{
		{"at the first ns", At(math.MinInt64 + 1)}, {"at the second ns", At(math.MinInt64 + 2)},
		{"1 ns before the epoch", At(-1)}, {"at the epoch", At(0)}, {"1 h ago", At(Now - 3600*second)},
		{"1 ns ago", At(Now - 1)}, {"now", At(Now)}, {"in 1 ns", At(Now + 1)}, {"in 1 h", At(Now + 3600*second)},
		{"at the last ns", At(math.MaxInt64)}, {"never", nil},
	}
	for _, what := range []string{"ready", "created"} {
		var names []string
		for i, m := range moments {
			r := running(0x100+i, m.at, nil)
			if what == "created" {
				r = running(0x100+i, nil, m.at)
			}
			names = append(names, f.add(what+" "+m.name, r))
		}
		for _, policy := range []*Policy{nil, asTheyAre} {
			for i, a := range names {
				for _, b := range names[:i] {
					f.ask(a, b, policy)
				}
			}
		}
	}
}

// Early is for how many nanoseconds below 2^e upstream's bucket is e already:
// order.md 3, as measured.
func Early(e int) uint64 {
	switch {
	case e < 49:
		return 0
	case e < 54:
		return []uint64{1, 2, 5, 11, 22}[e-49]
	}
	return 45 << (e - 54)
}

// edges of the age buckets: each age against the next, the older with the
// smaller UID, so that it shows whether they share a bucket.
func (f *File) edges() {
	var ages []uint64
	of := map[uint64]string{}
	for e := 1; e < 64; e++ {
		power, early := uint64(1)<<e, Early(e)
		for _, below := range []uint64{early + 1, early, 1, 0} {
			name := fmt.Sprintf("2^%d-%d", e, below)
			if below == 0 {
				name = fmt.Sprintf("2^%d", e)
			}
			if age := power - below; of[age] == "" {
				ages, of[age] = append(ages, age), name
			}
		}
	}
	slices.Sort(ages)
	for _, what := range []string{"ready", "created"} {
		last := ""
		for i, age := range ages {
			at := At(int64(uint64(Now) - age)) // wraps around for ages above Now, rightly
			r := running(0x1000-i, at, nil)
			if what == "created" {
				r = running(0x1000-i, nil, at)
			}
			name := f.add(what+" "+of[age]+" ns ago", r)
			if last != "" {
				f.ask(last, name, nil)
			}
			last = name
		}
	}
}
