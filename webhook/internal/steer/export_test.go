package steer

// Held is how many pods of each namespace there is room taken for.
func (l *Limits) Held() map[string]int { return l.held }
