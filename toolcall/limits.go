package toolcall

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"
)

// checkLimits bounds what the decoder will be given, in one pass that allocates
// nothing. It need not understand what is no JSON: whatever it passes over
// there, the decoder refuses afterwards.
func checkLimits(body []byte, most int) error {
	if len(body) > most {
		return malformed("The body must be at most " + strconv.Itoa(most>>20) + " MiB.")
	}
	if !utf8.Valid(body) {
		return malformed("The body must be valid UTF-8.")
	}
	return checkTokens(body)
}

func checkTokens(body []byte) error {
	depth := 0
	for i := 0; i < len(body); {
		switch b := body[i]; {
		case b == '"':
			i = AfterString(body, i+1)
			continue
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case b == '-' || '0' <= b && b <= '9':
			end := AfterNumber(body, i+1)
			if err := checkNumber(body[i:end]); err != nil {
				return err
			}
			i = end
			continue
		}
		if depth > MaxDepth {
			return malformed("The body must be nested at most 100 levels deep.")
		}
		i++
	}
	return nil
}

// AfterString returns the index after the quote that ends the string whose
// inside starts at i: the first one behind an even number of backslashes.
func AfterString(body []byte, i int) int {
	start := i
	for {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return len(body)
		}
		i += n + 1
		if backslashes(body[start:i-1])%2 == 0 {
			return i
		}
	}
}

// backslashes counts those at the end of b.
func backslashes(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// AfterNumber returns the index after the number that is at i.
func AfterNumber(body []byte, i int) int {
	for i < len(body) {
		switch b := body[i]; {
		case '0' <= b && b <= '9', b == '.', b == '-', b == '+', b == 'e', b == 'E':
			i++
		default:
			return i
		}
	}
	return i
}

// checkNumber refuses a number that some reader could not hold. Without an
// exponent, the length alone keeps a number finite.
func checkNumber(literal []byte) error {
	if len(literal) > MaxNumber {
		return malformed("A number must be at most 64 characters long.")
	}
	if !bytes.ContainsAny(literal, "eE") {
		return nil
	}
	if _, err := strconv.ParseFloat(string(literal), 64); errors.Is(err, strconv.ErrRange) {
		return malformed("A number must be finite as a 64-bit float.")
	}
	return nil
}
