package podrank

import (
	"fmt"

	"github.com/podrank/podrank/go/internal/engine"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The predictions read objects as the API server stores them, with all defaults. One that lacks a default is an error, as its value
// would have to be guessed.

// errField says that a field is missing.
func errField(field string) error {
	return fmt.Errorf("%s %w", field, ErrMissing)
}

// count reads a number that is not negative.
func count(field string, number *int32) (int32, error) {
	switch {
	case number == nil:
		return 0, errField(field)
	case *number < 0:
		return 0, &cause{fmt.Sprintf("%s is negative: %d", field, *number), ErrOutOfRange}
	}
	return *number, nil
}

// budget reads a number of pods or a percentage.
func budget(field string, value *intstr.IntOrString) (number int32, isPercent bool, err error) {
	switch {
	case value == nil:
		return 0, false, errField(field)
	case value.Type == intstr.Int:
		number, err = count(field, &value.IntVal)
		return number, false, err
	}
	percent, err := engine.Current.ParsePercent(value.StrVal)
	if err != nil {
		return 0, false, fmt.Errorf("%s %q: %w", field, value.StrVal, err)
	}
	return int32(percent), true, nil
}
