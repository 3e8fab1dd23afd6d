package bounded_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// A text is cut between characters.
func TestShort(t *testing.T) {
	for _, head := range []string{"", "a", "aa"} {
		got := bounded.Short(head + strings.Repeat("…", bounded.NoteBytes))
		if len(got) > bounded.NoteBytes || len(got) < bounded.NoteBytes-3 || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
	if whole := strings.Repeat("a", bounded.NoteBytes); bounded.Short(whole) != whole {
		t.Error("a text that fits is cut")
	}
}
