package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A previewer asks one process of the preview many questions, about objects as kubectl prints them. Only one goroutine
// may use it at a time.
type previewer struct {
	in  *bufio.Writer
	out *bufio.Reader
}

func newPreviewer(t *testing.T) (*previewer, error) {
	// cargo builds it from the preview as it is now, with what all default members ask of their dependencies, as `cargo test` does. A relative CARGO_TARGET_DIR is one of the workspace's root.
	program := exec.Command("cargo", "run", "--quiet", "--bin", "podrank-answer")
	program.Dir = "../.."
	program.Stderr = os.Stderr
	in, inErr := program.StdinPipe()
	out, outErr := program.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	if err := program.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), program.Wait()); err != nil {
			t.Error(err)
		}
	})
	return &previewer{in: bufio.NewWriterSize(in, 1<<16), out: bufio.NewReaderSize(out, 1<<16)}, nil
}

// A question is what to ask about objects. The fields are those of podrank-answer.
type question struct {
	Workload string          `json:"workload"`
	Now      time.Time       `json:"now"`
	Counts   []int32         `json:"counts,omitempty"`
	Partial  bool            `json:"partial,omitempty"`
	Gates    map[string]bool `json:"gates,omitempty"`
}

// A list is what kubectl prints of objects of one kind.
type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      any    `json:"items"`
}

// A preview is what judges read of docs/schemas/ScaleDownPreview.json.
type preview struct {
	Error     string
	Deletions bounds
	Complete  bool
	NextSync  struct{ Path string }
	Notes     []struct{ Code, Text string }
	Groups    []groupPreview
	Steps     []struct{ ReplicaSets []setStep }
}

type bounds struct{ Min, Max uint32 }

type podPreview struct {
	Name, Verdict string
	Reason        struct {
		Rule, Text string
		Deletions  bounds
		Pods       uint32
		WaitsFor   struct{ Pod string }
	}
}

// The next sync of a Deployment leaves a group without a reason alone.
type groupPreview struct {
	ReplicaSet    *string
	IsNew         bool
	From, To      int32
	Reason        *struct{ Rule, Text string }
	ReplicasAtEnd bounds
	Pods          []podPreview
}

type setStep struct {
	ReplicaSet *string
	From, To   int32
}

// raw returns the answers as JSON.
func (p *previewer) raw(q question, lists ...list) ([]byte, error) {
	for _, value := range append([]any{q}, anys(lists)...) {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if _, err := p.in.Write(text); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(p.in.WriteByte('\n'), p.in.Flush()); err != nil {
		return nil, err
	}
	line, err := p.out.ReadBytes('\n')
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// answers returns a preview for each count.
func (p *previewer) answers(q question, lists ...list) ([]preview, error) {
	line, err := p.raw(q, lists...)
	if err != nil {
		return nil, err
	}
	var previews []preview
	if err := json.Unmarshal(line, &previews); err != nil {
		return nil, err
	}
	for _, preview := range previews {
		if preview.Error != "" {
			return nil, fmt.Errorf("the preview says: %s", preview.Error)
		}
	}
	return previews, nil
}

// pods are those of all groups.
func (p *preview) pods() (all []podPreview) {
	for _, group := range p.Groups {
		all = append(all, group.Pods...)
	}
	return all
}

// ask returns the preview for the count of the object.
func (p *previewer) ask(q question, lists ...list) (*preview, error) {
	previews, err := p.answers(q, lists...)
	if err != nil {
		return nil, err
	}
	return &previews[0], nil
}

// note returns the text of a note, or "" if there is none with this code.
func (p *preview) note(code string) string {
	var texts []string
	for _, note := range p.Notes {
		if note.Code == code {
			texts = append(texts, note.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func anys[T any](values []T) (all []any) {
	for _, value := range values {
		all = append(all, value)
	}
	return all
}

// uid is that of the object with this number: the preview reads no pod without a UUID.
func uid(number int) types.UID {
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", number))
}
