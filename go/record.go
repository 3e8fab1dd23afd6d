package podrank

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podrank/podrank/go/internal/core"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PreferForScaleDownLabel is the label that [WithPreferForScaleDown] reads.
const PreferForScaleDownLabel = "kubernetes.io/prefer-for-scale-down"

// blockSize is the number of pods that touch loads ahead: few enough to stay in the first-level cache.
const blockSize = 16

// touch loads what fill will read from these pods. A pod's fields are far apart, and mostly not in the caches. In short loops
// over many pods, the processor loads them in parallel, whereas fill would wait for one after the other.
func touch(pods []*corev1.Pod) (sum int) {
	for _, pod := range pods {
		if pod != nil {
			sum += len(pod.UID) + len(pod.Annotations) + len(pod.Spec.InitContainers) + len(pod.Spec.NodeName) +
				len(pod.Status.Phase) + len(pod.Status.Conditions) + len(pod.Status.ContainerStatuses) +
				len(pod.Status.InitContainerStatuses)
		}
	}
	for _, pod := range pods {
		if pod == nil {
			continue
		}
		if text := pod.UID; text != "" {
			sum += int(text[0]) + int(text[len(text)-1])
		}
		if name := pod.Spec.NodeName; name != "" {
			sum += int(name[0])
		}
		for i := range pod.Status.Conditions {
			sum += len(pod.Status.Conditions[i].Type)
		}
		sum += int(mostRestarts(pod.Status.ContainerStatuses))
		for i := range pod.Status.InitContainerStatuses {
			sum += int(pod.Status.InitContainerStatuses[i].RestartCount)
		}
	}
	return sum
}

// fill makes the record of an active pod, but for its node and rank, which depend on the others, and says whether its UID
// is a UUID.
func fill(record *core.Pod, pod *corev1.Pod, labels bool) (isUUID bool) {
	*record = core.Pod{
		CreationTime: nanos(&pod.CreationTimestamp),
		Restarts:     mostRestarts(pod.Status.ContainerStatuses),
	}
	switch pod.Status.Phase {
	case corev1.PodRunning:
		record.Phase = core.PhaseRunning
	case corev1.PodUnknown:
		record.Phase = core.PhaseUnknown
	}
	if pod.Spec.NodeName != "" {
		record.Flags |= core.PodAssigned
	}
	fillReady(record, pod)
	if text, ok := pod.Annotations[corev1.PodDeletionCost]; ok {
		// A cost that cannot be read counts as 0, as in Kubernetes.
		record.DeletionCost, _ = deletionCost(text)
	}
	if labels {
		if _, ok := pod.Labels[PreferForScaleDownLabel]; ok {
			record.Flags |= core.PodPreferred
		}
	}
	if len(pod.Status.InitContainerStatuses) > 0 {
		record.SidecarRestarts = sidecarRestarts(pod)
	}
	return parseUID(&record.UID, pod.UID)
}

// A Record is what the order reads of an active pod, but for its node and its name: 64 bytes without pointers. Records compare by ==.
// An event that changes neither a pod's record nor its node, nor whether it [IsActive], does not change the deletion order of the same
// pods, with two exceptions: [WithPreferForScaleDown] reads a label, and functions in other options can read any field. Which pods they
// are may change: [ClaimPod], the lister of [RelatedPods] and [Neighbours] read labels and owners.
type Record struct{ pod core.Pod }

// RecordOf returns the record of a pod, and an empty one for nil. It leaves out all labels, also [PreferForScaleDownLabel], and a UID
// that is not a UUID.
func RecordOf(pod *corev1.Pod) (record Record) {
	if pod != nil {
		fill(&record.pod, pod, false)
	}
	return record
}

// Slim returns a pod that every decision orders as this one, unless functions in options read other fields. It has nothing but the pod's
// name, version and node, what the pod's record is made of, and [PreferForScaleDownLabel]. It takes a few hundred bytes, however large
// the pod is. It lacks all other labels and the owners, so an informer's transform may return it only if [ClaimPod], [StatusOf],
// [Neighbours] and the lister of [RelatedPods] read other pods.
func Slim(pod *corev1.Pod) *corev1.Pod {
	if pod == nil {
		return nil
	}
	record := RecordOf(pod).pod
	slim := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
	}}
	slim.Spec.NodeName, slim.Status.Phase = pod.Spec.NodeName, pod.Status.Phase
	if text, ok := pod.Annotations[corev1.PodDeletionCost]; ok {
		slim.Annotations = map[string]string{corev1.PodDeletionCost: text}
	}
	if text, ok := pod.Labels[PreferForScaleDownLabel]; ok {
		slim.Labels = map[string]string{PreferForScaleDownLabel: text}
	}
	if record.Flags&core.PodReady != 0 {
		ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
		if record.ReadyTime != core.TimeUnset {
			ready.LastTransitionTime.Time = time.Unix(0, record.ReadyTime)
		}
		slim.Status.Conditions = []corev1.PodCondition{ready}
	}
	if record.Restarts > 0 {
		slim.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: int32(record.Restarts)}}
	}
	if record.SidecarRestarts > 0 {
		slim.Spec.InitContainers = slimSidecar
		slim.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: slimSidecar[0].Name, RestartCount: int32(record.SidecarRestarts)}}
	}
	return slim
}

