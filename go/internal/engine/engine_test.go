//go:build cgo && !386 && !arm && !mips && !mipsle && (podrank_system || (linux && (amd64 || arm64)))

package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
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
		satisfied, beingDeleted := r.IntN(3) > 0, r.IntN(5) == 0
		both(t, "Plan", func(e core.Engine) []any {
			creations, deletions, err := e.Plan(a, b, c, satisfied, beingDeleted)
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

func TestDeploymentsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 22))
	for _, text := range []string{"25%", "0%", "100%", "%", "", "-1%", "4294967296%", "12", "1.5%"} {
		both(t, text, func(e core.Engine) []any {
			percent, err := e.ParsePercent(text)
			var set core.ReplicaSet
			return []any{percent, err, e.SetAnnotations(&set, text, "7"), set, e.SetAnnotations(&set, "3", text), set}
		})
	}
	small := func() int32 { return int32(r.IntN(12)) }
	for range 3000 {
		deployment := core.Deployment{
			Replicas: small(), StatusReplicas: small(), MaxSurge: small(), MaxUnavailable: small(), Flags: uint32(r.IntN(128)),
		}
		sets := make([]core.ReplicaSet, r.IntN(5))
		for i := range sets {
			sets[i] = core.ReplicaSet{
				CreationTime: int64(r.IntN(3)), NameOrder: uint32(i), Replicas: small(), StatusReplicas: small(),
				AvailableReplicas: small(), DesiredReplicas: small(), MaxReplicas: small(), Flags: uint8(r.IntN(8)),
			}
		}
		both(t, fmt.Sprintf("%+v %+v", deployment, sets), func(e core.Engine) []any {
			changes := make([]core.ReplicaSetChange, len(sets))
			step, err := e.NextDeployment(&deployment, sets, changes)
			return []any{step, err, changes}
		})
	}
}

func TestOtherWorkloadsAreTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 23))
	for _, text := range []string{"db-0", "db-12", "db-007", "db-", "db", "web-1", "db-2147483648", "db--1", ""} {
		both(t, text, func(e core.Engine) []any {
			ordinal, err := e.StatefulSetOrdinal("db", text)
			index, errIndex := e.JobIndex(strings.TrimPrefix(text, "db-"))
			return []any{ordinal, err, index, errIndex}
		})
	}
	small := func() int32 { return int32(r.IntN(12)) }
	for range 3000 {
		n := r.IntN(9)
		set := core.StatefulSet{
			Replicas: small(), Start: small(), Partition: small(), MaxUnavailable: small(), Flags: uint32(r.IntN(128)),
		}
		members := make([]core.StatefulSetPod, n)
		for i := range members {
			members[i] = core.StatefulSetPod{Ordinal: small(), Flags: uint8(r.IntN(64))}
		}
		both(t, fmt.Sprintf("%+v %+v", set, members), func(e core.Engine) []any {
			outcomes := make([]core.StatefulSetOutcome, n)
			return []any{e.NextStatefulSet(&set, members, outcomes), outcomes}
		})
		job := core.Job{Parallelism: small(), Completions: small(), Succeeded: small(), Flags: uint32(r.IntN(1024)),
			Failed: small(), BackoffLimit: small(), Restarts: small(), FailedIndexes: small(), MaxFailedIndexes: small(),
			ActiveDeadlineSeconds: int64(small()), StartTime: int64(small())}
		now := int64(small()) * 1_000_000_000
		pods, indexes := records(r, n), make([]int64, n)
		for i := range indexes {
			indexes[i] = int64(r.IntN(9)) - 1
		}
		both(t, fmt.Sprintf("%+v %+v %v", job, pods, indexes), func(e core.Engine) []any {
			outcomes := make([]core.Outcome, n)
			step, err := e.NextJob(&job, now, pods, indexes, make([]uint32, n), outcomes)
			return []any{step, err, outcomes}
		})
		daemonSet := core.DaemonSet{MaxSurge: small(), MaxUnavailable: small(), Flags: uint32(r.IntN(16))}
		nodes, daemons := make([]uint8, 1+r.IntN(4)), make([]core.DaemonSetPod, n)
		for i := range nodes {
			nodes[i] = uint8(r.IntN(16))
		}
		for i := range daemons {
			daemons[i] = core.DaemonSetPod{
				CreationTime: int64(r.IntN(3)), NameOrder: uint32(i), Node: uint32(r.IntN(len(nodes))), Flags: uint8(r.IntN(256)),
			}
		}
		both(t, fmt.Sprintf("%+v %v %+v", daemonSet, nodes, daemons), func(e core.Engine) []any {
			outcomes := make([]core.Outcome, n)
			step, err := e.NextDaemonSet(&daemonSet, nodes, daemons, make([]uint32, n), outcomes)
			return []any{step, err, outcomes}
		})
	}
}

func TestNamesAreTheSame(t *testing.T) {
	both(t, "Version", func(e core.Engine) []any { return []any{e.Version()} })
	for number := range 256 {
		both(t, fmt.Sprint(number), func(e core.Engine) []any {
			reason := uint8(number)
			return []any{e.RuleName(reason), e.ReasonName(reason), e.MemberReasonName(reason), e.JobReasonName(reason),
				e.DaemonReasonName(reason)}
		})
	}
	if engines[0].Version() == "" || engines[1].RuleName(10) != "unassigned" || engines[0].Name() == engines[1].Name() {
		t.Error(engines[0].Version(), engines[1].RuleName(10), engines[0].Name())
	}
}
