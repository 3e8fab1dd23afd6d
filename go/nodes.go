package podrank

import (
	"hash/maphash"
	"math/bits"
)

// nodes numbers node names and counts pods by node. Pods without a node share a number. It is a hash table that is emptied
// before each decision. Emptying one of Go's maps would take longer than everything else.
type nodes struct {
	seed  maphash.Seed
	slots []slot
	// By number.
	names  []string
	counts []uint32
}

type slot struct {
	hash uint32
	// The number plus 1, or 0 if the slot is free.
	number uint32
}

// reset empties the table and gives it a capacity of this many names.
func (n *nodes) reset(names int) {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = room(n.slots, 2<<bits.Len(uint(names)))
	clear(n.slots)
	clear(n.names)
	n.names, n.counts = n.names[:0], n.counts[:0]
}

// forget drops the names, which refer to memory of pods. The counts stay.
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

// number returns the number of a name. A new name gets the next number.
func (n *nodes) number(name string) uint32 {
	at, hash := n.find(name)
	if at.number == 0 {
		n.names = append(n.names, name)
		n.counts = append(n.counts, 0)
		*at = slot{hash, uint32(len(n.names))}
	}
	return at.number - 1
}

// count counts a pod if its node has a number. On any other node, it makes no difference to a rank.
func (n *nodes) count(name string) {
	if at, _ := n.find(name); at.number != 0 {
		n.counts[at.number-1]++
	}
}
