package shown

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

// Artifact Hub reads annotations of the chart as YAML, and shows nothing of one that it cannot read. Its fields are those that its documentation names.
func TestArtifactHub(t *testing.T) {
	var chart struct {
		AppVersion  string
		Annotations map[string]string
	}
	read(t, "../../chart/Chart.yaml", &chart, func(text []byte, to any) error { return yaml.Unmarshal(text, to) })
	annotation := func(name string, to any) {
		t.Helper()
		if err := yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/"+name]), to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	categories := []string{"ai-machine-learning", "database", "integration-delivery", "monitoring-logging", "networking", "security", "storage", "streaming-messaging"}
	if category := chart.Annotations["artifacthub.io/category"]; !slices.Contains(categories, category) {
		t.Errorf("%q is not a category of Artifact Hub", category)
	}
	var images []struct {
		Name, Image string
		Platforms   []string
	}
	if annotation("images", &images); len(images) != 1 || images[0].Image != "ghcr.io/podrank/podrank-webhook:"+chart.AppVersion {
		t.Errorf("images: %v", images)
	}
	var links []struct{ Name, URL string }
	if annotation("links", &links); len(links) == 0 {
		t.Error("no links")
	}
	var kinds []struct{ Kind, Version, Name, DisplayName, Description string }
	if annotation("crds", &kinds); len(kinds) != 1 || kinds[0].Version != v1alpha1.GroupVersion.Version {
		t.Errorf("crds: %v", kinds)
	}
	var examples []v1alpha1.ScaleDownPolicy
	if annotation("crdsExamples", &examples); len(examples) != 1 || examples[0].Kind != kinds[0].Kind || len(examples[0].Spec.DeleteFirst) == 0 {
		t.Errorf("crdsExamples: %v", examples)
	}
}
