package bounded_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// Of each kind one, and what it looks like.
var escapes = map[string]string{
	"\x1b": `\u001b`, "\u009b": `\u009b`, "\u00ad": `\u00ad`, "\u034f": `\u034f`, "\u061c": `\u061c`, "\u200b": `\u200b`, "\u2028": `\u2028`,
	"\u202e": `\u202e`, "\u2066": `\u2066`, "\ufe0f": `\ufe0f`, "\ufeff": `\ufeff`, "\U000e0041": `\udb40\udc41`, "\U000e0100": `\udb40\udd00`,
}

func TestVisible(t *testing.T) {
	for char, escape := range escapes {
		if got := bounded.Visible("a" + char + "b"); got != "a"+escape+"b" {
			t.Errorf("%q is %s, not %s", char, got, escape)
		}
	}
	for _, text := range []string{"web-1", "a\nb\tc", "…", "e\u0301", "עברית"} {
		if got := bounded.Visible(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := bounded.Short("\u202e" + strings.Repeat("a", bounded.NoteBytes)); !strings.HasPrefix(got, `\u202ea`) || len(got) > bounded.NoteBytes {
		t.Errorf("a note begins with %.20q and has %d bytes", got, len(got))
	}
}

// A line of the log is JSON with the same texts.
func TestVisibleLog(t *testing.T) {
	var line bytes.Buffer
	zap.New(zap.WriteTo(bounded.VisibleTo(&line))).Info("web\u202e", "why", "\U000e0041\u009b")
	var said struct{ Msg, Why string }
	if err := json.Unmarshal(line.Bytes(), &said); err != nil || said.Msg != "web\u202e" || said.Why != "\U000e0041\u009b" {
		t.Errorf("%v: %q is %s", err, said, &line)
	}
	if strings.ContainsAny(line.String(), "\u202e\U000e0041\u009b") || strings.Count(line.String(), "\n") != 1 {
		t.Errorf("not one line of what can be seen: %q", &line)
	}
}
