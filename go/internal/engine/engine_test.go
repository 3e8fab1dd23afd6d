//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package engine

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/cpodrank"
	"github.com/podrank/podrank/go/internal/translated"
)

var engines = [2]core.Engine{cpodrank.Engine{}, translated.Engine{}}

// both gives the two engines' answers to one question.
func both(t *testing.T, what string, ask func(core.Engine) []any) {
	t.Helper()
	answers := [2][]any{}
	for i, engine := range engines {
		for _, answer := range ask(engine) {
			if err, ok := answer.(error); ok {
				answer = err.Error()
			}
			answers[i] = append(answers[i], answer)
		}
	}
	if !reflect.DeepEqual(answers[0], answers[1]) {
		t.Errorf("%s: libpodrank says %+v, the translation %+v", what, answers[0], answers[1])
	}
}

func records(r *rand.Rand, n int) []core.Pod {
	times := []int64{core.TimeUnset, 0, 1e18, 1e18 + 1, 1e18 + 60e9, 1e18 + 3600e9, core.TimeUnset + 1, 1<<63 - 1}
	records := make([]core.Pod, n)
	for i := range records {
		// Values that tie often.
		records[i] = core.Pod{
			UID: [16]byte{15: byte(r.IntN(n + 1)), 0: byte(r.IntN(2))}, ReadyTime: times[r.IntN(len(times))],
			CreationTime: times[r.IntN(len(times))], DeletionCost: int32(r.IntN(3) - 1), Rank: uint32(r.IntN(3)),
			Restarts: uint32(r.IntN(2)), SidecarRestarts: uint32(r.IntN(2)), Node: uint32(r.IntN(4)), Phase: uint8(r.IntN(3)),
			Flags: uint8(r.IntN(8)), Tier: uint16(r.IntN(3)),
		}
		if r.IntN(50) == 0 {
			records[i].Phase = 3 // unsound
		}
	}
	return records
}

func TestDecisionsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for range 3000 {
		n := []int{0, 1, 2, 5, 20, 100, 300}[r.IntN(7)]
		pods, others := records(r, n), records(r, r.IntN(5))
		k := r.IntN(n + 2)
		options := core.Options{Flags: uint32(r.IntN(16))}
		if options.Flags&core.OptionsNow != 0 {
			options.Now = []int64{1e18 + 7200e9, 0, core.TimeUnset + 1, 1<<63 - 1}[r.IntN(4)]
		}
		both(t, "Select", func(e core.Engine) []any {
			victims, scratch := make([]uint32, k), []core.Scratch(nil)
			count, err := e.Select(pods, options, victims, &scratch)
			return []any{count, err, victims}
		})
		both(t, "Settle", func(e core.Engine) []any {
			order, scores := make([]uint32, n), make([]uint64, n)
			certain, contested, err := e.Settle(pods, options, k, order, scores)
			return []any{certain, contested, err, order}
		})
		both(t, "Odds", func(e core.Engine) []any {
			order, odds := make([]uint32, n), make([]core.PodOdds, n)
			certain, contested, err := e.Odds(pods, options, k, order, odds)
			return []any{certain, contested, err, order, odds}
		})
		both(t, "Spread", func(e core.Engine) []any {
			ranked := append([]core.Pod(nil), pods...)
			return []any{e.Spread(ranked, others, options, make([]uint32, 4), make([]uint32, n)), ranked}
		})
		both(t, "EmptyNodes", func(e core.Engine) []any {
			tiered, weights := append([]core.Pod(nil), pods...), make([]uint64, 4)
			neighbours := make([]core.Neighbour, len(others))
			for i, pod := range others {
				neighbours[i] = core.Neighbour{Set: pod.Restarts % 3, Node: pod.Node}
			}
			weighed := e.NodeWeights(neighbours, weights)
			domains := []uint32{0, 1, 0, 1, 2, 3, 4, 5}[:4*(k%3)]
			return []any{weighed, neighbours, weights, e.EmptyNodes(tiered, options, weights, domains, make([]uint32, 10)), tiered}
		})
		both(t, "Steer", func(e core.Engine) []any {
			costs, blocked := make([]int32, n), make([]core.Blocked, n)
			prices := make([]uint8, n)
			for i := range prices {
				prices[i] = []uint8{0, 1, 2, 2, 1, 9, core.SteerPriceFixed}[i%7]
			}
			steered, err := e.Steer(pods, options, prices[:n*(k%2)], costs, blocked)
			if err != nil {
				costs = nil // They are the caller's then.
			}
			return []any{steered, err, costs, blocked[:steered.Blocked]}
		})
		both(t, "Availability", func(e core.Engine) []any {
			ready, available, lookAgain, err := e.Availability(pods, uint32(r.IntN(1)*60), 1e18+90e9)
			return []any{ready, available, lookAgain, err}
		})
		if n > 1 {
			both(t, "Explain", func(e core.Engine) []any {
				var rows [core.RowMax]core.Row
				count, err := e.Explain(&pods[0], &pods[1], options, &rows)
				return []any{count, err, rows}
			})
			both(t, "Upstream", func(e core.Engine) []any {
				before, rule, err := e.Upstream(&pods[0], &pods[1], options)
				return []any{before, rule, err}
			})
		}
	}
}

func TestTheControllerIsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 21))
	for range 2000 {
		a, b, c := r.Uint32N(1200), r.Uint32N(1200), r.Uint32N(600)
		state := core.PlanState{Wanted: a, Active: b, BurstReplicas: c}
		if r.IntN(3) > 0 {
			state.Flags |= core.PlanSatisfied
		}
		if r.IntN(5) == 0 {
			state.Flags |= core.PlanBeingDeleted
		}
		both(t, "Plan", func(e core.Engine) []any {
			creations, deletions, err := e.Plan(state)
			return []any{creations, deletions, err}
		})
		both(t, "SlowStart", func(e core.Engine) []any {
			start, err := e.BeginSlowStart(a)
			return []any{start, err, e.ReportSlowStart(&start, 0), start, e.ReportSlowStart(&start, c), start}
		})
		seed := r.Uint64()
		both(t, "Expectations", func(e core.Engine) (answers []any) {
			r := rand.New(rand.NewPCG(seed, 1))
			var state core.Expectations
			var room []core.PodKey
			key := func() core.PodKey { return core.PodKey{byte(r.IntN(6))} }
			for now := int64(0); now < 20; now++ {
				at := now * 60e9
				switch r.IntN(5) {
				case 0:
					answers = append(answers, e.ExpectCreations(&state, uint32(r.IntN(4)), at))
				case 1:
					keys := make([]core.PodKey, r.IntN(6))
					for i := range keys {
						keys[i] = key()
					}
					room = make([]core.PodKey, len(keys))
					answers = append(answers, e.ExpectDeletions(&state, room, keys, at))
				case 2:
					answers = append(answers, e.CreationsObserved(&state, uint32(r.IntN(3))))
				default:
					counted, err := e.DeletionObserved(&state, room, key())
					answers = append(answers, counted, err)
				}
				satisfied, err := e.Satisfied(&state, at)
				answers = append(answers, satisfied, err, state, append([]core.PodKey(nil), room[:state.Keys]...))
			}
			return answers
		})
	}
}

func TestVersionsAreTheSame(t *testing.T) {
	both(t, "Version", func(e core.Engine) []any { return []any{e.Version()} })
	if engines[0].Version() == "" || engines[0].Name() == engines[1].Name() {
		t.Error(engines[0].Version(), engines[0].Name())
	}
}
