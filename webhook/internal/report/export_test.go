package report

import (
	"reflect"
	"strings"

	"github.com/podrank/podrank/webhook/internal/steer"
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

// Word is that of a rule.
func (r *Reporter) Word(why steer.Why) string { return r.word(why) }
