package verdict

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// Told compares every statement of a run's outcome with the audit log. It returns an error for one that is false.
func (w *World) Told(run *Seen) error {
	count := w.count(run.hasCounted)
	if count == nil && strings.Contains(run.Said, "Somebody else scaled") {
		count = w.count(run.isLowered)
	}
	if run.Signal == syscall.SIGKILL {
		return nil // it said nothing
	}
	var wrong []error
	isWrong := func(format string, arguments ...any) { wrong = append(wrong, fmt.Errorf(format, arguments...)) }
	if run.Refused && count != nil {
		isWrong("the count was changed, and the last question was not answered with yes")
	}
	if run.Document != nil && run.Document.Exit != nil && *run.Document.Exit != run.Exit {
		isWrong("the outcome says %d, the exit status is %d", *run.Document.Exit, run.Exit)
	}
	switch run.Exit {
	case 0:
		wrong = append(wrong, w.done(run, count))
	case 1, -1:
		if count != nil {
			isWrong("exit status %d, and it changed the count from %d to %d", run.Exit, count.From, count.To)
		}
	case 3:
		wrong = append(wrong, w.notAsPlanned(run, count))
	case 4:
		isUndone := strings.Contains(run.Said, "kubectl podrank undo")
		if !isUndone && !strings.Contains(run.Said, "kubectl delete replicasets.apps,pods -l podrank.dev/barrier=") {
			isWrong("exit status 4 without the command that removes what is left")
		}
	default:
		isWrong("exit status %d", run.Exit)
	}
	return errors.Join(append(wrong, w.sentence(run, count), w.lists(run, count))...)
}

// done is for exit status 0: exactly the confirmed pods were deleted.
func (w *World) done(run *Seen, count *Counted) error {
	if count == nil {
		if strings.Contains(run.Said, "Nothing to do") {
			return nil
		}
		return errors.New("exit status 0, and it did not change the count")
	}
	var wrong []error
	for pod := range run.Confirmed {
		if d := w.deletion(pod); d == nil || d.At.After(run.Ended) {
			wrong = append(wrong, fmt.Errorf("exit status 0, and %s, which was confirmed, stays", pod))
		}
	}
	for _, pod := range w.unconfirmed(run, count) {
		wrong = append(wrong, fmt.Errorf("exit status 0, and %s went, which was not confirmed", pod))
	}
	// The pods of a rollout may come to any node.
	if run.Document != nil && w.Rolled.IsZero() {
		for _, node := range run.Document.Nodes {
			if node.BecomesEmpty && w.Occupied[node.Name] {
				wrong = append(wrong, fmt.Errorf("exit status 0, and %s is not empty", node.Name))
			}
		}
	}
	return errors.Join(wrong...)
}

// unconfirmed are the pods that controllers took after the run's count and before its last look, that it knew of, and that were not confirmed.
func (w *World) unconfirmed(run *Seen, count *Counted) (pods []string) {
	for _, d := range w.Deleted {
		made, isNew := w.Made[d.Pod]
		isKnown := w.Before[d.Pod] || isNew && made.Before(run.LastRead)
		isOfRollout := !w.Rolled.IsZero() && w.Rolled.Before(d.At)
		if d.By == Controller && isKnown && !isOfRollout && !run.Confirmed[d.Pod] && d.At.After(count.At) && d.At.Before(run.LastLook) {
			pods = append(pods, d.Pod)
		}
	}
	return pods
}

// notAsPlanned is for exit status 3: it says how the outcome differs.
func (w *World) notAsPlanned(run *Seen, count *Counted) error {
	if count == nil {
		return w.loweredMeanwhile(run)
	}
	var wrong []error
	differs := false
	for _, pod := range w.unconfirmed(run, count) {
		differs = true
		if !run.names(pod) {
			wrong = append(wrong, fmt.Errorf("%s went, which was not confirmed, and it does not say so", pod))
		}
	}
	for pod := range run.Confirmed {
		d := w.deletion(pod)
		stays := d == nil || !d.At.Before(run.LastLook)
		differs = differs || stays || d.At.Before(run.LastRead)
		if d == nil && !run.names(pod) {
			wrong = append(wrong, fmt.Errorf("%s, which was confirmed, stays, and it does not say so", pod))
		}
	}
	for node := range w.Occupied {
		differs = differs || run.says(node)
	}
	// What a disturbance itself took may be named, too.
	for _, d := range w.Deleted {
		differs = differs || d.By != Controller && !run.Confirmed[d.Pod] && run.names(d.Pod)
	}
	if !differs {
		wrong = append(wrong, errors.New("exit status 3, and exactly the confirmed pods went"))
	}
	return errors.Join(wrong...)
}

