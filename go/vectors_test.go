package podrank

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podrank/podrank/go/internal/core"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// readVectors reads a file of cases that all implementations share. They stand in the repository, not in the module.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "tests", "vectors", name))
	if _, checkout := os.Stat(filepath.Join("..", "Cargo.toml")); os.IsNotExist(err) && os.IsNotExist(checkout) {
		t.Skip("this is not a checkout of the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// vectors reads a file that is a list of cases.
func vectors[T any](t *testing.T, name string, least int) (cases []T) {
	t.Helper()
	readVectors(t, name, &cases)
	atLeast(t, least, len(cases))
	return cases
}

// atLeast checks that the lists of a file have as many cases.
func atLeast(t *testing.T, least int, counts ...int) {
	t.Helper()
	if slices.Min(counts) < least {
		t.Errorf("%d cases, and not %d of each", counts, least)
	}
}

// nanoseconds are a decimal string, or unset.
type nanoseconds struct{ *int64 }

func (n *nanoseconds) UnmarshalJSON(data []byte) error {
	text, err := strconv.Unquote(string(data))
	if err != nil {
		return err
	}
	value, err := strconv.ParseInt(text, 10, 64)
	n.int64 = &value
	return err
}

func (n nanoseconds) orUnset() int64 {
	if n.int64 == nil {
		return core.TimeUnset
	}
	return *n.int64
}

type vectorRecord struct {
	UID                                   string
	Assigned, Ready, Preferred            bool
	Phase                                 uint8
	Tier                                  uint16
	ReadyTime, CreationTime               nanoseconds
	DeletionCost                          int32
	Rank, Restarts, SidecarRestarts, Node uint32
}

func (v vectorRecord) record(t *testing.T) (record core.Pod) {
	t.Helper()
	record = core.Pod{
		ReadyTime: v.ReadyTime.orUnset(), CreationTime: v.CreationTime.orUnset(), DeletionCost: v.DeletionCost, Tier: v.Tier,
		Rank: v.Rank, Restarts: v.Restarts, SidecarRestarts: v.SidecarRestarts, Node: v.Node, Phase: v.Phase,
	}
	for flag, set := range map[uint8]bool{
		core.PodAssigned: v.Assigned, core.PodReady: v.Ready, core.PodPreferred: v.Preferred,
	} {
		if set {
			record.Flags |= flag
		}
	}
	if _, err := hex.Decode(record.UID[:], []byte(strings.ReplaceAll(v.UID, "-", ""))); err != nil {
		t.Fatal(err)
	}
	return record
}

func TestPodsJSON(t *testing.T) {
	for _, c := range vectors[struct {
		Name     string
		Pod      *corev1.Pod
		Record   *vectorRecord
		Inactive bool
		Error    string
	}](t, "pods.json", 40) {
		w := take(&NewRanker(WithPreferForScaleDown(true)).settings)
		err := w.load("active", []*corev1.Pod{c.Pod}, nil)
		switch {
		case c.Inactive:
			if !errors.Is(err, ErrInactive) {
				t.Errorf("%s: %v", c.Name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case c.Record == nil:
			// Its UID is not a UUID, which only Go accepts.
			var uid [16]byte
			if c.Pod.UID != "" && parseUID(&uid, c.Pod.UID) {
				t.Errorf("%s: no error", c.Name)
			}
		case w.records[0] != c.Record.record(t):
			t.Errorf("%s: got %+v, want %+v", c.Name, w.records[0], c.Record.record(t))
		}
	}
}

func TestUIDJSON(t *testing.T) {
	for _, c := range vectors[struct{ Text, Hex, Error string }](t, "uid.json", 20) {
		var uid [16]byte
		ok := parseUID(&uid, types.UID(c.Text))
		switch {
		case c.Text == "":
			if !ok || uid != [16]byte{} {
				t.Errorf("the empty UID: %t, %x", ok, uid)
			}
		case c.Error != "":
			if ok {
				t.Errorf("%q is taken for a UUID", c.Text)
			}
		case !ok || hex.EncodeToString(uid[:]) != c.Hex:
			t.Errorf("%q: %t, %x", c.Text, ok, uid)
		}
	}
}

// Every byte in every place of a UID: its 16 bytes are those of its digits, or it is refused.
func TestUIDBytes(t *testing.T) {
	const text = "0b9e6f4e-6f0c-4b0e-9d55-0e8d3f3c1a01"
	for i := range text {
		for b := range 256 {
			changed := []byte(text)
			changed[i] = byte(b)
			var got [16]byte
			ok := parseUID(&got, types.UID(string(changed)))
			if text[i] == '-' {
				if ok != (b == '-') {
					t.Errorf("%q: %t", changed, ok)
				}
				continue
			}
			if !strings.ContainsRune("0123456789abcdef", rune(b)) {
				if ok {
					t.Errorf("%q is taken for a UID", changed)
				}
				continue
			}
			want, _ := hex.DecodeString(strings.ReplaceAll(string(changed), "-", ""))
			if !ok || [16]byte(want) != got {
				t.Errorf("%q: %t, %x", changed, ok, got)
			}
		}
	}
}

func TestDeletionCostJSON(t *testing.T) {
	for _, c := range vectors[struct {
		Text  string
		Cost  int32
		Error string
	}](t, "deletion-cost.json", 30) {
		if cost, ok := deletionCost(c.Text); cost != c.Cost || ok != (c.Error == "") {
			t.Errorf("%q: %d, %t", c.Text, cost, ok)
		}
	}
}
