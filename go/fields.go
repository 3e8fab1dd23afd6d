package podrank

import (
	"fmt"
	"slices"

	"github.com/podrank/podrank/go/internal/engine"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The predictions read objects as the API server stores them, with all defaults. One that lacks a default is an error, as its value
// would have to be guessed.

// errField says that a field is missing.
func errField(field string) error {
	return fmt.Errorf("%s %w", field, ErrMissing)
}

// A reader reads fields of an object. It keeps the first error.
type reader struct{ err error }

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// needs makes a field that is not there an error.
func (r *reader) needs(isThere bool, field string) {
	if !isThere {
		r.fail(errField(field))
	}
}

// odd says that a text is missing, or that it is none of those that it can be.
func (r *reader) odd(field, text, none string) {
	r.needs(text != "", field)
	r.fail(fmt.Errorf("%s %q is %s", field, text, none))
}

// count reads a number that is not negative.
func (r *reader) count(field string, number *int32) int32 {
	switch {
	case number == nil:
		r.fail(errField(field))
		return 0
	case *number < 0:
		r.fail(&cause{fmt.Sprintf("%s is negative: %d", field, *number), ErrOutOfRange})
	}
	return *number
}

// budget reads a number of pods or a percentage, which has this flag.
func (r *reader) budget(field string, value *intstr.IntOrString, number *int32, flags *uint32, percent uint32) {
	switch {
	case value == nil:
		r.fail(errField(field))
	case value.Type == intstr.Int:
		*number = r.count(field, &value.IntVal)
	default:
		parsed, err := engine.Current.ParsePercent(value.StrVal)
		if err != nil {
			r.fail(fmt.Errorf("%s %q: %w", field, value.StrVal, err))
		}
		*number, *flags = int32(parsed), *flags|percent
	}
}

// raise raises a flag if it holds.
func raise[F uint8 | uint32](flags *F, holds bool, flag F) {
	if holds {
		*flags |= flag
	}
}

// sorted returns the numbers below n in this order. Those that tie are in their own.
func sorted(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}

// nameOf is the name of a number of this kind.
func nameOf[N ~uint8](kind string, number N, names map[N]string) string {
	if name, ok := names[number]; ok {
		return name
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(number))
}
