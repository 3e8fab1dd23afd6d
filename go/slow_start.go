package podrank

import (
	"context"
	"sync"
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
// nil: the set will be deleted, too, and the creation stays pending.
func CreateInBatches(ctx context.Context, count int, create func(context.Context) error) (created int, err error) {
	switch {
	case ctx == nil:
		return 0, errNil("ctx")
	case create == nil:
		return 0, errNil("create")
	}
	for batch := 1; created < count && err == nil; batch *= 2 {
		if err := ctx.Err(); err != nil {
			return created, err
		}
		var succeeded int
		succeeded, err = createBatch(ctx, min(batch, count-created), create)
		created += succeeded
	}
	return created, err
}

// createBatch makes all calls of a batch. It returns how many succeeded, and one of the errors.
func createBatch(ctx context.Context, size int, create func(context.Context) error) (succeeded int, err error) {
	failed := make(chan error, size)
	var calls sync.WaitGroup
	for range size {
		calls.Add(1)
		go func() {
			defer calls.Done()
			if err := create(ctx); err != nil {
				failed <- err
			}
		}()
	}
	calls.Wait()
	succeeded = size - len(failed)
	if len(failed) > 0 {
		err = <-failed
	}
	return succeeded, err
}
