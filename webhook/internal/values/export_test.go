package values

import "time"

// SetClock sets the clock.
func (r *Reader) SetClock(now func() time.Time) { r.now = now }
