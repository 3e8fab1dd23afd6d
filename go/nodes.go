package podrank

import (
	"hash/maphash"
	"math/bits"
)

// nodes numbers node names and counts pods by them; those without a name share a number. It is a hash table that is
// emptied at each decision, which of Go's maps would take longer than all else.
type nodes struct {
	seed  maphash.Seed
	slots []slot
	// By number.
	names  []string
	counts []uint32
}

type slot struct {
	hash uint32
	// The number plus 1; 0 of a free slot.
	number uint32
}

// reset empties the table and makes room for this many names.
func (n *nodes) reset(names int) {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = room(n.slots, 2<<bits.Len(uint(names)))
	clear(n.slots)
	n.names, n.counts = n.names[:0], n.counts[:0]
}

// forget lets go of the names, which hold memory of pods; the counts stay.
func (n *nodes) forget() {
	clear(n.names)
	n.names = n.names[:0]
}

// find returns the slot where the name is or would be.
func (n *nodes) find(name string) (at *slot, hash uint32) {
	hash = uint32(maphash.String(n.seed, name))
	for i := int(hash); ; i++ {
		at = &n.slots[i&(len(n.slots)-1)]
		if at.number == 0 || at.hash == hash && n.names[at.number-1] == name {
			return at, hash
		}
	}
}

// number is that of a name, a new one if it is new.
func (n *nodes) number(name string) uint32 {
	at, hash := n.find(name)
	if at.number == 0 {
		n.names = append(n.names, name)
		n.counts = append(n.counts, 0)
		*at = slot{hash, uint32(len(n.names))}
	}
	return at.number - 1
}

// count counts a pod, if its node has a number: on others it makes no difference to any rank.
func (n *nodes) count(name string) {
	if at, _ := n.find(name); at.number != 0 {
		n.counts[at.number-1]++
	}
}
