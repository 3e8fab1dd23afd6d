package podrank

import (
	"context"
	"math"
	"sync"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
)

// CreateInBatches calls create up to count times, in batches of 1, 2, 4 and so on, as Kubernetes' slowStartBatch. The calls
// of a batch run at the same time in separate goroutines, and each gets ctx. A batch with a failure is the last, so few requests
// are wasted if all fail for one reason. CreateInBatches returns how many calls succeeded, and one of the errors.
//
// If ctx is done, no further batch begins. If pods are still missing then and no call has failed, the error is that of ctx.
// CreateInBatches waits for the calls that it has made. If ctx or create is nil, it calls nothing and returns an error that wraps [ErrNil].
//
// Nobody will observe the pods that were not created, so report their number to [Expectations.CreationsObserved]. If a
// creation is rejected because the namespace is being terminated (corev1.NamespaceTerminatingCause), create should return
// nil: the set goes away soon, and the creation stays pending.
func CreateInBatches(ctx context.Context, count int, create func(context.Context) error) (created int, err error) {
	switch {
	case ctx == nil:
		return 0, errNil("ctx")
	case create == nil:
		return 0, errNil("create")
	}
	start, err := NewSlowStart(count)
	if err != nil {
		return 0, err
	}
	count = start.Missing()
	for start.Batch() > 0 {
		if err := ctx.Err(); err != nil {
			return count - start.Missing(), err
		}
		failed := make(chan error, start.Batch())
		var batch sync.WaitGroup
		for range start.Batch() {
			batch.Add(1)
			go func() {
				defer batch.Done()
				if err := create(ctx); err != nil {
					failed <- err
				}
			}()
		}
		batch.Wait()
		start.Report(len(failed))
		if len(failed) > 0 {
			err = <-failed
		}
	}
	return count - start.Missing(), err
}

// A SlowStart is [CreateInBatches] step by step, for controllers that make the calls in another way: create [SlowStart.Batch]
// pods, then [SlowStart.Report] how many failed, and repeat until the batch is 0. Only one goroutine may use a SlowStart at a
// time.
type SlowStart struct {
	state core.SlowStart
}

// NewSlowStart starts creating count pods, or none if count is negative.
func NewSlowStart(count int) (*SlowStart, error) {
	state, err := engine.Current.BeginSlowStart(number(count))
	if err != nil {
		return nil, err
	}
	return &SlowStart{state}, nil
}

// Batch returns how many pods to create next, at the same time if you like, or 0 at the end.
func (s *SlowStart) Batch() int {
	return int(s.state.Batch)
}

// Report tells how many pods of the batch could not be created. A number above the batch counts as the whole batch. A batch
// with a failure is the last.
func (s *SlowStart) Report(failures int) {
	// It does not fail.
	_ = engine.Current.ReportSlowStart(&s.state, number(failures))
}

// Missing returns how many pods have not been created so far, because they failed or were not tried.
func (s *SlowStart) Missing() int {
	return int(s.state.Missing)
}

// number returns the nearest number that C can represent.
func number(n int) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32))
}
