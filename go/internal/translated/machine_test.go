package translated

import (
	"errors"
	"strings"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
)

func some(n int) []core.Pod {
	records := make([]core.Pod, n)
	for i := range records {
		records[i] = core.Pod{
			UID: [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}, Phase: core.PhaseRunning, Flags: core.PodAssigned,
			Restarts: uint32(i * 7 % 11), ReadyTime: core.TimeUnset, CreationTime: core.TimeUnset,
		}
	}
	return records
}

func selected(t *testing.T, records []core.Pod, k int) []uint32 {
	t.Helper()
	victims := make([]uint32, k)
	n, err := Engine{}.Select(records, core.Options{}, victims, nil)
	if err != nil || n != min(k, len(records)) {
		t.Fatalf("%d of %d, %v", n, k, err)
	}
	return victims[:n]
}

// A trap is an error, and the machine that trapped decides nothing more.
func TestATrapIsAnError(t *testing.T) {
	var trapped *machine
	err := run(func(m *machine) {
		trapped = m
		*m.memory.Slice() = nil
		m.must(m.module.Xpodrank_slow_start_begin(3, 8))
	})
	if err == nil || !strings.Contains(err.Error(), "report it") {
		t.Errorf("%v", err)
	}
	for range 100 {
		if m := machines.Get().(*machine); m == trapped {
			t.Fatal("the machine that trapped is used again")
		}
	}
	selected(t, some(9), 3)
}

// What does not fit is an error, too, before anything is allocated.
func TestTooMuchIsAnError(t *testing.T) {
	err := run(func(m *machine) { m.room(1<<30, 8) })
	if !errors.Is(err, errTooLarge) {
		t.Errorf("%v", err)
	}
}

// A status of the core is an error with its text.
func TestAStatusIsAnError(t *testing.T) {
	records := some(2)
	records[1].Phase = 9
	_, err := Engine{}.Select(records, core.Options{}, make([]uint32, 1), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "podrank: ") || !strings.Contains(err.Error(), "phase") {
		t.Errorf("%v", err)
	}
}

// Nothing of a caller stays behind in the buffers, and the next call finds them as the first did.
func TestBuffersAreClearedAndReused(t *testing.T) {
	m := machines.New().(*machine)
	records := some(5000)
	m.records(records)
	m.free()
	if m.next != m.base {
		t.Errorf("%d, %d", m.next, m.base)
	}
	for address, b := range (*m.memory.Slice())[m.base:] {
		if b != 0 {
			t.Fatalf("the byte %d is %d", address, b)
		}
	}
	size := len(*m.memory.Slice())
	for range 10 {
		m.records(records)
		m.free()
	}
	if got := len(*m.memory.Slice()); got != size {
		t.Errorf("it grew from %d to %d", size, got)
	}
}

// A large machine is not kept.
func TestMemoryIsBounded(t *testing.T) {
	m := machines.New().(*machine)
	m.room(keptMemory, 1)
	if len(*m.memory.Slice()) <= keptMemory {
		t.Fatal("it did not grow")
	}
	m.free()
	for range 100 {
		if machines.Get().(*machine) == m {
			t.Fatal("it is kept")
		}
	}
}
