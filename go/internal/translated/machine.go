package translated

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/translated/wasm"
)

// A machine is an instance of the translated module, for one call at a time. Its memory has, from below, the stack, the constants,
// and the buffers of a call.
type machine struct {
	module *wasm.Module
	memory wasm.Memory
	// base is where buffers begin, next where the next one will.
	base, next uint64
}

const (
	pageSize = 1 << 16
	// mostMemory is what 32-bit addresses reach.
	mostMemory = 1 << 32
	// keptMemory is how large a machine may be to be used again: enough for 400,000 pods of which all go.
	keptMemory = 64 << 20
)

// machines are idle. The garbage collector takes those that nobody uses.
var machines = sync.Pool{New: func() any {
	module := wasm.New()
	base := align(uint64(*module.X__heap_base()))
	return &machine{module: module, memory: module.Xmemory(), base: base, next: base}
}}

// A failure ends a call, and is what [run] returns. The machine is none the worse.
type failure struct{ error }

var errTooLarge = errors.New("podrank: the translated core can address 4 GiB, and the lists need more: pass fewer pods")

// run makes one call. A trap, which only a mistake of podrank's can cause, is an error, too, and its machine is not used again.
func run(call func(*machine)) (err error) {
	m := machines.Get().(*machine)
	defer func() {
		switch trap := recover().(type) {
		case nil:
			m.free()
		case failure:
			err = trap.error
			m.free()
		default:
			err = fmt.Errorf("podrank: the translated core failed, please report it: %v", trap)
		}
	}()
	call(m)
	return nil
}

// must ends the call if this is not the status of success.
func (m *machine) must(status int32) {
	switch status {
	case core.StatusOK:
	case core.StatusNoRoom:
		panic(failure{core.ErrNoRoom})
	default:
		panic(failure{errors.New("podrank: " + m.text(m.module.Xpodrank_status_str(status)))})
	}
}

// free forgets the buffers of the call.
func (m *machine) free() {
	memory := *m.memory.Slice()
	clear(memory[m.base:m.next])
	m.next = m.base
	if len(memory) <= keptMemory {
		machines.Put(m)
	}
}

// align rounds up to what any buffer needs.
func align(address uint64) uint64 { return (address + 15) &^ 15 }

// room reserves memory, and returns its address.
func (m *machine) room(count, size int) int32 {
	bytes := uint64(count) * uint64(size)
	if bytes > mostMemory {
		panic(failure{errTooLarge})
	}
	address := m.next
	next := align(address + bytes)
	if have := uint64(len(*m.memory.Slice())); next > have {
		// By half as much again at least, so that few calls grow it.
		pages := (max(next, min(have+have/2, mostMemory)) - have + pageSize - 1) / pageSize
		if m.memory.Grow(int64(pages), mostMemory/pageSize) < 0 {
			panic(failure{errTooLarge})
		}
	}
	m.next = next
	return int32(uint32(address))
}

// at is the memory from an address on.
func (m *machine) at(address int32) []byte {
	return (*m.memory.Slice())[uint32(address):]
}

// in copies a number, an array, a struct of them or a slice into memory.
func (m *machine) in(value any) int32 {
	address := m.room(1, binary.Size(value))
	if _, err := binary.Encode(m.at(address), binary.LittleEndian, value); err != nil {
		panic(err)
	}
	return address
}

// out copies what was written at an address to *value, or to a slice.
func (m *machine) out(address int32, value any) {
	if _, err := binary.Decode(m.at(address), binary.LittleEndian, value); err != nil {
		panic(err)
	}
}

// text is the C string at an address, "" if there is none.
func (m *machine) text(address int32) string {
	if address == 0 {
		return ""
	}
	memory := m.at(address)
	length := 0
	for memory[length] != 0 {
		length++
	}
	return string(memory[:length])
}

func (m *machine) u32(address int32) uint32 { return binary.LittleEndian.Uint32(m.at(address)) }
func (m *machine) u64(address int32) uint64 { return binary.LittleEndian.Uint64(m.at(address)) }

const (
	recordSize  = 64
	optionsSize = 16
	scratchSize = 64
)

// records copies records into memory: by hand, as there are many.
func (m *machine) records(records []core.Pod) int32 {
	address := m.room(len(records), recordSize)
	memory := m.at(address)
	for i := range records {
		r, b := &records[i], memory[i*recordSize:][:recordSize:recordSize]
		copy(b, r.UID[:])
		binary.LittleEndian.PutUint64(b[16:], uint64(r.ReadyTime))
		binary.LittleEndian.PutUint64(b[24:], uint64(r.CreationTime))
		binary.LittleEndian.PutUint32(b[32:], uint32(r.DeletionCost))
		binary.LittleEndian.PutUint32(b[36:], r.Rank)
		binary.LittleEndian.PutUint32(b[40:], r.Restarts)
		binary.LittleEndian.PutUint32(b[44:], r.SidecarRestarts)
		binary.LittleEndian.PutUint32(b[48:], r.Node)
		b[52], b[53] = r.Phase, r.Flags
		binary.LittleEndian.PutUint16(b[54:], r.Tier)
		// What the buffer had before was cleared.
	}
	return address
}

// Where the rank and the tier of a record stand.
const (
	rank = 36
	tier = 54
)

func (m *machine) options(options core.Options) int32 {
	address := m.room(1, optionsSize)
	b := m.at(address)
	binary.LittleEndian.PutUint32(b, optionsSize)
	binary.LittleEndian.PutUint32(b[4:], options.Flags)
	binary.LittleEndian.PutUint64(b[8:], uint64(options.Now))
	return address
}
