package report

import (
	"reflect"
	"strings"
)

// Fields are those of a decision in the log, and after pods those of a pod.
func Fields() (names []string) {
	add := func(of any) {
		for field := range reflect.TypeOf(of).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	add(decision{})
	add(pod{})
	return names
}
