package podrank

import (
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// What can be wrong with an argument: for errors.Is.
var (
	// ErrNil: a pod, an option or another argument is nil.
	ErrNil = errors.New("is nil")
	// ErrInactive: a pod is Succeeded or Failed or being deleted, so it is not one of its workload's replicas.
	ErrInactive = errors.New("is not active")
	// ErrOutOfRange: a tier of [WithTier], a price of [WithPrice], a rank of [WithRanks], or a number of a [State] is
	// negative or too large.
	ErrOutOfRange = errors.New("is out of range")
	// ErrOption: this function cannot apply an option, or not together with another one. The time and the feature gates of Kubernetes
	// are accepted everywhere, so that one list of them serves all decisions.
	ErrOption = errors.New("the option cannot apply")
)

// A PodError says which pod of a list is wrong, and how. Its text is, say,
//
//	podrank: active[1] (default/b): phase Failed
//
// and errors.Is tells its causes apart: [ErrNil], [ErrInactive], [ErrOutOfRange].
type PodError struct {
	// List is the parameter that has the pod, such as "active".
	List string
	// Index is the pod's place in it, or -1 if the parameter is the pod itself.
	Index int
	// Namespace and Name are the pod's, empty if it is nil.
	Namespace, Name string
	// Err is the cause.
	Err error
}

func (e *PodError) Error() string {
	place := e.List
	if e.Index >= 0 {
		place = fmt.Sprintf("%s[%d]", e.List, e.Index)
	}
	if e.Err == ErrNil {
		return fmt.Sprintf("podrank: %s %v", place, e.Err)
	}
	return fmt.Sprintf("podrank: %s (%s/%s): %v", place, e.Namespace, e.Name, e.Err)
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

// errNil says which argument is nil.
func errNil(argument string) error {
	return fmt.Errorf("podrank: %s %w", argument, ErrNil)
}

// isNil reports whether an interface is nil or has a nil pointer or function.
func isNil(value any) bool {
	if value == nil {
		return true
	}
	switch it := reflect.ValueOf(value); it.Kind() {
	case reflect.Pointer, reflect.Func:
		return it.IsNil()
	}
	return false
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
func errRange(what string, number, least, most int64) error {
	return &cause{fmt.Sprintf("%s %d: it must be from %d to %d", what, number, least, most), ErrOutOfRange}
}

// A cause is a text of its own for one of the errors above.
type cause struct {
	text string
	is   error
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.is }

// nameOf is the name of a number of this kind.
func nameOf[N ~uint8, S ~string](kind string, number N, names map[N]S) S {
	if name, ok := names[number]; ok {
		return name
	}
	return S(fmt.Sprintf("%s(%d)", kind, uint8(number)))
}
