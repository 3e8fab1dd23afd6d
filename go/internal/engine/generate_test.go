package engine

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
)

// A source is the bytes that a case is made of. After the last one there are zeros.
type source []byte

func (s *source) bytes(n int) []byte {
	b := make([]byte, n)
	copy(b, *s)
	*s = (*s)[min(n, len(*s)):]
	return b
}

func (s *source) byte() byte     { return s.bytes(1)[0] }
func (s *source) u32() uint32    { return binary.LittleEndian.Uint32(s.bytes(4)) }
func (s *source) u64() uint64    { return binary.LittleEndian.Uint64(s.bytes(8)) }
func (s *source) pick(n int) int { return int(s.byte()) % n }

// random is a source of random bytes, enough for any case.
func random(r *rand.Rand) source {
	data := make(source, 8192)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// A question is everything that the methods of an engine are asked about.
type question struct {
	options      core.Options
	pods, others []core.Pod
	k            int
	neighbours   []core.Neighbour
	weights      []uint64
	domains      []uint32
	prices       []uint8
}

// nodes is how many nodes most cases have.
const nodes = 4

// newQuestion makes a question of few pods, or of more than what any part of an engine calls short.
func newQuestion(s *source) *question {
	q := &question{options: core.Options{Flags: uint32(s.pick(16))}}
	now := []int64{
		1_773_144_000_000_000_000, 0, -5, core.TimeUnset + 1, 1<<63 - 1, core.TimeUnset, int64(s.u64()),
	}[s.pick(7)]
	if now == core.TimeUnset {
		q.options.Flags &^= core.OptionsNow
	}
	if q.options.Flags&core.OptionsNow != 0 {
		q.options.Now = now
	}
	n := s.pick(33)
	if s.pick(16) == 0 {
		n += 60
	}
	q.k = s.pick(n + 3)
	likeness, isRollout := s.pick(4), s.pick(4) == 0
	for range n {
		switch {
		case len(q.pods) > 0 && isRollout:
			q.pods = append(q.pods, sibling(s, q.pods[0]))
		case len(q.pods) > 0 && s.pick(4) < likeness:
			q.pods = append(q.pods, like(s, now, q.pods[s.pick(len(q.pods))]))
		default:
			q.pods = append(q.pods, record(s, now))
		}
	}
	for range s.pick(5) {
		q.others = append(q.others, record(s, now))
	}
	for range s.pick(20) {
		q.neighbours = append(q.neighbours, core.Neighbour{Set: uint32(s.pick(3)), Node: uint32(s.pick(nodes))})
	}
	// No node is so heavy that the neighbours could be too much for 64 bits.
	q.weights = []uint64{0, 0, uint64(s.pick(3)) << 32, 0}
	switch s.pick(4) {
	case 0:
		q.weights[0], q.weights[3] = s.u64()>>1, 1<<63
	case 1:
		const most = math.MaxUint64 - 3<<32
		q.weights[0], q.weights[1], q.weights[3] = most, most-uint64(s.pick(3)), most-1
	}
	q.domains = []uint32{0, 1, 0, 1, 2, 3, 4, 5}[:nodes*s.pick(3)]
	if s.pick(3) > 0 {
		q.prices = make([]uint8, n)
		for i := range q.prices {
			q.prices[i] = []uint8{0, 1, 2, 2, 1, 9, 254, core.SteerPriceFixed, s.byte()}[s.pick(9)]
		}
	}
	if s.pick(16) == 0 {
		q.loseNodes(s.pick(2))
	}
	return q
}

// loseNodes leaves no node or one.
func (q *question) loseNodes(left int) {
	q.weights, q.domains = q.weights[:left], q.domains[:left*len(q.domains)/nodes]
	for _, list := range [][]core.Pod{q.pods, q.others} {
		for i := range list {
			list[i].Node = 0
			if left == 0 {
				list[i].Flags &^= core.PodAssigned
			}
		}
	}
	for i := range q.neighbours {
		q.neighbours[i].Node = 0
	}
	if left == 0 {
		q.neighbours = nil
	}
}

// record is any record.
func record(s *source, now int64) (pod core.Pod) {
	pod.Flags, pod.Phase = uint8(s.pick(8)), uint8(s.pick(3))
	if s.pick(8) == 0 {
		copy(pod.UID[:], s.bytes(16))
	} else {
		pod.UID[s.pick(16)] = s.byte() & 3
	}
	pod.ReadyTime, pod.CreationTime = instant(s, now), instant(s, now)
	pod.DeletionCost, pod.Tier = int32(number(s, 1<<31)), uint16(number(s, 1<<16-1))
	pod.Rank, pod.Restarts, pod.SidecarRestarts = number(s, 1<<20), number(s, 1<<16-1), number(s, 1<<12-1)
	pod.Node = uint32(s.pick(nodes))
	return pod
}

// instant is often near the end of a bucket, of one of Kubernetes', or of the range, or near now.
func instant(s *source, now int64) int64 {
	kind, near := s.pick(4), int64(s.pick(8))
	switch kind {
	case 0:
		return []int64{
			core.TimeUnset, core.TimeUnset + 1, 0, 1<<63 - 1, now, now - 1, now + 1, now - 1<<40,
		}[near]
	case 1:
		return int64(s.u64())
	case 2:
		e := s.pick(63)
		return now - 1<<e + int64(45)<<max(e-54, 0)>>max(54-e, 0) + near - 4
	}
	return now - 1<<s.pick(63) + near - 4
}

// number is one of few, one near the limit of what a head holds, one near the end of a range, or any.
func number(s *source, limit uint32) uint32 {
	b := s.byte()
	switch b % 8 {
	case 0:
		return limit - 1 + uint32(b>>3)%3
	case 1:
		return s.u32()
	case 2:
		return []uint32{1<<32 - 1, 1 << 31, 1<<31 - 1, 1 << 20}[b>>3&3]
	}
	return uint32(b >> 3 & 3)
}

// like is a pod that differs from another one in one field, in one bit, in the UID and by a nanosecond, or in nothing.
func like(s *source, now int64, pod core.Pod) core.Pod {
	other := reflect.ValueOf(record(s, now))
	fields := reflect.ValueOf(&pod).Elem()
	switch s.pick(8) {
	case 0:
		return pod
	case 1:
		pod.UID = record(s, now).UID
		pod.ReadyTime += int64(s.pick(3)) - 1
		return pod
	case 2, 3:
		return flipped(s, pod)
	}
	// One field, whichever there are. The blank one cannot be set.
	if field := s.pick(fields.NumField()); fields.Field(field).CanSet() {
		fields.Field(field).Set(other.Field(field))
	}
	return pod
}

// sibling is a pod of the same rollout as another one. Kubernetes' comparison contradicts itself about many of these:
// their times are close to each other, and some have restarted.
func sibling(s *source, pod core.Pod) core.Pod {
	pod.UID[s.pick(16)] = s.byte()
	pod.ReadyTime += int64(s.pick(4))
	pod.CreationTime += int64(s.pick(2))
	pod.Restarts += uint32(s.pick(4) / 3)
	return pod
}

// flipped is a pod with one bit of a field that has any.
func flipped(s *source, pod core.Pod) core.Pod {
	bit := s.pick(64)
	switch s.pick(8) {
	case 0:
		pod.ReadyTime ^= 1 << bit
	case 1:
		pod.CreationTime ^= 1 << bit
	case 2:
		pod.DeletionCost ^= 1 << (bit % 32)
	case 3:
		pod.Rank ^= 1 << (bit % 32)
	case 4:
		pod.Restarts ^= 1 << (bit % 32)
	case 5:
		pod.SidecarRestarts ^= 1 << (bit % 32)
	case 6:
		pod.Tier ^= 1 << (bit % 16)
	case 7:
		pod.UID[s.pick(16)] ^= 1 << (bit % 8)
	}
	return pod
}

// Two pods of one question differ in nothing but this field, for each field of a record, and each field of the
// options and of a neighbour has several values: otherwise a new field would be compared at 0 alone.
func TestEveryFieldVaries(t *testing.T) {
	r := rand.New(rand.NewPCG(82, 0))
	alone, values := map[string]int{}, map[string]map[any]bool{}
	note := func(value reflect.Value) {
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if field.Name == "_" {
				continue
			}
			name := value.Type().Name() + "." + field.Name
			if values[name] == nil {
				values[name] = map[any]bool{}
			}
			values[name][value.Field(i).Interface()] = true
		}
	}
	for range 500 {
		s := random(r)
		q := newQuestion(&s)
		note(reflect.ValueOf(q.options))
		for i, pod := range q.pods {
			note(reflect.ValueOf(pod))
			for _, other := range q.pods[:i] {
				if names := differences(reflect.ValueOf(pod), reflect.ValueOf(other)); len(names) == 1 {
					alone[names[0]]++
				}
			}
		}
		for _, neighbour := range q.neighbours {
			note(reflect.ValueOf(neighbour))
		}
	}
	for name, of := range values {
		if len(of) < 3 {
			t.Errorf("%s has %d values", name, len(of))
		}
	}
	pod := reflect.TypeFor[core.Pod]()
	for i := range pod.NumField() {
		if name := pod.Field(i).Name; name != "_" && alone[name] < 10 {
			t.Errorf("%d pairs of pods differ in %s alone", alone[name], name)
		}
	}
}

// differences are the names of the fields in which two values differ.
func differences(a, b reflect.Value) (names []string) {
	for i := range a.NumField() {
		if !a.Field(i).Equal(b.Field(i)) {
			names = append(names, a.Type().Field(i).Name)
		}
	}
	return names
}
