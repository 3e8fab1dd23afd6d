package translated

import (
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/translated/wasm"
)

func (Engine) StatefulSetOrdinal(set, pod string) (ordinal int32, err error) {
	err = run(func(m *machine) int32 {
		first, second, number := m.bytes(set), m.bytes(pod), m.room(1, 4)
		status := m.module.Xpodrank_stateful_set_ordinal(first, int32(len(set)), second, int32(len(pod)), number)
		ordinal = int32(m.u32(number))
		return status
	})
	return ordinal, err
}

func (Engine) NextStatefulSet(set *core.StatefulSet, members []core.StatefulSetPod, outcomes []core.StatefulSetOutcome) error {
	var step core.StatefulSetStep
	return run(func(m *machine) int32 {
		one, list, result := m.in(set), m.in(members), m.in(outcomes)
		status := m.module.Xpodrank_stateful_set_next(one, list, length(members), result, length(outcomes), m.in(&step))
		if status == ok {
			m.out(result, outcomes)
		}
		return status
	})
}

func (Engine) JobIndex(text string) (index int64, err error) {
	err = run(func(m *machine) int32 {
		chars, number := m.bytes(text), m.room(1, 8)
		status := m.module.Xpodrank_job_index_parse(chars, int32(len(text)), number)
		index = int64(m.u64(number))
		return status
	})
	return index, err
}

func (Engine) NextJob(job *core.Job, now int64, records []core.Pod, indexes []int64, order []uint32, outcomes []core.Outcome) (
	step core.JobStep, err error,
) {
	err = run(func(m *machine) int32 {
		one, pods, list := m.in(job), m.records(records), m.in(indexes)
		room, result, next := m.room(len(order), 4), m.in(outcomes), m.in(&step)
		status := m.module.Xpodrank_job_next(one, now, pods, length(records),
			list, length(indexes), room, length(order), result, length(outcomes), next)
		if status == ok {
			m.out(result, outcomes)
			m.out(next, &step)
		}
		return status
	})
	return step, err
}

func (Engine) NextDaemonSet(set *core.DaemonSet, nodes []uint8, pods []core.DaemonSetPod, order []uint32, outcomes []core.Outcome) (
	step core.DaemonSetStep, err error,
) {
	err = run(func(m *machine) int32 {
		one, flags, list := m.in(set), m.bytes(string(nodes)), m.in(pods)
		room, result, next := m.room(len(order), 4), m.in(outcomes), m.in(&step)
		status := m.module.Xpodrank_daemon_set_next(one, flags, length(nodes), list, length(pods),
			room, length(order), result, length(outcomes), next)
		if status == ok {
			m.out(result, outcomes)
			m.out(next, &step)
		}
		return status
	})
	return step, err
}

func (Engine) MemberReasonName(reason uint8) string { return memberReasonNames()[reason] }
func (Engine) JobReasonName(reason uint8) string    { return jobReasonNames()[reason] }
func (Engine) DaemonReasonName(reason uint8) string { return daemonReasonNames()[reason] }

var (
	memberReasonNames = names((*wasm.Module).Xpodrank_stateful_set_reason_str)
	jobReasonNames    = names((*wasm.Module).Xpodrank_job_reason_str)
	daemonReasonNames = names((*wasm.Module).Xpodrank_daemon_set_reason_str)
)
