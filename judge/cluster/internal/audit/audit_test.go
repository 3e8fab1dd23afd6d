package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestEvents reads what kube-apiserver writes about one request of podrank.
func TestEvents(t *testing.T) {
	const line = `{"stage":"ResponseComplete","verb":"update","user":{"username":"admin"},"impersonatedUser":{"username":"podrank"},` +
		`"userAgent":"kubectl/v1","requestURI":"%s","objectRef":{"resource":"deployments","subresource":"scale","namespace":"n"},` +
		`"responseStatus":{"code":%d},"requestObject":%s,"responseObject":{"metadata":{"name":"web"}}}`
	for _, c := range []struct {
		uri  string
		code int
		sent string
		want string
	}{
		{"/apis", 200, `{"kind":"Scale","spec":{"replicas":3}}`, "podrank update deployments/scale web 3"},
		{"/apis", 200, `{"kind":"Scale","spec":{}}`, "podrank update deployments/scale web 0"},
		{"/apis", 200, `{"kind":"Deployment","spec":{"paused":true}}`, "podrank update deployments/scale web"},
		{"/apis", 200, `[{"op":"add","path":"/metadata/labels","value":{}}]`, "podrank update deployments/scale web"},
		{"/apis", 403, `{}`, ""},
		{"/apis?dryRun=All", 200, `{}`, ""},
	} {
		file := filepath.Join(t.TempDir(), "audit.log")
		text := fmt.Sprintf(line, c.uri, c.code, c.sent) + "\n" + `{"stage":"Respo`
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, event := range Open(file).Of("n") {
			got += fmt.Sprintf("%s %s %s %s", event.User, event.Verb, event.Resource, event.Name)
			if event.Replicas != nil {
				got += fmt.Sprintf(" %d", *event.Replicas)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", text, got, c.want)
		}
	}
}
