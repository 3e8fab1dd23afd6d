package bounded

// Len is how many keys have a lock.
func (m *Locks[K]) Len() int { return len(m.locks.all) }
