package podrank

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// What can be wrong with a pod or an option: for errors.Is.
var (
	// ErrNil: a pod or an option is nil.
	ErrNil = errors.New("is nil")
	// ErrInactive: a pod is Succeeded or Failed or being deleted, and so is none of its workload's replicas.
	ErrInactive = errors.New("is not active")
	// ErrOutOfRange: a tier of [WithTier] or a rank of [WithRanks] is a number that there is not.
	ErrOutOfRange = errors.New("is out of range")
)

// A PodError says which pod of a list is wrong, and how. Its text is, say,
//
//	podrank: active[1] (default/b): phase Failed
//
// and errors.Is tells its causes apart: [ErrNil], [ErrInactive], [ErrOutOfRange].
type PodError struct {
	// List is the parameter that has the pod, such as "active".
	List string
	// Index is the pod's place in it.
	Index int
	// Namespace and Name are the pod's, empty if it is nil.
	Namespace, Name string
	// Err is the cause.
	Err error
}

func (e *PodError) Error() string {
	if e.Err == ErrNil {
		return fmt.Sprintf("podrank: %s[%d] %v", e.List, e.Index, e.Err)
	}
	return fmt.Sprintf("podrank: %s[%d] (%s/%s): %v", e.List, e.Index, e.Namespace, e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *PodError) Unwrap() error { return e.Err }

// errPod names a pod of a list.
func errPod(list string, index int, pod *corev1.Pod, err error) error {
	if pod == nil {
		return &PodError{List: list, Index: index, Err: ErrNil}
	}
	return &PodError{List: list, Index: index, Namespace: pod.Namespace, Name: pod.Name, Err: err}
}

// errInactive says why a pod is not active: nil if it is.
func errInactive(pod *corev1.Pod) error {
	switch {
	case pod == nil:
		return ErrNil
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		return &cause{fmt.Sprintf("phase %s", pod.Status.Phase), ErrInactive}
	case pod.DeletionTimestamp != nil:
		return &cause{"it is being deleted", ErrInactive}
	}
	return nil
}

// errRange says that there is no such number.
func errRange(what string, number, most int64) error {
	return &cause{fmt.Sprintf("%s %d: it must be from 0 to %d", what, number, most), ErrOutOfRange}
}

// A cause is a text of its own for one of the errors above.
type cause struct {
	text string
	is   error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.is }
