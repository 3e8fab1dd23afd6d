// Package podrank asks what the Go module has no function for: it calls libpodrank, the library that is judged, through its C header,
// and functions of the module that nobody else can call. It is the judge's own and no Go API of podrank: it panics where a call fails,
// as only a mistake of the judge's makes one fail.
//
// The library is the one that the Go module brings: `make -C .. archives` makes
// it. Go's build cache does not look into it: after a change of the library
// `go test -count=1` and `go build -o` a new file link again, but `go run` runs
// the old program.
package podrank

/*
#cgo CFLAGS: -I${SRCDIR}/../../../../go/internal/cpodrank
#cgo linux,amd64 LDFLAGS: ${SRCDIR}/../../../../go/internal/cpodrank/libpodrank_linux_amd64.a
#cgo linux,arm64 LDFLAGS: ${SRCDIR}/../../../../go/internal/cpodrank/libpodrank_linux_arm64.a
#define PODRANK_UNSTABLE
#include "podrank.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	_ "github.com/podrank/podrank/go" // For the linker.
	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
)

// Pod is a podrank_pod: its layout is asserted where it is defined.
type Pod = core.Pod

//go:linkname fill github.com/podrank/podrank/go.fill
func fill(record *Pod, pod *v1.Pod, labels bool) (isUUID bool)

// Time is a timestamp as the module counts it; Go's zero time is core.TimeUnset.
//
//go:linkname Time github.com/podrank/podrank/go.nanos
func Time(t *metav1.Time) int64

// Record is what the module reads of an active pod, with its rank.
func Record(pod *v1.Pod, rank int) (record Pod) {
	if !fill(&record, pod, true) {
		panic("no UUID: " + pod.UID)
	}
	record.Rank = uint32(rank)
	return record
}

// Upstream returns the core's version of Kubernetes' comparison at a time, core.TimeUnset for one without age buckets:
// -1 if a is before b, 1 if b is before a, 0 if neither is, and the number of the rule that decides.
func Upstream(a, b *Pod, now int64, costOff bool) (relation int, rule uint8) {
	o := at(now)
	if costOff {
		o.Flags |= core.OptionsPodDeletionCostOff
	}
	relation, rule, err := engine.Current.Kubernetes(a, b, o)
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
	scratch := make([]core.ProbabilityScratch, len(list))
	records := (*C.podrank_pod)(unsafe.Pointer(unsafe.SliceData(pods)))
	err := status(C.podrank_kubernetes_sort(records, C.size_t(len(pods)), &o,
		(*C.uint32_t)(unsafe.SliceData(list)), C.size_t(len(list)),
		(*C.podrank_probability_scratch)(unsafe.Pointer(unsafe.SliceData(scratch))), C.size_t(len(scratch))))
	if err != nil {
		panic(err)
	}
}

// at returns Kubernetes' options at a time, core.TimeUnset for none.
func at(now int64) core.Options {
	if now == core.TimeUnset {
		return core.Options{}
	}
	return core.Options{Flags: core.OptionsNow, Now: now}
}

// ModuleDeletionCost is how the module reads the text of the annotation.
//
//go:linkname ModuleDeletionCost github.com/podrank/podrank/go.deletionCost
func ModuleDeletionCost(text string) (cost int32, ok bool)

// DeletionCost is how the library reads the text of the annotation.
func DeletionCost(text string) (int32, error) {
	var cost C.int32_t
	chars := (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
	if err := status(C.podrank_deletion_cost_parse(chars, C.size_t(len(text)), &cost)); err != nil {
		return 0, err
	}
	return int32(cost), nil
}

func status(s C.int32_t) error {
	if s == C.PODRANK_OK {
		return nil
	}
	return errors.New(C.GoString(C.podrank_status_str(s)))
}
