// Package comparator checks a copy of Kubernetes' pod comparator, ActivePodsWithRanks.Less: [Departures] names the rules in which it
// departs. To use it, copy this file and cases.json into a folder of your module.
package comparator

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

//go:embed cases.json
var casesJSON []byte

// Less reports whether a is deleted before b, like ActivePodsWithRanks{Pods: {a, b}, Rank: {rankA, rankB}, Now: now}.Less(0, 1).
type Less func(a, b *corev1.Pod, rankA, rankB int, now time.Time) bool

// Case is two pods, with the one that Kubernetes deletes first. cases.schema.json describes the fields.
type Case struct {
	ID            int
	Rule, Comment string
	Flags         []string
	First, Second json.RawMessage
	Ranks         *[2]int
	Result        string
}

// Departure is a case in which a copy differs from Kubernetes.
type Departure struct {
	Case
	// Got is "first", "second" or "tie", or "both" if each pod is before the other, so that the result of a sort is arbitrary.
	Got string
}

func (d Departure) String() string {
	name := strings.TrimSuffix(fmt.Sprintf("%s: case %d %v", d.Rule, d.ID, d.Flags), " []")
	return fmt.Sprintf("%s: got %s, want %s: %s", name, d.Got, d.Result, d.Comment)
}

// Departures runs the cases in both directions, without those that have a rule or a flag in skip.
func Departures(less Less, skip ...string) []Departure {
	var file struct {
		Now   time.Time
		Pod   json.RawMessage
		Cases []Case
	}
	decode(casesJSON, &file)
	var departures []Departure
	for _, c := range file.Cases {
		if slices.ContainsFunc(skip, func(s string) bool { return s == c.Rule || slices.Contains(c.Flags, s) }) {
			continue
		}
		var first, second corev1.Pod
		for pod, patch := range map[*corev1.Pod]json.RawMessage{&first: c.First, &second: c.Second} {
			decode(file.Pod, pod)
			decode(patch, pod) // Only into the fields that it has, which is what a merge patch means.
		}
		ranks := [2]int{1, 1}
		if c.Ranks != nil {
			ranks = *c.Ranks
		}
		forward, backward := less(&first, &second, ranks[0], ranks[1], file.Now), less(&second, &first, ranks[1], ranks[0], file.Now)
		got := map[[2]bool]string{{true, false}: "first", {false, true}: "second", {true, true}: "both"}[[2]bool{forward, backward}]
		if got == "" {
			got = "tie"
		}
		if got != c.Result {
			departures = append(departures, Departure{c, got})
		}
	}
	return departures
}

// decode cannot fail: the file is compiled into the program, and Kubernetes' API can hold every pod in it.
func decode(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(err)
	}
}
