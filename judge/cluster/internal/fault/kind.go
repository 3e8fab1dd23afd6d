package fault

import (
	"slices"
	"strings"
)

// Kind is what a call is for.
type Kind string

// Kinds of calls.
const (
	Check   Kind = "check"   // asks for a right, or changes nothing otherwise
	Lock    Kind = "lock"    // creates, renews, reads or deletes a Lease
	Barrier Kind = "barrier" // creates a barrier pod
	Write   Kind = "write"   // applies deletion costs
	Watch   Kind = "watch"
	Count   Kind = "count" // changes the count
	Remove  Kind = "remove"
	Read    Kind = "read" // of anything, before the count
	Look    Kind = "look" // of anything, after it
	Other   Kind = "other"
)

// Create is the creation of a Lease, which is the first call of the kind Lock that does not only read.
const Create Kind = "create a lease"

// kindOf says what a call is for, given what it reads, and whether the count was changed before.
func kindOf(arguments []string, input string, isScaled bool) Kind {
	words := strings.Join(arguments, " ")
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(words, text) })
	}
	is := func(verbs ...string) bool { return len(arguments) > 0 && slices.Contains(verbs, arguments[0]) }
	switch {
	case has("--dry-run") || is("auth") || strings.Contains(input, "AccessReview"):
		return Check
	case is("create") && strings.Contains(input, `"Lease"`):
		return Create
	case has("lease") || strings.Contains(input, `"Lease"`):
		return Lock
	case is("create") && strings.Contains(input, "podrank.dev/barrier"):
		return Barrier
	case is("apply"):
		return Write
	case isWatch(arguments):
		return Watch
	case is("scale") || has("/scale"):
		return Count
	case is("delete"):
		return Remove
	case is("get") && isScaled:
		return Look
	case is("get"):
		return Read
	}
	return Other
}

func isWatch(arguments []string) bool {
	return slices.ContainsFunc(arguments, func(argument string) bool {
		return argument == "-w" || strings.HasPrefix(argument, "--watch") || strings.Contains(argument, "watch=1") ||
			strings.Contains(argument, "watch=true")
	})
}
