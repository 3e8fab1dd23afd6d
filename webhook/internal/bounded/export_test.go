package bounded

// Len is how many keys are in use.
func (s *Semaphores) Len() int { return len(s.all) }
