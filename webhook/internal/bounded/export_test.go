package bounded

// Len is how many keys are in use.
func (s *Semaphores[K]) Len() int { return len(s.all) }
