package judge

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller/deployment/util"

	"github.com/podrank/podrank/go/judge/internal/vectors"
)

// tests/vectors/templates.json says what the Deployment controller says.
func TestTemplatesAreEqualToTheController(t *testing.T) {
	var cases []struct {
		Name      string
		Templates [2]corev1.PodTemplateSpec
		Equal     bool
	}
	if err := vectors.Read("templates.json", &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if equal := util.EqualIgnoreHash(&c.Templates[0], &c.Templates[1]); equal != c.Equal {
			t.Errorf("%s: equal is %v", c.Name, equal)
		}
	}
	if len(cases) < 20 {
		t.Errorf("%d cases", len(cases))
	}
}