// loweredMeanwhile is for exit status 3 of a run that did not change the replica count: somebody else lowered it or
// began a rollout while the costs were written, and the outcome names the deleted pods.
func (w *World) loweredMeanwhile(run *Seen) error {
	isNamed := slices.ContainsFunc(w.Deleted, func(d Deleted) bool { return run.names(d.Pod) })
	if w.count(run.isLowered) == nil && w.Rolled.IsZero() || !isNamed {
		return errors.New("exit status 3, and nobody lowered the count or began a rollout, or it names no pod that went")
	}
	return nil
}

// isLowered says that another than the run lowered the count so.
func (s *Seen) isLowered(c Counted) bool { return c.By != s.User && c.To < c.From }

// names says whether the outcome names a pod as one that did not do as planned.
func (s *Seen) names(pod string) bool {
	if s.Document != nil {
		is := func(named preview.PodName) bool { return named.Name == pod }
		if slices.ContainsFunc(s.Document.Unexpected, is) || slices.ContainsFunc(s.Document.Missed, is) {
			return true
		}
	}
	return s.says(pod)
}

var words = regexp.MustCompile(`[a-z0-9][-.a-z0-9]*[a-z0-9]|[a-z0-9]`)

// says says whether the last sentence has a name in it.
func (s *Seen) says(name string) bool {
	return slices.Contains(words.FindAllString(s.Said, -1), name)
}

var (
	scaled = regexp.MustCompile(`[Ss]caled \S+ from (\d+) to (\d+)`)
	went   = regexp.MustCompile(`Deleted exactly the (?:(\d+) )?selected pods?`)
	again  = regexp.MustCompile(`count is (\d+) (?:again|now)`)
)

// sentence holds the run's last sentence against what happened.
func (w *World) sentence(run *Seen, count *Counted) error {
	var wrong []error
	if found := scaled.FindStringSubmatch(run.Said); found != nil {
		if count == nil || number(found[1]) != count.From || number(found[2]) != count.To {
			wrong = append(wrong, fmt.Errorf("it says %q, and changed the count so: %+v", found[0], count))
		}
	}
	if found := went.FindStringSubmatch(run.Said); found != nil && run.Confirmed != nil {
		said := int32(1)
		if found[1] != "" {
			said = number(found[1])
		}
		if int(said) != len(run.Confirmed) || run.Exit != 0 && run.Exit != 4 {
			wrong = append(wrong, fmt.Errorf("it says %q with exit status %d, and %d were confirmed", found[0], run.Exit, len(run.Confirmed)))
		}
	}
	if found := again.FindStringSubmatch(run.Said); found != nil {
		since := time.Time{}
		if count != nil {
			since = count.At
		}
		if !w.isEverAt(number(found[1]), since, run.Ended) {
			wrong = append(wrong, fmt.Errorf("it says %q, and it was not", found[0]))
		}
	}
	for _, text := range []string{"was not scaled", "Nothing was changed"} {
		if strings.Contains(run.Said, text) && count != nil {
			wrong = append(wrong, fmt.Errorf("it says %q, and changed the count from %d to %d", text, count.From, count.To))
		}
	}
	return errors.Join(wrong...)
}

func number(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		panic(err) // digits, by the patterns above
	}
	return int32(n)
}

// lists holds the lists of pods of a run's outcome against what happened.
func (w *World) lists(run *Seen, count *Counted) error {
	if run.Document == nil {
		return nil
	}
	var wrong []error
	isWrong := func(format string, arguments ...any) { wrong = append(wrong, fmt.Errorf(format, arguments...)) }
	isGone := func(pod string, by time.Time) bool {
		d := w.deletion(pod)
		return d != nil && d.At.Before(by)
	}
	told := map[string]bool{}
	for _, pod := range run.Document.Deleted {
		told[pod.Name] = true
		if !isGone(pod.Name, run.Ended) || !run.Confirmed[pod.Name] {
			isWrong("it says that %s went, which is not so or was not confirmed", pod.Name)
		}
	}
	for _, pod := range run.Document.Missed {
		told[pod.Name] = true
		if isGone(pod.Name, run.LastLook) || !run.Confirmed[pod.Name] {
			isWrong("it says that %s stayed, which is not so or was not confirmed", pod.Name)
		}
	}
	for _, pod := range run.Document.Unexpected {
		if !isGone(pod.Name, run.Ended) || run.Confirmed[pod.Name] {
			isWrong("it says that %s went unasked, which is not so or was confirmed", pod.Name)
		}
	}
	if count != nil && (run.Exit == 0 || run.Exit == 3) {
		for pod := range run.Confirmed {
			if !told[pod] {
				isWrong("it does not say what became of %s, which was confirmed", pod)
			}
		}
	}
	if run.Exit != 4 && !run.Keeps && len(run.Document.Leftovers) > 0 {
		isWrong("it says that costs are left, with exit status %d", run.Exit)
	}
	return errors.Join(wrong...)
}
