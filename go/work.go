package podrank

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	corev1 "k8s.io/api/core/v1"
)

// A work is the memory of one decision, which later ones use again. It holds no pods between them.
type work struct {
	settings *settings
	// With the time, which load asks for once.
	options core.Options
	records []core.Pod
	nodes   nodes
	order   []uint32
	scratch []core.Scratch
	scores  []uint64
	victims []*corev1.Pod
	// Only so that the compiler does not drop what touch does.
	touched int
}

// works are idle. The garbage collector takes those that nobody uses.
var works = sync.Pool{New: func() any { return new(work) }}

// begin takes memory for one decision of a function that can apply these options.
func begin(function string, apply set, options []Option) *work {
	settings := newSettings(function, apply, options)
	return take(&settings)
}

func take(settings *settings) *work {
	w := works.Get().(*work)
	w.settings = settings
	return w
}

func (w *work) free() {
	w.settings = nil
	clear(w.victims)
	w.victims = w.victims[:0]
	works.Put(w)
}

// choose returns the indices of the victims: none, and no error, if diff is not positive.
func (w *work) choose(active, related []*corev1.Pod, diff int) ([]uint32, error) {
	diff = w.settings.capped(diff)
	if diff == 0 || w.settings.err != nil {
		return nil, w.settings.err
	}
	if err := w.load("active", active, related); err != nil {
		return nil, err
	}
	k := min(diff, len(active))
	if err := w.first(k, k, active, related); err != nil {
		return nil, err
	}
	return w.order[:k], nil
}

// first puts the first of the loaded pods, if k go, at the start of w.order: as many as are listed.
func (w *work) first(k, listed int, active, related []*corev1.Pod) error {
	if w.settings.kubernetes {
		_, _, err := w.settle(k)
		return err
	}
	if err := w.emptyNodes(active); err != nil {
		return err
	}
	if err := w.spread(active, related); err != nil {
		return err
	}
	w.order = room(w.order, listed)
	chosen, err := engine.Current.Select(w.records, w.options, w.order, &w.scratch)
	if err == nil && chosen != listed {
		// The rest of the order would be that of an earlier decision.
		err = fmt.Errorf("podrank: the core chose %d of %d pods", chosen, listed)
	}
	return err
}

// settle puts all of the loaded pods into w.order.
func (w *work) settle(k int) (certain, possible int, err error) {
	w.order = room(w.order, len(w.records))
	w.scores = room(w.scores, len(w.records))
	return engine.Current.Predict(w.records, w.options, k, w.order, w.scores)
}

// load makes the records of active, with their ranks among related. list is what errors call active.
func (w *work) load(list string, active, related []*corev1.Pod) error {
	if w.settings.err != nil {
		return w.settings.err
	}
	w.options = w.settings.options()
	w.records = room(w.records, len(active))
	w.nodes.reset(len(active))
	defer w.nodes.forget()
	areUUIDs := true
	for start := 0; start < len(active); start += blockSize {
		pods := active[start:min(start+blockSize, len(active))]
		w.touched += touch(pods)
		for i, pod := range pods {
			record := &w.records[start+i]
			err := errInactive(pod)
			if err == nil {
				areUUIDs = fill(record, pod, w.settings.labels) && areUUIDs
				err = w.settings.setTier(record, pod)
			}
			if err != nil {
				return errPod(list, start+i, pod, err)
			}
			record.Node = w.nodes.number(pod.Spec.NodeName)
		}
	}
	if !areUUIDs {
		numberUIDs(w.records, active)
	}
	return w.rank(list, active, related)
}

// rank gives the records their ranks: those of the caller, or how many of related are on their nodes.
func (w *work) rank(list string, active, related []*corev1.Pod) error {
	if of := w.settings.ranks; of != nil {
		for i, pod := range active {
			rank := int64(of(pod))
			if rank < 0 || rank > math.MaxUint32 {
				return errPod(list, i, pod, errRange("rank", rank, 0, math.MaxUint32))
			}
			w.records[i].Rank = uint32(rank)
		}
		return nil
	}
	for i, pod := range related {
		switch {
		case i < len(active) && pod == active[i]:
			// Often both lists are one.
			w.nodes.counts[w.records[i].Node]++
		case pod == nil:
			return errPod("related", i, pod, ErrNil)
		case IsActive(pod):
			w.nodes.count(pod.Spec.NodeName)
		}
	}
	for i := range w.records {
		w.records[i].Rank = w.nodes.counts[w.records[i].Node]
	}
	return nil
}

// room returns a slice of this length, the same memory if it is long enough.
func room[T any](slice []T, length int) []T {
	return slices.Grow(slice[:0], length)[:length]
}
