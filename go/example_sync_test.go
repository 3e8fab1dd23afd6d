//go:build cgo

package podrank_test

import (
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	podrank "github.com/podrank/podrank/go"
	corev1 "k8s.io/api/core/v1"
)

// cluster is where the pods are: in a controller, the API server to write to and a cache, which is behind it, to read.
type cluster struct {
	pods    []*corev1.Pod
	creates atomic.Int32
	fails   int32
}

func (c *cluster) create() error {
	if c.creates.Add(1) == c.fails {
		return errors.New("the quota is used up")
	}
	return nil
}

// syncSet brings a set to the number that is wanted: what a controller does when something of the set has changed.
func syncSet(wanted int, expectations *podrank.Expectations, c *cluster) error {
	// First this, then the list: what is seen in between is in the list.
	satisfied := expectations.Satisfied()
	active := c.pods
	creations, deletions, err := podrank.Plan(podrank.State{Wanted: wanted, Active: len(active), Satisfied: satisfied})
	switch {
	case err != nil:
		return err
	case creations > 0:
		// First expected, then asked for: the event may come before the answer.
		if err := expectations.ExpectCreations(creations); err != nil {
			return err
		}
		created, err := podrank.CreateInBatches(creations, c.create)
		// What was not created, nobody will see.
		expectations.CreationsObserved(creations - created)
		return err
	case deletions > 0:
		victims, err := podrank.PodsToDelete(active, active, deletions, podrank.Now(now))
		if err != nil {
			return err
		}
		if err := expectations.ExpectDeletions(victims); err != nil {
			return err
		}
		for _, pod := range victims {
			// One that cannot be deleted: expectations.DeletionObserved(pod).
			fmt.Println("delete", pod.Name)
		}
	}
	return nil
}

// A controller of its own: what kube-controller-manager does for a ReplicaSet, but for owners and status.
func Example_sync() {
	expectations := &podrank.Expectations{}
	// The third creation fails: of the second batch, of two. The third batch is not tried.
	c := &cluster{fails: 3}
	fmt.Println(syncSet(5, expectations, c))
	fmt.Println(c.creates.Load(), "tried,", expectations.Creations(), "yet to be seen")

	// Until both are seen, nothing happens.
	if err := syncSet(5, expectations, c); err != nil {
		log.Fatal(err)
	}
	for i, restarts := range []int32{3, 0} {
		c.pods = append(c.pods, pod(fmt.Sprint("web-", i), i, 0, restarts))
		expectations.CreationsObserved(1)
	}
	fmt.Println("satisfied:", expectations.Satisfied())

	// One is wanted: the one with restarts goes.
	if err := syncSet(1, expectations, c); err != nil {
		log.Fatal(err)
	}
	ready, available, lookAgain, err := podrank.Availability(c.pods, 3660, now)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ready, "ready,", available, "available, look again in", lookAgain.Round(time.Second))
	// Output:
	// the quota is used up
	// 3 tried, 2 yet to be seen
	// satisfied: true
	// delete web-0
	// 2 ready, 0 available, look again in 1m0s
}
