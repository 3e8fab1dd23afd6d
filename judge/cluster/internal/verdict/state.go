package verdict

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// State is a workload's namespace at one time.
type State struct {
	Count    int32
	Pods     map[types.UID]PodState // the active ones of the workload
	Barriers []string               // pods and sets of podrank's barrier
	Leases   []string               // of podrank
}

// PodState is what steering may change of a pod.
type PodState struct {
	Name  string
	Cost  string   // the annotation; empty if it has none
	Ours  bool     // podrank owns the cost
	Marks []string // annotations of podrank
}

// Restored returns an error if podrank has left something on pods or in the namespace. costs are the last foreign
// costs. With keepsCosts, podrank may leave costs.
func Restored(before, after *State, costs map[types.UID]string, keepsCosts bool) error {
	var wrong []error
	isWrong := func(format string, arguments ...any) { wrong = append(wrong, fmt.Errorf(format, arguments...)) }
	for _, object := range slices.Concat(after.Barriers, after.Leases) {
		isWrong("%s is left", object)
	}
	for uid, pod := range after.Pods {
		first := before.Pods[uid] // empty for a new pod
		wanted := first.Cost
		if first.Name == "" {
			wanted = pod.Cost
		}
		if cost, ok := costs[uid]; ok {
			wanted = cost
		}
		if keepsCosts {
			continue
		}
		if pod.Cost != wanted {
			isWrong("%s has the cost %q, not %q", pod.Name, pod.Cost, wanted)
		}
		if len(pod.Marks) > 0 {
			isWrong("%s has %v", pod.Name, pod.Marks)
		}
		if pod.Ours && wanted == "" {
			isWrong("the cost of %s is podrank's", pod.Name)
		}
	}
	return errors.Join(wrong...)
}
