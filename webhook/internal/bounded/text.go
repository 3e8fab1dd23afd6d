package bounded

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Short cuts a text that may have names of any length in it, and hides none of its characters.
func Short(text string) string { return Cut(Visible(text), NoteBytes) }

// Cut cuts a text to so many bytes.
func Cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// hidden is what a reader doesn't see, or what changes the order of the text around it.
var hidden = []*unicode.RangeTable{
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
}

func isHidden(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && unicode.In(r, hidden...) }

// Visible writes hidden characters as \uXXXX, as JSON does: names of objects have none, but what a metrics server or an administrator
// writes may. Line breaks and tabs stay.
func Visible(text string) string {
	if !strings.ContainsFunc(text, isHidden) {
		return text
	}
	var visible strings.Builder
	for _, r := range text {
		if !isHidden(r) {
			visible.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&visible, `\u%04x`, unit)
		}
	}
	return visible.String()
}

// VisibleTo is a writer to another one, for a log whose lines come in one piece each.
func VisibleTo(to io.Writer) io.Writer { return visibleWriter{to} }

type visibleWriter struct{ to io.Writer }

// Write returns the length of the line as it was given.
func (w visibleWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.to, Visible(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
