package fakeapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A Case is a scale-down that was recorded on a real control plane, for tests without one. `make -C webhook/e2e record` records them again.
type Case struct {
	Name string `json:"name"`
	// Now is when the request came.
	Now time.Time `json:"now"`
	// Review is what the API server sent.
	Review json.RawMessage `json:"review"`
	// Objects is everything in the namespace before, and the nodes.
	Objects []json.RawMessage `json:"objects"`
	// Result is what became of it.
	Result string `json:"result"`
	// Costs are those that were written, by the names of pods.
	Costs map[string]string `json:"costs,omitempty"`
	// Deleted are the pods that Kubernetes deleted then.
	Deleted []types.UID `json:"deleted,omitempty"`
}

// Write writes a case to a directory.
func (c *Case) Write(dir string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, c.Name+".json"), append(text, '\n'), 0o644)
}

// ReadCases reads the cases of a directory.
func ReadCases(dir string) ([]*Case, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c := &Case{}
		if err := json.Unmarshal(text, c); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}
