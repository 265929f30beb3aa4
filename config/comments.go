package config

import "bytes"

// uncommented puts spaces in the place of comments as JSONC and JSON5 have them,
// // to the end of the line and /* … */, where the file is one object in braces:
// the examples of openclaw.json are written so. Lines and columns stay. In YAML in
// its usual form, // means nothing and stays. A comment begins where no word does:
// behind white space, a bracket, a comma or a quote.
func uncommented(text []byte) []byte {
	out := bytes.Clone(text)
	braces := false // the object has begun
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"' || c == '\'':
			i = endOfString(out, i)
			if !braces {
				return text
			}
			continue
		case startsComment(out, i):
			end := endOfComment(out, i)
			if end < 0 {
				return text
			}
			blank(out[i:end])
			i = end
			continue
		case c == '{':
			braces = true
		case !braces && !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			return text
		}
		i++
	}
	if !braces {
		return text
	}
	return out
}

func startsComment(text []byte, i int) bool {
	if text[i] != '/' || i+1 == len(text) || text[i+1] != '/' && text[i+1] != '*' {
		return false
	}
	return i == 0 || bytes.IndexByte([]byte(" \t\r\n,{}[]\"'"), text[i-1]) >= 0
}

// endOfComment is where the comment that begins at i has ended; -1 if it does not.
func endOfComment(text []byte, i int) int {
	mark := []byte("*/")
	if text[i+1] == '/' {
		mark = []byte("\n")
	}
	end := bytes.Index(text[i+2:], mark)
	switch {
	case end < 0 && text[i+1] == '/':
		return len(text)
	case end < 0:
		return -1
	case text[i+1] == '/':
		return i + 2 + end
	}
	return i + 2 + end + len(mark)
}

// endOfString is where the string that begins at i has ended.
func endOfString(text []byte, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}
