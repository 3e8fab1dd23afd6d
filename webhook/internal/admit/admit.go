// Package admit answers admission requests. It allows every one.
package admit

import (
	"context"
	"sync"
	"time"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
)

// Path is where requests come in.
const Path = "/scale-down"

// afterwards is how long what follows an answer may take.
const afterwards = 30 * time.Second

// A Handler answers requests.
type Handler struct {
	Steerer  *steer.Steerer
	Reporter *report.Reporter
	// Namespace is that of this program, about which only its probe asks.
	Namespace string
	// Deadline is how long a request may wait.
	Deadline time.Duration

	// What follows answers, of few requests of each namespace. Observed scale-downs take longer, so they have a semaphore of their own.
	after         sync.WaitGroup
	few, observed bounded.Semaphores
}

// New returns a handler for a program in this namespace.
func New(steerer *steer.Steerer, reporter *report.Reporter, namespace string, deadline time.Duration) *Handler {
	return &Handler{Steerer: steerer, Reporter: reporter, Namespace: namespace, Deadline: deadline,
		few: bounded.Semaphores{Most: bounded.Reports}, observed: bounded.Semaphores{Most: bounded.Reports}}
}

// Handle steers, and reports afterwards. It returns what the audit log should say.
func (h *Handler) Handle(ctx context.Context, request steer.Request) map[string]string {
	began := time.Now()
	// The context ends if the API server no longer waits.
	steering, stop := context.WithTimeout(ctx, h.Deadline)
	o := h.Steerer.Steer(steering, request)
	stop()
	report.Answered(o, time.Since(began))
	audit := report.Audit(o)
	o.Forget()
	few := &h.few
	if o.Result == steer.Observed {
		few = &h.observed
	}
	if !few.Hold(o.Key.Namespace, 1) {
		h.Reporter.LogOnly(o)
		if o.Result == steer.Observed {
			o.Release()
		}
		return audit
	}
	h.after.Go(func() {
		defer few.Release(o.Key.Namespace, 1)
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
		defer stop()
		if o.Result == steer.Observed {
			h.Reporter.Observed(ctx, o, h.Steerer.Observe(ctx, o))
			return
		}
		h.Reporter.Outcome(ctx, o)
	})
	return audit
}

// Wait returns when all that follows earlier answers is done.
func (h *Handler) Wait() { h.after.Wait() }
