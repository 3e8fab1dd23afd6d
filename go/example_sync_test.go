package podrank_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
)

// cluster stands for what has the pods: in a controller, an API server that it writes to, and a cache, which lags behind, that
// it reads from.
type cluster struct {
	pods    []*corev1.Pod
	creates atomic.Int32
	fails   int32
}

func (c *cluster) create(context.Context) error {
	if c.creates.Add(1) == c.fails {
		return errors.New("the quota is used up")
	}
	return nil
}

// syncSet creates or deletes pods until a set has the wanted number: what a controller does when something in the set has
// changed.
func syncSet(ctx context.Context, wanted int, expectations *podrank.Expectations, c *cluster) error {
	// Before listing: an older list could lack changes that have been observed.
	satisfied := expectations.Satisfied()
	active := c.pods
	creations, deletions, err := podrank.Plan(podrank.State{Wanted: wanted, Active: len(active)}, satisfied)
	switch {
	case err != nil:
		return err
	case creations > 0:
		// Before creating, because an event may arrive before the response.
		if err := expectations.ExpectCreations(creations); err != nil {
			return err
		}
		created, err := podrank.CreateInBatches(ctx, creations, c.create)
		// Nobody will observe pods that were not created.
		expectations.CreationsObserved(creations - created)
		return err
	case deletions > 0:
		victims, err := podrank.PodsToDelete(active, active, deletions, podrank.WithNow(now))
		if err != nil {
			return err
		}
		if err := expectations.ExpectDeletions(victims); err != nil {
			return err
		}
		for _, pod := range victims {
			// If a pod cannot be deleted: expectations.DeletionObserved(pod).
			fmt.Println("delete", pod.Name)
		}
	}
	return nil
}

// A controller of your own: what kube-controller-manager does for a ReplicaSet, except for owners and status.
func Example_sync() {
	ctx, expectations := context.Background(), &podrank.Expectations{}
	// The third creation fails, which is in the second batch, so there is no third batch.
	c := &cluster{fails: 3}
	fmt.Println(syncSet(ctx, 5, expectations, c))
	fmt.Println(c.creates.Load(), "tried,", expectations.Creations(), "pending")

	// Until both pods have been observed, nothing happens.
	if err := syncSet(ctx, 5, expectations, c); err != nil {
		log.Fatal(err)
	}
	for i, restarts := range []int32{3, 0} {
		c.pods = append(c.pods, pod(fmt.Sprint("web-", i), i, 0, restarts))
		expectations.CreationsObserved(1)
	}
	fmt.Println("satisfied:", expectations.Satisfied())

	// One pod is wanted: the one with restarts goes.
	if err := syncSet(ctx, 1, expectations, c); err != nil {
		log.Fatal(err)
	}
	ready, available, lookAgain, err := podrank.Availability(c.pods, 3660, now)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ready, "ready,", available, "available, look again in", lookAgain.Round(time.Second))
	// Output:
	// the quota is used up
	// 3 tried, 2 pending
	// satisfied: true
	// delete web-0
	// 2 ready, 0 available, look again in 1m0s
}
