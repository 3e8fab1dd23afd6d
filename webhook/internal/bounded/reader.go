package bounded

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errTooLarge = fmt.Errorf("the answer has more than %d MiB", AnswerBytes>>20)

// Config returns the configuration of a client whose requests fail if their answers are too large. Watches have no such end.
func Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next} })
	return config
}

type transport struct{ next http.RoundTripper }

// RoundTrip reads the whole answer, so that the error is one of the request, and not logged as one of a broken connection.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil || request.URL.Query().Has("watch") {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, AnswerBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > AnswerBytes {
		return nil, errTooLarge
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// A Reader reads for a few at a time, in the order in which they come. They also compute with it, if that takes long.
type Reader struct {
	// From is for who is alone.
	From  client.Reader
	turns *semaphore.Weighted
}

// NewReader reads from a client that was made with Config, so many answers at a time.
func NewReader(from client.Reader, atATime int64) *Reader {
	return &Reader{from, semaphore.NewWeighted(atATime)}
}

// Alone calls do, while the number of simultaneous calls is limited.
func (r *Reader) Alone(ctx context.Context, do func() error) error {
	if err := r.turns.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.turns.Release(1)
	return do()
}

// Get reads an object.
func (r *Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	return r.Alone(ctx, func() error { return r.From.Get(ctx, key, object) })
}

// Each reads the items of a list, which is passed empty, and calls use for each. A small list is read in one request,
// which the API server answers from its cache. A larger one is read page by page, in the order of names, and other
// reads have their turn between pages. Each returns the first error. Of the list, it only sets the resource version.
func Each[T runtime.Object](ctx context.Context, r *Reader, list client.ObjectList, use func(T) error, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	for {
		err := r.Alone(ctx, func() error {
			page := list.DeepCopyObject().(client.ObjectList)
			if err := r.From.List(ctx, page, asked); err != nil {
				return err
			}
			asked.Continue = page.GetContinue()
			list.SetResourceVersion(page.GetResourceVersion())
			return meta.EachListItem(page, func(item runtime.Object) error { return use(item.(T)) })
		})
		switch {
		case errors.Is(err, errTooLarge) && asked.Limit != 1:
			asked.Limit = max(1, cmp.Or(asked.Limit, 4*Page)/4)
		case err != nil:
			return err
		case asked.Continue == "":
			return nil
		default:
			// Only a few may have been so large.
			asked.Limit = min(2*asked.Limit, Page)
		}
	}
}

// Short cuts a text that may have names of any length in it.
func Short(text string) string {
	if len(text) > NoteBytes {
		return strings.ToValidUTF8(text[:NoteBytes-len("…")], "") + "…"
	}
	return text
}
