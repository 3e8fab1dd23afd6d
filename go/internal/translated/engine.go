// Package translated is the engine of programs without cgo: the same core as libpodrank's, compiled to WebAssembly and from that
// to Go. It needs no cgo, checks the bounds of every access to its memory, and gives the same answers on every machine.
package translated

import (
	"encoding/binary"

	"github.com/podrank/podrank/go/internal/core"
)

//go:generate make -C ../.. translate

// An Engine is the translated core; [core.Engine] says what its methods do. Calls at once run in machines of their own.
type Engine struct{}

var _ core.Engine = Engine{}

// Name is this engine's.
func (Engine) Name() string { return "translated" }

func (Engine) Version() string {
	var version string
	_ = run(func(m *machine) { version = m.text(m.module.Xpodrank_version()) })
	return version
}

func (Engine) Select(records []core.Pod, options core.Options, victims []uint32, _ *[]core.Scratch) (selected int, err error) {
	err = run(func(m *machine) {
		most := min(len(victims), len(records))
		pods, o := m.records(records), m.options(options)
		list, scratch, count := m.room(most, 4), m.room(most, scratchSize), m.room(1, 4)
		m.must(m.module.Xpodrank_select(pods, length(records), o, list, int32(most), scratch, int32(most), count))
		selected = int(m.u32(count))
		m.out(list, victims[:selected])
	})
	return selected, err
}

func (Engine) Settle(records []core.Pod, options core.Options, k int, order []uint32, scores []uint64) (certain, contested int, err error) {
	err = run(func(m *machine) {
		pods, o := m.records(records), m.options(options)
		list, room := m.room(len(records), 4), m.room(len(records), 8)
		certainLen, contestedLen := m.room(1, 4), m.room(1, 4)
		m.must(m.module.Xpodrank_settle(
			pods, length(records), o, int32(min(k, len(records))), list, length(records), room, length(records), certainLen, contestedLen))
		certain, contested = int(m.u32(certainLen)), int(m.u32(contestedLen))
		m.out(list, order[:len(records)])
	})
	return certain, contested, err
}

func (Engine) Odds(records []core.Pod, options core.Options, k int, order []uint32, odds []core.PodOdds) (certain, contested int, err error) {
	err = run(func(m *machine) {
		pods, o, n := m.records(records), m.options(options), len(records)
		list, chances, scratch := m.room(n, 4), m.room(n, 12), m.room(n, 32)
		certainLen, contestedLen := m.room(1, 4), m.room(1, 4)
		m.must(m.module.Xpodrank_odds(pods, int32(n), o, int32(min(k, n)), list, int32(n), chances, int32(n), scratch, int32(n),
			certainLen, contestedLen))
		certain, contested = int(m.u32(certainLen)), int(m.u32(contestedLen))
		m.out(list, order[:n])
		m.out(chances, odds[:n])
	})
	return certain, contested, err
}

func (Engine) Spread(records, others []core.Pod, options core.Options, counts, order []uint32) error {
	return run(func(m *machine) {
		pods, elsewhere, o := m.records(records), m.records(others), m.options(options)
		m.must(m.module.Xpodrank_spread(pods, length(records), elsewhere, length(others), o,
			m.room(len(counts), 4), length(counts), m.room(len(records), 4), length(records)))
		memory := m.at(pods)
		for i := range records {
			records[i].Rank = binary.LittleEndian.Uint32(memory[i*recordSize+rank:])
		}
	})
}

func (Engine) NodeWeights(neighbours []core.Neighbour, weights []uint64) error {
	return run(func(m *machine) {
		list, weighed := m.in(neighbours), m.in(weights)
		m.must(m.module.Xpodrank_node_weights(list, length(neighbours), weighed, length(weights)))
		m.out(list, neighbours)
		m.out(weighed, weights)
	})
}

func (Engine) EmptyNodes(records []core.Pod, options core.Options, weights []uint64, domains, counts []uint32) error {
	return run(func(m *machine) {
		pods, o, weighed, levels := m.records(records), m.options(options), m.in(weights), m.in(domains)
		m.must(m.module.Xpodrank_empty_nodes(pods, length(records), o, weighed, length(weights), levels, length(domains),
			m.room(len(counts), 4), length(counts), m.room(len(records), 32), length(records)))
		memory := m.at(pods)
		for i := range records {
			records[i].Tier = binary.LittleEndian.Uint16(memory[i*recordSize+tier:])
		}
	})
}

func (Engine) Steer(records []core.Pod, options core.Options, prices []uint8, costs []int32, blocked []core.Blocked) (
	steered core.Steered, err error,
) {
	err = run(func(m *machine) {
		pods, o, priced := m.records(records), m.options(options), m.in(prices)
		list, scratch := m.room(len(records), 4), m.room(len(records), 16)
		pairs, result := m.room(len(blocked), 12), m.room(1, 16)
		status := m.module.Xpodrank_steer(pods, length(records), o, priced, length(prices),
			list, length(records), scratch, length(records), pairs, length(blocked), result)
		m.out(result, &steered)
		m.must(status)
		m.out(list, costs[:len(records)])
		m.out(pairs, blocked[:min(len(blocked), int(steered.Blocked))])
	})
	return steered, err
}