var (
	always      = corev1.ContainerRestartPolicyAlways
	slimSidecar = []corev1.Container{{Name: "sidecar", RestartPolicy: &always}}
)

// fillReady says in the record whether the pod is ready, and since when.
func fillReady(record *core.Pod, pod *corev1.Pod) {
	record.ReadyTime = core.TimeUnset
	if isReady, since := readiness(pod); isReady {
		record.Flags |= core.PodReady
		record.ReadyTime = nanos(since)
	}
}

// readiness reports whether a pod is ready, and since when. Of several conditions, the first counts.
func readiness(pod *corev1.Pod) (isReady bool, since *metav1.Time) {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue, &condition.LastTransitionTime
		}
	}
	return false, nil
}

func mostRestarts(statuses []corev1.ContainerStatus) uint32 {
	most := int32(0)
	for i := range statuses {
		most = max(most, statuses[i].RestartCount)
	}
	return uint32(most)
}

func sidecarRestarts(pod *corev1.Pod) uint32 {
	most := int32(0)
	for i := range pod.Status.InitContainerStatuses {
		status := &pod.Status.InitContainerStatuses[i]
		if status.RestartCount > most && isSidecar(pod.Spec.InitContainers, status.Name) {
			most = status.RestartCount
		}
	}
	return uint32(most)
}

func isSidecar(containers []corev1.Container, name string) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// nanos returns a time in nanoseconds since the Unix epoch, saturated, or Unset for Go's zero time.
func nanos(at *metav1.Time) int64 {
	const second = 1_000_000_000
	if at.IsZero() {
		return core.TimeUnset
	}
	seconds, rest := at.Unix(), int64(at.Nanosecond())
	if seconds < 0 {
		// Counted back from the next second, so that no sum on the way to a time inside the range leaves it.
		seconds, rest = seconds+1, rest-second
	}
	const most = math.MaxInt64 / second
	if seconds > most || seconds == most && rest > math.MaxInt64%second {
		return math.MaxInt64
	}
	if seconds < -most || seconds == -most && rest < -(math.MaxInt64%second) {
		return core.TimeUnset + 1
	}
	return seconds*second + rest
}

// deletionCost reads the annotation as Kubernetes does: a base-10 int32 that is "0" or starts with "-" or a digit from 1 to
// 9. libpodrank does the same, but a call of C for every pod would take longer than everything else.
func deletionCost(text string) (cost int32, ok bool) {
	if text == "" || text[0] == '+' || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, false
	}
	return int32(number), true
}

// parseUID reads a UID of kube-apiserver: a lower-case UUID, whose bytes compare like its text. The empty UID of fakes and
// tests is 16 zero bytes, before all others, as "" is for Kubernetes. Any other text is none.
func parseUID(uid *[16]byte, text types.UID) (ok bool) {
	if text == "" {
		return true
	}
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	a, aOK := hex8(load4(text[0:]), load4(text[4:]))
	b, bOK := hex8(load4(text[9:]), load4(text[14:]))
	c, cOK := hex8(load4(text[19:]), load4(text[24:]))
	d, dOK := hex8(load4(text[28:]), load4(text[32:]))
	if !aOK || !bOK || !cOK || !dOK {
		return false
	}
	binary.LittleEndian.PutUint32(uid[0:], a)
	binary.LittleEndian.PutUint32(uid[4:], b)
	binary.LittleEndian.PutUint32(uid[8:], c)
	binary.LittleEndian.PutUint32(uid[12:], d)
	return true
}

// numberUIDs gives the records of pods, whose UIDs are not all UUIDs, the places of their UIDs among each other, as text: the
// same order as Kubernetes', for the records of one call.
func numberUIDs(records []core.Pod, pods []*corev1.Pod) {
	order := make([]int, len(pods))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(string(pods[a].UID), string(pods[b].UID)) })
	place := uint64(0)
	for i, index := range order {
		if i > 0 && pods[index].UID != pods[order[i-1]].UID {
			place++
		}
		records[index].UID = [16]byte{}
		binary.BigEndian.PutUint64(records[index].UID[8:], place)
	}
}

// load4 loads four bytes with one instruction.
func load4(text types.UID) uint32 {
	_ = text[3]
	return uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24
}

// hex8 parses eight lower-case hex digits in parallel, as the bytes of one number.
func hex8(first, second uint32) (value uint32, ok bool) {
	const ones = 0x0101010101010101
	x := uint64(first) | uint64(second)<<32
	// For each byte below 0x80, the sum has its top bit set if the byte is at least the character.
	reaches := func(c uint64) uint64 { return x + ones*(0x80-c) }
	digit := reaches('0') &^ reaches('9'+1)
	letter := reaches('a') &^ reaches('f'+1)
	ok = (digit|letter)&^x&(ones*0x80) == ones*0x80
	// The low four bits of a digit are 0 to 9. Those of a letter are 1 to 6, and only a letter has the bit 0x40.
	x = x&(ones*0xf) + x>>6&ones*9
	x = (x<<4 | x>>8) & 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16), ok
}
