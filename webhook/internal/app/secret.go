package app

import (
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// withOneSecret is the manager with a configuration that lists and watches one Secret of the namespace instead of all. So the library
// that makes certificates, which caches all Secrets of a namespace, needs the right to this one alone.
func withOneSecret(mgr manager.Manager, namespace string) manager.Manager {
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return oneSecret{next, "/api/v1/namespaces/" + namespace + "/secrets"}
	})
	return configured{mgr, config}
}

type configured struct {
	manager.Manager
	config *rest.Config
}

func (c configured) GetConfig() *rest.Config { return c.config }

// oneSecret names the Secret in requests for the path of all.
type oneSecret struct {
	http.RoundTripper
	path string
}

func (o oneSecret) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, o.path) {
		request = request.Clone(request.Context())
		query := request.URL.Query()
		query.Set("fieldSelector", "metadata.name="+Secret)
		request.URL.RawQuery = query.Encode()
	}
	return o.RoundTripper.RoundTrip(request)
}
