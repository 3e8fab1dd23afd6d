// Package shown reads what a run of `kubectl podrank scale` or `drop` printed: which pods it showed to go, what it said had changed,
// and what was answered. So it knows which pods were confirmed, without a look at the program's own outcome.
package shown

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Shown is what a run showed up to its end.
type Shown struct {
	// Confirmed are the pods of the plan that was confirmed last; nil if none was.
	Confirmed map[string]bool
	// Refused says that the last question was not answered with yes.
	Refused bool
	// Asked is how many questions there were, and Changes how many differences.
	Asked, Changes int
	// Added and Removed are the pods that the differences named last as now and as no longer selected.
	Added, Removed map[string]bool
	// HasPlan says that a table was shown. Without one, Confirmed says nothing.
	HasPlan bool

	plan   map[string]bool
	header []string        // of the table that is being read
	table  map[string]bool // the pods to go of the last table
	again  bool            // whether there were several
	wrong  []error
}

// Read reads both outputs of a run. With yes, every plan counts as confirmed as soon as it is shown. An error says what contradicts
// what was shown before.
func Read(stdout, stderr string, yes bool) (*Shown, error) {
	s := &Shown{Added: map[string]bool{}, Removed: map[string]bool{}, plan: map[string]bool{}}
	for line := range strings.Lines(stdout + "\n" + stderr) {
		line = strings.TrimRight(line, "\n")
		s.readTable(line)
		s.readChange(line)
		s.readQuestion(line)
		if yes && s.HasPlan {
			s.Confirmed = maps.Clone(s.plan)
		}
	}
	if s.again && !maps.Equal(s.table, s.plan) {
		s.isWrong("its last table has %d pods to go that are not those of the first with all differences", len(s.table))
	}
	return s, errors.Join(s.wrong...)
}

func (s *Shown) isWrong(format string, arguments ...any) {
	s.wrong = append(s.wrong, fmt.Errorf(format, arguments...))
}

var columns = regexp.MustCompile(`\s{2,}`)

// readTable reads a header or a row. The first table is the plan; the last of several must show what the differences made of it.
func (s *Shown) readTable(line string) {
	cells := columns.Split(line, -1)
	switch {
	case slices.Contains(cells, "PLAN") && slices.Contains(cells, "POD"):
		s.header, s.table = cells, s.plan
		if s.HasPlan {
			s.table, s.again = map[string]bool{}, true
		}
		s.HasPlan = true
	case s.header == nil || len(cells) < len(s.header)-1:
		s.header = nil
	case cells[slices.Index(s.header, "PLAN")] == "deleted":
		s.table[cells[slices.Index(s.header, "POD")]] = true
	}
}

// readChange reads the line that names the pods by which a plan differs from the one that was confirmed.
func (s *Shown) readChange(line string) {
	_, text, is := strings.Cut(line, "The plan changed: ")
	if !is {
		return
	}
	s.Changes++
	for part := range strings.SplitSeq(text, "; ") {
		names, isAdded := strings.CutPrefix(part, "now selected: ")
		names, isRemoved := strings.CutPrefix(names, "no longer selected: ")
		if !isAdded && !isRemoved {
			return
		}
		for name := range strings.SplitSeq(names, ", ") {
			if s.HasPlan && s.plan[name] != isRemoved {
				s.isWrong("it says %s, and %s was in the plan: %v", part, name, s.plan[name])
			}
			if isAdded {
				s.plan[name], s.Added[name] = true, true
				delete(s.Removed, name)
			} else {
				s.Removed[name] = true
				delete(s.plan, name)
				delete(s.Added, name)
			}
		}
	}
}

var question = regexp.MustCompile(`Scale \S+ from (\d+) to (\d+)\? \[y/N\] (.*)$`)

// readQuestion reads a question with its answer.
func (s *Shown) readQuestion(line string) {
	found := question.FindStringSubmatch(line)
	if found == nil {
		return
	}
	s.Asked++
	from, _ := strconv.Atoi(found[1])
	to, _ := strconv.Atoi(found[2])
	if s.HasPlan && from-to != len(s.plan) {
		s.isWrong("it asks about %d to %d, and shows %d pods to go", from, to, len(s.plan))
	}
	s.Refused = !strings.HasPrefix(found[3], "y")
	if !s.Refused && s.HasPlan {
		s.Confirmed = maps.Clone(s.plan)
	}
}
