package bounded

import "strings"

// Short cuts a text that may have names of any length in it.
func Short(text string) string {
	if len(text) > NoteBytes {
		return strings.ToValidUTF8(text[:NoteBytes-len("…")], "") + "…"
	}
	return text
}
