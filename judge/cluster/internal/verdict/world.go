package verdict

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// World is the history of a workload in the audit log of the API server, while runs of podrank and other users worked
// on it. Pods are identified by their names, which are never used again in a round.
type World struct {
	Count    int32                // before
	Before   map[string]bool      // the active pods
	Made     map[string]time.Time // the pods that came since
	Deleted  []Deleted            // in order, and each pod once
	Counts   []Counted            // in order
	Rolled   time.Time            // when a rollout began; zero if none did
	Changes  []Change             // the changes that decide which pods are deleted
	Occupied map[string]bool      // nodes that have pods at the end
}

// Deleted is a pod that was deleted or evicted.
type Deleted struct {
	Pod, By string // By is a user, or Controller
	At      time.Time
}

// Counted is a change of the workload's count.
type Counted struct {
	By       string
	From, To int32
	At       time.Time
}

// Change is something that somebody did to a pod or to the workload.
type Change struct {
	What, By string
	At       time.Time
}

// Controller is who deletes pods because a count fell.
const Controller = "controller"

// Seen is one run of podrank in a world.
type Seen struct {
	User      string
	Confirmed map[string]bool // the pods that were confirmed last; nil if no plan was
	Refused   bool            // the last question was not answered with yes
	Keeps     bool            // it has the flag to keep its costs
	Exit      int             // -1 if a signal ended it
	Signal    syscall.Signal
	Document  *preview.Steered // nil if none was printed
	Said      string           // its last sentence
	LastRead  time.Time        // when its last reading before the count began; zero if it wrote no count
	LastLook  time.Time        // when its last reading of all began
	Ended     time.Time
}

// hasCounted says that the run changed the count so.
func (s *Seen) hasCounted(c Counted) bool { return c.By == s.User }

// count is the first change of the count that is so, or nil.
func (w *World) count(is func(Counted) bool) *Counted { return first(w.Counts, is) }

// deletion is that of a pod, or nil.
func (w *World) deletion(pod string) *Deleted {
	return first(w.Deleted, func(d Deleted) bool { return d.Pod == pod })
}

func first[T any](of []T, is func(T) bool) *T {
	if i := slices.IndexFunc(of, is); i >= 0 {
		return &of[i]
	}
	return nil
}

// isChanged reports whether anybody but the run changed something in this time.
func (w *World) isChanged(run *Seen, from, to time.Time) bool {
	return slices.ContainsFunc(w.Changes, func(c Change) bool { return c.By != run.User && !c.At.Before(from) && c.At.Before(to) })
}

// isEverAt says whether the count was so in this time.
func (w *World) isEverAt(count int32, from, to time.Time) bool {
	now := w.Count
	for _, c := range w.Counts {
		if c.At.After(from) && now == count {
			return true
		}
		if c.At.After(to) {
			return false
		}
		now = c.To
	}
	return now == count
}

// Taken is what became of the pods that controllers deleted, by who answers for them.
type Taken struct {
	Confirmed int // by a run, and confirmed
	ByOthers  int // by somebody else's lower count, or by a rollout
	Late      int // by a run, after a change that it could not see, and it said so
}

// Take says who answers for each pod that the controllers deleted. It is an error if a run's count took a pod that was not confirmed,
// unless something changed after the run's last reading, and the run named the pod.
func (w *World) Take(runs []*Seen) (taken Taken, wrong []error) {
	for _, d := range w.Deleted {
		if d.By != Controller {
			continue
		}
		switch run := w.lastRun(runs, d.At); {
		case w.isConfirmed(runs, d):
			taken.Confirmed++
		case taken.ByOthers < w.loweredByOthers(runs, d.At) || !w.Rolled.IsZero() && w.Rolled.Before(d.At):
			taken.ByOthers++
		case run == nil:
			wrong = append(wrong, fmt.Errorf("%s went, and nobody had lowered the count for it", d.Pod))
		case !w.isChanged(run, run.LastRead, d.At):
			wrong = append(wrong, fmt.Errorf("%s went, which was not confirmed, and nothing had changed since the last reading of %s", d.Pod, run.User))
		case run.Signal == 0 && !(run.Exit == 3 && run.names(d.Pod)) && run.Exit != 4:
			wrong = append(wrong, fmt.Errorf("%s went, which was not confirmed, and %s does not say so: exit status %d", d.Pod, run.User, run.Exit))
		default:
			taken.Late++
		}
	}
	return taken, wrong
}

// isConfirmed says that a run whose user had confirmed the pod had lowered the count before.
func (w *World) isConfirmed(runs []*Seen, d Deleted) bool {
	return slices.ContainsFunc(runs, func(run *Seen) bool {
		count := w.count(run.hasCounted)
		return count != nil && count.At.Before(d.At) && run.Confirmed[d.Pod]
	})
}

// lastRun is the run that lowered the count last before this time, or nil.
func (w *World) lastRun(runs []*Seen, at time.Time) *Seen {
	var last *Seen
	for _, c := range w.Counts {
		i := slices.IndexFunc(runs, func(run *Seen) bool { return run.User == c.By })
		if i >= 0 && c.At.Before(at) {
			last = runs[i]
		}
	}
	return last
}

// loweredByOthers returns by how much anybody but the runs has lowered the replica count so far.
func (w *World) loweredByOthers(runs []*Seen, at time.Time) int {
	lowered := 0
	for _, c := range w.Counts {
		isRun := slices.ContainsFunc(runs, func(run *Seen) bool { return run.User == c.By })
		if !isRun && c.At.Before(at) && c.To < c.From {
			lowered += int(c.From - c.To)
		}
	}
	return lowered
}
