package locks

// Len is how many keys have a lock.
func (m *Map[K]) Len() int { return len(m.locks.all) }
