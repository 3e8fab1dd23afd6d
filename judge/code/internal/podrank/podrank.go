// Package podrank calls libpodrank, the library that is judged, through its C
// header. It is the judge's own and no Go API of podrank: it panics where a
// call fails, as only a mistake of the judge's makes one fail.
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

// The library keeps no pointer and calls nobody back: without this, every
// result of the millions of calls would be allocated.
#cgo noescape podrank_upstream
#cgo nocallback podrank_upstream
#cgo noescape podrank_decide
#cgo nocallback podrank_decide
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/podrank/podrank/go/internal/core"
)

// TimeUnset is no moment at all.
const TimeUnset = math.MinInt64

// The flags of a Pod.
const (
	Assigned  = C.PODRANK_POD_ASSIGNED
	Ready     = C.PODRANK_POD_READY
	Preferred = C.PODRANK_POD_PREFERRED
)

// Pod is a podrank_pod: its layout is asserted where it is defined.
type Pod = core.Pod

// Relation is what Kubernetes' comparator says of two pods.
type Relation int

// The relations of a to b.
const (
	Tie    Relation = C.PODRANK_UPSTREAM_TIE
	Before Relation = C.PODRANK_UPSTREAM_BEFORE
	After  Relation = C.PODRANK_UPSTREAM_AFTER
)

func (r Relation) String() string {
	switch r {
	case Tie:
		return "tie"
	case Before:
		return "before"
	case After:
		return "after"
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

// Rule names what settled two pods.
type Rule uint8

// The rules that the judge asks for by name.
const (
	RuleNone Rule = C.PODRANK_RULE_NONE
	RuleUID  Rule = C.PODRANK_RULE_UID
)

func (r Rule) String() string {
	if name := C.podrank_rule_str(C.uint8_t(r)); name != nil {
		return C.GoString(name)
	}
	return "none"
}

// Policy is how to decide.
type Policy struct {
	Now     int64 // TimeUnset: times compare as they are
	CostOff bool  // the feature gate PodDeletionCost is off
}

func (p Policy) options() C.podrank_options {
	o := C.podrank_options{size: C.sizeof_podrank_options}
	if p.Now != TimeUnset {
		o.flags |= C.PODRANK_OPTIONS_NOW
		o.now = C.int64_t(p.Now)
	}
	if p.CostOff {
		o.flags |= C.PODRANK_OPTIONS_POD_DELETION_COST_OFF
	}
	return o
}

// Upstream is what the library takes Kubernetes' comparator to say.
func Upstream(a, b *Pod, p Policy) (Relation, Rule) {
	o := p.options()
	var relation C.int32_t
	var rule C.uint8_t
	must(C.podrank_upstream(one(a), one(b), &o, &relation, &rule))
	return Relation(relation), Rule(rule)
}

// Decide is podrank's own order: negative if a goes first, and by which rule.
func Decide(a, b *Pod, p Policy) (int, Rule) {
	o := p.options()
	var ordering C.int32_t
	var rule C.uint8_t
	must(C.podrank_decide(one(a), one(b), &o, &ordering, &rule))
	return int(ordering), Rule(rule)
}

// Select returns the indices of the first k pods in podrank's order.
func Select(pods []Pod, k int, p Policy) []uint32 {
	o := p.options()
	victims := make([]uint32, k)
	var selected C.size_t
	must(C.podrank_select(records(pods), C.size_t(len(pods)), &o,
		indices(victims), C.size_t(k), nil, 0, &selected))
	return victims[:selected]
}

// Settled is what Kubernetes' comparator determines of a scale-down.
type Settled struct {
	Certain   []uint32 // go whatever the order of the list
	Contested []uint32 // Quota of these go
	Safe      []uint32 // stay whatever the order of the list
	Quota     int
}

// Settle tells apart who surely goes and who surely stays when k pods go.
func Settle(pods []Pod, k int, p Policy) Settled {
	o := p.options()
	order, scores := make([]uint32, len(pods)), make([]uint64, len(pods))
	var certain, contested C.size_t
	must(C.podrank_settle(records(pods), C.size_t(len(pods)), &o, C.size_t(k),
		indices(order), C.size_t(len(order)),
		(*C.uint64_t)(unsafe.SliceData(scores)), C.size_t(len(scores)), &certain, &contested))
	s := Settled{
		Certain:   order[:certain],
		Contested: order[certain : certain+contested],
		Safe:      order[certain+contested:],
	}
	if contested > 0 {
		s.Quota = k - int(certain)
	}
	return s
}

// UpstreamSort sorts a list of indices as kube-controller-manager does.
func UpstreamSort(pods []Pod, list []uint32, p Policy) {
	o := p.options()
	scratch := make([]core.OddsScratch, len(list))
	must(C.podrank_upstream_sort(records(pods), C.size_t(len(pods)), &o, indices(list), C.size_t(len(list)),
		(*C.podrank_odds_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch))))
}

// CountRanks gives each pod the number of pods and others on its node. All
// nodes of assigned pods are below the given number of them.
func CountRanks(pods, others []Pod, nodes int) {
	counts := make([]uint32, nodes)
	must(C.podrank_count_ranks(records(pods), C.size_t(len(pods)), records(others), C.size_t(len(others)),
		indices(counts), C.size_t(nodes)))
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

func one(p *Pod) *C.podrank_pod { return (*C.podrank_pod)(unsafe.Pointer(p)) }

func records(pods []Pod) *C.podrank_pod { return one(unsafe.SliceData(pods)) }

func indices(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }

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
