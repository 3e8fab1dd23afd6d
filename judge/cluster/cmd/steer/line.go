package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// result of a round.
type result string

const (
	took      result = "took"      // exactly the wanted pods went
	refused   result = "refused"   // rightly, and nothing was written
	gaveUp    result = "gave up"   // it was feasible, but the count is unchanged and the costs are put back
	missed    result = "missed"    // other pods went than were wanted
	wrong     result = "wrong"     // anything else that contradicts the contract
	described result = "described" // disturbed, and the exit status describes the state
	broken    result = "broken"    // disturbed, and what was not confirmed was done, or what was said is false, or something is left
	undone    result = "undone"    // interrupted, and `undo` left nothing behind
	unreached result = "unreached" // it ended before the disturbance could happen
	skipped   result = "skipped"   // nothing to compare
)

func (r result) isBad() bool { return r == gaveUp || r == missed || r == wrong || r == broken }

// line is what the log says about a round.
type line struct {
	Seed     uint64  `json:"seed"`
	Mode     string  `json:"mode"`
	Round    int     `json:"round"`
	Workload string  `json:"workload"`
	Pods     int     `json:"pods"`
	Command  string  `json:"command"`
	Expect   string  `json:"expect"`            // feasible, infeasible or open
	Why      string  `json:"why,omitempty"`     // of what is not feasible
	Decides  string  `json:"decides,omitempty"` // how much of the answer the harness knows: all, spread, part or count
	Fault    string  `json:"fault,omitempty"`
	Exit     int     `json:"exit"`
	Undo     *int    `json:"undo,omitempty"` // its exit status
	Result   result  `json:"result"`
	Delete   int     `json:"delete"`
	Missed   int     `json:"missed"`
	Others   int     `json:"others"`
	Writes   int     `json:"writes"` // changes of deletion costs, those that take them off included
	Least    int     `json:"least"`  // the fewest that suffice
	Seconds  float64 `json:"seconds"`
	Calls    int     `json:"calls,omitempty"` // of kubectl
	Message  string  `json:"message,omitempty"`

	// Of rounds with drawn disturbances.
	Disturbances []string       `json:"disturbances,omitempty"`
	Happened     []string       `json:"happened,omitempty"`
	Exits        []int          `json:"exits,omitempty"` // of all runs, the disturbed one first
	Prompts      int            `json:"prompts,omitempty"`
	Changes      int            `json:"changes,omitempty"` // differences that were shown
	Taken        *verdict.Taken `json:"taken,omitempty"`
}

// isBad says whether the round is worth a look. With plain kubectl, missed pods are expected.
func (l *line) isBad() bool { return l.Mode != "plain" && l.Result.isBad() }

// readLines reads the rounds of a log up to the last one; of a round that was played twice, the last line.
func readLines(file string, last int) []line {
	in := must.Get(os.Open(file))
	defer in.Close()
	rounds := map[int]line{}
	for scanner := bufio.NewScanner(in); scanner.Scan(); {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			must.Do(fmt.Errorf("%s: %w", file, err))
		}
		if l.Round <= last {
			rounds[l.Round] = l
		}
	}
	return slices.SortedFunc(maps.Values(rounds), func(a, b line) int { return a.Round - b.Round })
}

// summarize prints what came of all rounds of a log. It is an error if one went wrong.
func summarize(mode string, lines []line) error {
	results := map[result]int{}
	type key struct {
		expect string
		result result
	}
	by, faults := map[key]int{}, map[string]map[result]int{}
	var sum struct{ deleted, missed, others, writes, least int }
	var seconds []float64
	decides := map[string]int{}
	for _, l := range lines {
		results[l.Result]++
		by[key{l.Expect, l.Result}]++
		if l.Fault != "" {
			name, _, _ := strings.Cut(l.Fault, " at call ") // of all calls together
			name = fmt.Sprintf("%s: exit status %d", name, l.Exit)
			if faults[name] == nil {
				faults[name] = map[result]int{}
			}
			faults[name][l.Result]++
		}
		sum.missed += l.Missed
		sum.others += l.Others
		if l.Result == took {
			sum.deleted += l.Delete
			decides[l.Decides]++
			sum.writes += l.Writes
			sum.least += l.Least
			seconds = append(seconds, l.Seconds)
		}
	}
	fmt.Printf("%d rounds of the log\n", len(lines))
	for _, expect := range []string{"feasible", "infeasible", "open"} {
		for _, r := range []result{took, refused, gaveUp, missed, wrong, broken, described, undone, unreached, skipped} {
			if n := by[key{expect, r}]; n > 0 {
				fmt.Printf("%6d %s: %s\n", n, expect, r)
			}
		}
	}
	fmt.Printf("%d wanted pods went; missed: %d; others that went: %d\n", sum.deleted, sum.missed, sum.others)
	if mode == "wishes" {
		fmt.Printf("in %d of the rounds that took pods, the harness knew every one by itself, in %d the spread, in %d some\n",
			decides["all"], decides["spread"], decides["part"])
		fmt.Printf("%d changes of deletion costs, %d at least\n", sum.writes, sum.least)
	}
	if len(seconds) > 0 {
		slices.Sort(seconds)
		fmt.Printf("seconds for a scale-down: p50 %.1f, p99 %.1f, most %.1f\n", seconds[len(seconds)/2],
			seconds[len(seconds)*99/100], seconds[len(seconds)-1])
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		fmt.Printf("  %s: %v\n", name, faults[name])
	}
	summarizeDisturbances(lines)
	if mode != "plain" && results[missed]+results[wrong]+results[broken] > 0 {
		return errors.New("podrank broke its contract")
	}
	return nil
}

// summarizeDisturbances prints what came of each kind of drawn disturbance.
func summarizeDisturbances(lines []line) {
	by := map[string]map[string]int{}
	count := func(name, what string) {
		if by[name] == nil {
			by[name] = map[string]int{}
		}
		by[name][what]++
	}
	var taken verdict.Taken
	prompts, changes := 0, 0
	for _, l := range lines {
		for _, happened := range l.Happened {
			name, _, _ := strings.Cut(happened, ", ")
			count(name, "rounds")
			count(name, string(l.Result))
			count(name, fmt.Sprintf("exit status %d", l.Exit))
		}
		if l.Taken != nil {
			taken.Confirmed += l.Taken.Confirmed
			taken.ByOthers += l.Taken.ByOthers
			taken.Late += l.Taken.Late
		}
		prompts += l.Prompts
		changes += l.Changes
	}
	if len(by) == 0 {
		return
	}
	fmt.Printf("%d confirmed pods went, %d for others than podrank, %d after a change that came too late, each of them named\n",
		taken.Confirmed, taken.ByOthers, taken.Late)
	fmt.Printf("%d questions, and %d differences shown\n", prompts, changes)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		fmt.Printf("  %s: %v\n", name, by[name])
	}
}
