// Package must lets a round run straight on: a step that fails ends the round with a panic, and Catch, where the round began,
// makes that an error again. Whatever else panics is not caught.
package must

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// failure is what a step ended with.
type failure struct{ error }

// Do ends the round if a step failed.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns what a step made, or ends the round if it failed.
func Get[T any](made T, err error) T {
	Do(err)
	return made
}

// Catch is deferred where a round begins. It stores what ended the round, if anything did.
func Catch(err *error) {
	switch ended := recover().(type) {
	case nil:
	case failure:
		*err = ended.error
	default:
		panic(ended)
	}
}

// Try returns what ended f.
func Try(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// Main runs a program until it ends or is told to.
func Main(name string, run func(context.Context)) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Try(func() { run(ctx) }); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
