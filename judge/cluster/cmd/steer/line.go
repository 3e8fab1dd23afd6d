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
	Expect   string  `json:"expect"` // feasible or infeasible
	Exit     int     `json:"exit"`
	Undo     *int    `json:"undo,omitempty"` // its exit status
	Result   result  `json:"result"`
	Delete   int     `json:"delete"`
	Missed   int     `json:"missed"`
	Others   int     `json:"others"`
	Writes   int     `json:"writes"` // changes of deletion costs, those that take them off included
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
func summarize(lines []line) error {
	by, bad := map[string]int{}, 0
	var sum struct{ deleted, missed, others, writes int }
	var seconds []float64
	for _, l := range lines {
		by[l.Expect+": "+string(l.Result)]++
		if l.Result == missed || l.Result == wrong || l.Result == broken {
			bad++
		}
		sum.missed += l.Missed
		sum.others += l.Others
		if l.Result == took {
			sum.deleted += l.Delete
			sum.writes += l.Writes
			seconds = append(seconds, l.Seconds)
		}
	}
	fmt.Printf("%d rounds of the log\n", len(lines))
	for _, what := range slices.Sorted(maps.Keys(by)) {
		fmt.Printf("%6d %s\n", by[what], what)
	}
	fmt.Printf("%d wanted pods went; missed: %d; others that went: %d; changes of deletion costs: %d\n", sum.deleted, sum.missed,
		sum.others, sum.writes)
	if len(seconds) > 0 {
		slices.Sort(seconds)
		fmt.Printf("seconds for a scale-down: p50 %.1f, p99 %.1f, most %.1f\n", seconds[len(seconds)/2],
			seconds[len(seconds)*99/100], seconds[len(seconds)-1])
	}
	summarizeDisturbances(lines)
	if bad > 0 {
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
