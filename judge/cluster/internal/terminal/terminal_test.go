package terminal

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// play runs a script of bash, and answers its questions.
func play(t *testing.T, script string, answer func(int, *os.Process) string) (*Ran, error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	return Run(ctx, exec.CommandContext(ctx, "bash", "-c", script), answer)
}

const asks = `[ -t 0 ] && [ -t 2 ] && ! [ -t 1 ] || exit 9
ask() { printf 'Go on? [y/N] ' >&2; read -r answer; echo "got $answer"; }
ask; printf '\rWhat changed: -a +b\n\033[2K' >&2; ask; echo told >&2; exit 3`

func TestAnswers(t *testing.T) {
	ran, err := play(t, asks, func(n int, _ *os.Process) string { return map[int]string{1: "y\n", 2: "n\n"}[n] })
	if err != nil || ran.Exit != 3 || ran.Stdout != "got y\ngot n\n" {
		t.Fatalf("%+v, %v", ran, err)
	}
	if !strings.Contains(ran.Stderr, "\nWhat changed: -a +b\nGo on? [y/N] n\n") || !strings.HasSuffix(ran.Stderr, "told\n") {
		t.Errorf("%q", ran.Stderr)
	}
}

func TestCtrlC(t *testing.T) {
	ran, err := play(t, asks, func(int, *os.Process) string { return "\x03" })
	if err != nil || ran.Signal != syscall.SIGINT {
		t.Errorf("%+v, %v", ran, err)
	}
}

func TestAKillAtAQuestion(t *testing.T) {
	ran, err := play(t, asks, func(_ int, process *os.Process) string { _ = process.Kill(); return "" })
	if err != nil || ran.Signal != syscall.SIGKILL {
		t.Errorf("%+v, %v", ran, err)
	}
}
