package steer

import (
	"sync"

	"golang.org/x/time/rate"
)

// burst is how many seconds' worth of decisions a namespace may have at once, after it had none for as long.
const burst = 5

// Rates limits decisions, for each namespace on its own. Each costs requests to the API server, and whoever reaches this program
// could ask for them.
type Rates struct {
	perSecond int

	mu  sync.Mutex
	all map[string]*rate.Limiter
}

// NewRates allows so many decisions a second for each namespace.
func NewRates(perSecond int) *Rates {
	return &Rates{perSecond: perSecond, all: map[string]*rate.Limiter{}}
}

// allow reports whether there may be another decision for a namespace. It keeps something for each namespace that has asked, so
// only those that have policies should.
func (r *Rates) allow(namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter, ok := r.all[namespace]
	if !ok {
		limiter = rate.NewLimiter(rate.Limit(r.perSecond), burst*r.perSecond)
		r.all[namespace] = limiter
	}
	return limiter.Allow()
}

// most is how many pods may wait for predictions. Each takes several kilobytes.
const most = 10_000

// held counts pods that are in memory.
type held struct {
	mu    sync.Mutex
	count int
}

// add changes the count, and reports whether it may be that high. If it may not, it stays as it is.
func (h *held) add(change int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if change > 0 && h.count+change > most {
		return false
	}
	h.count += change
	return true
}
