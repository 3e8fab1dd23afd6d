// Package podrank makes podrank's records of pods, and asks what the Go module has no function for. It calls libpodrank, the library
// that is judged, through its C header. It is the judge's own and no Go API of podrank: it panics where a call fails, as only a
// mistake of the judge's makes one fail.
//
// The library is the one that the Go module brings: `make -C .. archives` makes
// it. Go's build cache does not look into it: after a change of the library
// `go test -count=1` and `go build -o` a new file link anew, but `go run` runs
// the old program.
package podrank

/*
#cgo CFLAGS: -I${SRCDIR}/../../../../go/internal/cpodrank
#cgo linux,amd64 LDFLAGS: ${SRCDIR}/../../../../go/internal/cpodrank/libpodrank_linux_amd64.a
#cgo linux,arm64 LDFLAGS: ${SRCDIR}/../../../../go/internal/cpodrank/libpodrank_linux_arm64.a
#include "podrank.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
)

// Pod is a podrank_pod: its layout is asserted where it is defined.
type Pod = core.Pod

// Upstream is what the core takes Kubernetes' comparator to say at a moment, core.TimeUnset for one without age buckets: -1 if a is
// before b, 1 if b is before a, 0 if neither is; and the number of the rule that settles it.
func Upstream(a, b *Pod, now int64, costOff bool) (relation int, rule uint8) {
	o := at(now)
	if costOff {
		o.Flags |= core.OptionsPodDeletionCostOff
	}
	relation, rule, err := engine.Current.Upstream(a, b, o)
	if err != nil {
		panic(err)
	}
	return relation, rule
}

// RuleName is the name of a rule's number, "" if it has none.
func RuleName(rule uint8) string { return C.GoString(C.podrank_rule_str(C.uint8_t(rule))) }

// UpstreamSort sorts a list of indices as kube-controller-manager does.
func UpstreamSort(pods []Pod, list []uint32, now int64) {
	options := at(now)
	o := C.podrank_options{size: C.sizeof_podrank_options, flags: C.uint32_t(options.Flags), now: C.int64_t(options.Now)}
	scratch := make([]core.OddsScratch, len(list))
	must(C.podrank_upstream_sort(records(pods), C.size_t(len(pods)), &o,
		(*C.uint32_t)(unsafe.SliceData(list)), C.size_t(len(list)),
		(*C.podrank_odds_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch))))
}

// at is Kubernetes' options at a moment, core.TimeUnset for none.
func at(now int64) core.Options {
	if now == core.TimeUnset {
		return core.Options{}
	}
	return core.Options{Flags: core.OptionsNow, Now: now}
}

// CountRanks gives each pod the number of pods and others on its node. All
// nodes of assigned pods are below the given number of them.
func CountRanks(pods, others []Pod, nodes int) {
	counts := make([]uint32, nodes)
	must(C.podrank_count_ranks(records(pods), C.size_t(len(pods)), records(others), C.size_t(len(others)),
		(*C.uint32_t)(unsafe.SliceData(counts)), C.size_t(nodes)))
}

// DeletionCost reads the text of the annotation.
func DeletionCost(text string) (int32, error) {
	var cost C.int32_t
	if err := status(C.podrank_deletion_cost_parse(chars(text), C.size_t(len(text)), &cost)); err != nil {
		return 0, err
	}
	return int32(cost), nil
}

func parseUID(text string) (uid [16]byte, err error) {
	err = status(C.podrank_uid_parse(chars(text), C.size_t(len(text)), (*C.uint8_t)(&uid[0]), C.size_t(len(uid))))
	return uid, err
}

func parsePhase(text string) (uint8, error) {
	var phase C.uint8_t
	err := status(C.podrank_phase_parse(chars(text), C.size_t(len(text)), &phase))
	return uint8(phase), err
}

func timeFromUnix(seconds int64, nanoseconds int) int64 {
	var t C.int64_t
	must(C.podrank_time_from_unix(C.int64_t(seconds), C.uint32_t(nanoseconds), &t))
	return int64(t)
}

func records(pods []Pod) *C.podrank_pod {
	return (*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(pods)))
}

func chars(s string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(s))) }

func status(s C.int32_t) error {
	if s == C.PODRANK_OK {
		return nil
	}
	return errors.New(C.GoString(C.podrank_status_str(s)))
}

func must(s C.int32_t) {
	if err := status(s); err != nil {
		panic("podrank: " + err.Error())
	}
}
