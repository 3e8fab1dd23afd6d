package podrank

import (
	"math"
	"sync"

	"github.com/podrank/podrank/go/internal/cpodrank"
)

// CreateInBatches calls create up to count times, as Kubernetes' slowStartBatch: once, then twice, then four times and so on, the
// calls of a batch at once in goroutines of their own, until one fails. When all fail for one reason, few requests are wasted on it. It returns how many
// succeeded, and one of the errors.
//
// The rest nobody will ever see: hand their number to [Expectations.CreationsObserved]. A refusal because the namespace is being
// terminated (corev1.NamespaceTerminatingCause) is no failure to report: nothing can be created there any more.
func CreateInBatches(count int, create func() error) (created int, err error) {
	start, err := NewSlowStart(count)
	if err != nil {
		return 0, err
	}
	count = start.Missing()
	for start.Batch() > 0 {
		failed := make(chan error, start.Batch())
		var batch sync.WaitGroup
		for range start.Batch() {
			batch.Add(1)
			go func() {
				defer batch.Done()
				if err := create(); err != nil {
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

// A SlowStart is [CreateInBatches] step by step, for those who make the calls in another way: create a [SlowStart.Batch], then
// [SlowStart.Report] its failures, until the batch is 0. It is not for use by several goroutines at once.
type SlowStart struct {
	state cpodrank.SlowStart
}

// NewSlowStart starts to create count pods, none if it is negative.
func NewSlowStart(count int) (*SlowStart, error) {
	state, err := cpodrank.BeginSlowStart(number(count))
	if err != nil {
		return nil, err
	}
	return &SlowStart{state}, nil
}

// Batch is how many pods to create next, at once if you like; 0 at the end.
func (s *SlowStart) Batch() int {
	return int(s.state.Batch)
}

// Report says how many pods of the batch could not be created; more than the batch has count as all of it. A batch with a
// failure is the last.
func (s *SlowStart) Report(failures int) {
	// NewSlowStart has said if there is no library.
	_ = cpodrank.ReportSlowStart(&s.state, number(failures))
}

// Missing is how many pods have not been created: failed or not tried, so far.
func (s *SlowStart) Missing() int {
	return int(s.state.Missing)
}

// number is the nearest that C has.
func number(n int) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32))
}
