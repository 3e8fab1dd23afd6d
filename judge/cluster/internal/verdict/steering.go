package verdict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// State is a workload's namespace at one moment.
type State struct {
	Count    int32
	Pods     map[types.UID]PodState // the active ones of the workload
	Canaries []string               // pods and sets of podrank's barrier
	Leases   []string               // of podrank
}

// PodState is what steering may change of a pod.
type PodState struct {
	Name, Version string
	Cost          string   // the annotation; empty if it has none
	Ours          bool     // podrank owns the cost
	Marks         []string // annotations of podrank
}

// Steering is one run of `kubectl podrank scale` or `drop`.
type Steering struct {
	Exit          int
	Document      *preview.Steered // nil if none was printed
	Before, After *State
	To            int32 // the count that was asked for
	KeepCosts     bool
	Rollout       bool                 // the controllers were at work, and took pods as they liked
	Costs         map[types.UID]string // that others gave last, of which the server says that they are theirs
}

// Gone are the pods that went, in order of their names.
func (s *Steering) Gone() []types.UID {
	var gone []types.UID
	for uid := range s.Before.Pods {
		if _, ok := s.After.Pods[uid]; !ok {
			gone = append(gone, uid)
		}
	}
	slices.SortFunc(gone, func(a, b types.UID) int { return strings.Compare(s.name(a), s.name(b)) })
	return gone
}

func (s *Steering) name(uid types.UID) string { return s.Before.Pods[uid].Name }

// Missed are the wanted pods that stay, and Others the pods that went unasked for.
func (s *Steering) Missed() (missed, others []string) {
	wanted := s.Document.Wanted()
	for _, uid := range wanted {
		if pod, stays := s.After.Pods[uid]; stays {
			missed = append(missed, pod.Name)
		}
	}
	for _, uid := range s.Gone() {
		if !slices.Contains(wanted, uid) {
			others = append(others, s.name(uid))
		}
	}
	return missed, others
}

// Untouched says what of the workload is not as it was. It is for refusals, which come before anything is written.
func (s *Steering) Untouched() error {
	var wrong []error
	if s.Before.Count != s.After.Count {
		wrong = append(wrong, fmt.Errorf("the count is %d, not %d", s.After.Count, s.Before.Count))
	}
	for _, uid := range s.Gone() {
		wrong = append(wrong, fmt.Errorf("%s went", s.name(uid)))
	}
	for uid, after := range s.After.Pods {
		before, ok := s.Before.Pods[uid]
		if !ok {
			wrong = append(wrong, fmt.Errorf("%s is new", after.Name))
		} else if before.Version != after.Version {
			wrong = append(wrong, fmt.Errorf("%s was written to", after.Name))
		}
	}
	return errors.Join(append(wrong, s.Restored())...)
}

// Restored says what podrank has left behind on pods and in the namespace.
func (s *Steering) Restored() error {
	var wrong []error
	for uid, after := range s.After.Pods {
		before := s.Before.Pods[uid] // empty for a new pod
		if before.Name == "" {
			before.Cost = after.Cost
		}
		wanted := before.Cost
		if cost, ok := s.Costs[uid]; ok {
			wanted = cost
		}
		if after.Cost != wanted {
			wrong = append(wrong, fmt.Errorf("%s has the cost %q, not %q", after.Name, after.Cost, wanted))
		}
		if len(after.Marks) > 0 {
			wrong = append(wrong, fmt.Errorf("%s has %v", after.Name, after.Marks))
		}
		if after.Ours && before.Cost == "" {
			wrong = append(wrong, fmt.Errorf("the cost of %s is podrank's", after.Name))
		}
	}
	return errors.Join(append(wrong, s.noObject())...)
}

// noObject says which objects podrank has left behind.
func (s *Steering) noObject() error {
	if left := slices.Concat(s.After.Canaries, s.After.Leases); len(left) > 0 {
		return fmt.Errorf("left behind: %v", left)
	}
	return nil
}

// Describes says what of the state the exit status does not describe.
func (s *Steering) Describes() error {
	switch s.Exit {
	case 0, 3:
		if s.Document == nil || s.Document.Exit == nil {
			return errors.New("no outcome was printed")
		}
		var wrong []error
		if s.After.Count != s.To {
			wrong = append(wrong, fmt.Errorf("the count is %d, not %d", s.After.Count, s.To))
		}
		missed, others := s.Missed()
		if s.Exit == 0 && !s.Rollout && len(missed)+len(others) > 0 {
			wrong = append(wrong, fmt.Errorf("missed %v, and %v went", missed, others))
		}
		if s.Exit == 3 && len(missed)+len(others) == 0 && !s.Rollout {
			wrong = append(wrong, errors.New("exactly the wanted pods went"))
		}
		if s.Exit == 0 && !s.Rollout {
			wrong = append(wrong, s.told())
		}
		if s.KeepCosts {
			wrong = append(wrong, s.noObject())
		} else {
			wrong = append(wrong, s.Restored())
		}
		return errors.Join(wrong...)
	case 1:
		var wrong []error
		if s.After.Count != s.Before.Count {
			wrong = append(wrong, fmt.Errorf("the count is %d, not %d", s.After.Count, s.Before.Count))
		}
		for _, uid := range s.Gone() {
			if !s.Rollout && !s.isRestarted(uid) {
				wrong = append(wrong, fmt.Errorf("%s went", s.name(uid)))
			}
		}
		return errors.Join(append(wrong, s.Restored())...)
	case 4: // costs may be left, and the outcome may be unknown
		return nil
	}
	return fmt.Errorf("exit status %d", s.Exit)
}

// isRestarted says that the pod is a wanted one that the message names: an eviction restarted it.
func (s *Steering) isRestarted(uid types.UID) bool {
	return s.Document != nil && slices.Contains(s.Document.Wanted(), uid) && strings.Contains(s.Document.Message, s.name(uid))
}

// told compares what the program says with what happened.
func (s *Steering) told() error {
	var wrong []error
	if *s.Document.Exit != s.Exit {
		wrong = append(wrong, fmt.Errorf("the outcome says %d, the exit status is %d", *s.Document.Exit, s.Exit))
	}
	var went []types.UID
	for _, pod := range s.Document.Went {
		if _, ok := s.Before.Pods[pod.UID]; ok { // and not the replacement of a barrier's victim
			went = append(went, pod.UID)
		}
	}
	gone := s.Gone()
	slices.Sort(went)
	slices.Sort(gone)
	if !slices.Equal(went, gone) {
		wrong = append(wrong, fmt.Errorf("it says that %d pods went, not %d: %v and not %v", len(went), len(gone), went, gone))
	}
	if len(s.Document.Missed)+len(s.Document.Others) > 0 {
		wrong = append(wrong, fmt.Errorf("it says that it missed %v and that %v went", s.Document.Missed, s.Document.Others))
	}
	return errors.Join(wrong...)
}