func (Engine) Explain(a, b *core.Pod, options core.Options, rows *[core.RowMax]core.Row) (count int, err error) {
	err = run(func(m *machine) {
		pods, o := m.records([]core.Pod{*a, *b}), m.options(options)
		list, rowsLen := m.room(core.RowMax, 24), m.room(1, 4)
		m.must(m.module.Xpodrank_explain(pods, pods+recordSize, o, list, core.RowMax, rowsLen))
		count = int(m.u32(rowsLen))
		m.out(list, rows[:count])
	})
	return count, err
}

func (Engine) Upstream(a, b *core.Pod, options core.Options) (before int, rule uint8, err error) {
	err = run(func(m *machine) {
		pods, o := m.records([]core.Pod{*a, *b}), m.options(options)
		ordering, number := m.room(1, 4), m.room(1, 1)
		m.must(m.module.Xpodrank_upstream(pods, pods+recordSize, o, ordering, number))
		before, rule = int(int32(m.u32(ordering))), m.at(number)[0]
	})
	return before, rule, err
}

func (Engine) Plan(state core.PlanState) (creations, deletions uint32, err error) {
	err = run(func(m *machine) {
		one, create, del := m.in(&state), m.room(1, 4), m.room(1, 4)
		m.must(m.module.Xpodrank_plan(one, create, del))
		creations, deletions = m.u32(create), m.u32(del)
	})
	return creations, deletions, err
}

func (Engine) BeginSlowStart(count uint32) (start core.SlowStart, err error) {
	err = change(&start, func(m *machine, at int32) int32 { return m.module.Xpodrank_slow_start_begin(int32(count), at) })
	return start, err
}

func (Engine) ReportSlowStart(start *core.SlowStart, failures uint32) error {
	return change(start, func(m *machine, at int32) int32 { return m.module.Xpodrank_slow_start_report(at, int32(failures)) })
}

func (Engine) ExpectCreations(e *core.Expectations, count uint32, now int64) error {
	return change(e, func(m *machine, at int32) int32 {
		return m.module.Xpodrank_expectations_expect_creations(at, int32(count), now)
	})
}

func (Engine) ExpectDeletions(e *core.Expectations, room, keys []core.PodKey, now int64) error {
	return change(e, func(m *machine, at int32) int32 {
		places, list := m.in(room), m.in(keys)
		status := m.module.Xpodrank_expectations_expect_deletions(at, places, length(room), list, length(keys), now)
		m.out(places, room)
		return status
	})
}

func (Engine) CreationsObserved(e *core.Expectations, count uint32) error {
	return change(e, func(m *machine, at int32) int32 {
		return m.module.Xpodrank_expectations_creations_observed(at, int32(count))
	})
}

func (Engine) DeletionObserved(e *core.Expectations, room []core.PodKey, key core.PodKey) (counted bool, err error) {
	err = change(e, func(m *machine, at int32) int32 {
		places, one, yes := m.in(room), m.in(&key), m.room(1, 4)
		status := m.module.Xpodrank_expectations_deletion_observed(at, places, length(room), one, yes)
		counted = m.u32(yes) != 0
		m.out(places, room)
		return status
	})
	return counted, err
}

func (Engine) Satisfied(e *core.Expectations, now int64) (satisfied bool, err error) {
	err = run(func(m *machine) {
		yes := m.room(1, 4)
		m.must(m.module.Xpodrank_expectations_satisfied(m.in(e), now, yes))
		satisfied = m.u32(yes) != 0
	})
	return satisfied, err
}

func (Engine) Availability(records []core.Pod, minReadySeconds uint32, now int64) (ready, available int, lookAgain uint64, err error) {
	err = run(func(m *machine) {
		pods, readyLen, availableLen, nanoseconds := m.records(records), m.room(1, 4), m.room(1, 4), m.room(1, 8)
		m.must(m.module.Xpodrank_availability(
			pods, length(records), int32(minReadySeconds), now, readyLen, availableLen, nanoseconds))
		ready, available, lookAgain = int(m.u32(readyLen)), int(m.u32(availableLen)), m.u64(nanoseconds)
	})
	return ready, available, lookAgain, err
}

// change makes one call that changes a value.
func change[T any](value *T, call func(m *machine, at int32) (status int32)) error {
	return run(func(m *machine) {
		at := m.in(value)
		m.must(call(m, at))
		m.out(at, value)
	})
}

// length is a list's, which [machine.room] has bounded.
func length[T any](list []T) int32 { return int32(uint32(len(list))) }
