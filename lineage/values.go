package lineage

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of single values, so that no text takes longer than its length.
const (
	maxURL         = 2048
	maxURLsInChunk = 16
	maxScheme      = 16
	maxLocal       = 64
	maxDomain      = 255
)

// scan is the search for values in one text.
type scan struct {
	*folded
	taken []bool
	found []item
}

// scanValues finds everything but word runs, in order.
func scanValues(f *folded) []item {
	s := &scan{folded: f, taken: make([]bool, len(f.chars))}
	for from := 0; from < len(s.chars); from++ {
		to := from
		for to < len(s.chars) && !isSeparator(s.chars[to]) {
			to++
		}
		if to > from {
			s.chunk(from, to)
		}
		from = to
	}
	s.numbers()
	slices.SortStableFunc(s.found, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(order[a.kind], order[b.kind]))
	})
	return s.found
}

func (s *scan) add(kind Kind, value string, from, to int) {
	s.found = append(s.found, item{kind, value, from, to})
	for i := from; i < to; i++ {
		s.taken[i] = true
	}
}

func (s *scan) chunk(from, to int) {
	rest := s.urls(from, to)
	if !s.emails(from, rest) {
		s.pieces(from, rest)
	}
}

func isScheme(c rune) bool { return isAlnum(c) || in(c, "+.-") }

// urls finds every scheme://… in a chunk, one inside another's query as well,
// and returns where the first begins.
func (s *scan) urls(from, to int) int {
	first, count := to, 0
	for k := from; k+2 < to && count < maxURLsInChunk; k++ {
		if s.chars[k] != ':' || s.chars[k+1] != '/' || s.chars[k+2] != '/' {
			continue
		}
		count++
		start := k
		for start > from && k-start < maxScheme && isScheme(s.chars[start-1]) {
			start--
		}
		for start < k && !isLetter(s.chars[start]) {
			start++
		}
		if k-start < 2 {
			continue
		}
		value, host, end := s.url(start, k, min(to, k+maxURL))
		if host == "" {
			continue
		}
		s.add(URL, value, start, end)
		s.add(Host, host, start, end)
		first = min(first, start)
	}
	return first
}

// url brings a link into its normal form; no host means that it is none.
func (s *scan) url(start, colon, limit int) (value, host string, end int) {
	end = limit
	for end > colon && in(s.chars[end-1], ".:!?") {
		end--
	}
	scheme := s.lowered(start, colon)
	from := min(colon+3, end)
	path := from
	for path < end && !in(s.chars[path], "/?#") {
		path++
	}
	for i := from; i < path; i++ {
		if s.chars[i] == '@' {
			from = i + 1
		}
	}
	host, port := authority(s.lowered(from, path))
	if !isHost(host) {
		return "", "", end
	}
	hash := path
	for hash < end && s.chars[hash] != '#' {
		hash++
	}
	if port != "" && (scheme != "http" || port != "80") && (scheme != "https" || port != "443") {
		port = ":" + port
	} else {
		port = ""
	}
	rest := s.slice(path, hash)
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return scheme + "://" + host + port + rest, host, end
}

func authority(text string) (host, port string) {
	host = text
	if at := strings.LastIndexByte(text, ':'); at >= 0 && allDigits(text[at+1:]) {
		host, port = text[:at], text[at+1:]
	}
	return strings.TrimRight(host, "."), port
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isHost(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool { return c != '.' && c != '-' && !isName(c) })
}

func isLocal(c rune) bool  { return isAlnum(c) || in(c, "._%+-") }
func isDomain(c rune) bool { return isAlnum(c) || in(c, ".-") }

func (s *scan) emails(from, to int) (found bool) {
	for at := from; at < to; at++ {
		if s.chars[at] != '@' {
			continue
		}
		a := at
		for a > from && at-a <= maxLocal && isLocal(s.chars[a-1]) {
			a--
		}
		for a < at && s.chars[a] == '.' {
			a++
		}
		b := at + 1
		for b < to && b-at <= maxDomain && isDomain(s.chars[b]) {
			b++
		}
		for b > at+1 && in(s.chars[b-1], ".-") {
			b--
		}
		domain := s.lowered(at+1, b)
		if a == at || at-a > maxLocal || !isDotted(domain) {
			continue
		}
		s.add(Email, s.lowered(a, at)+"@"+domain, a, b)
		s.add(Host, domain, a, b)
		found = true
	}
	return found
}

// isDotted tells a name with dots whose last label is letters: a host, or a
// file with its ending.
func isDotted(name string) bool {
	labels := strings.Split(name, ".")
	for _, l := range labels {
		n := len([]rune(l))
		if n == 0 || n > 63 || strings.ContainsFunc(l, func(c rune) bool { return c != '-' && !isName(c) }) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(labels) >= 2 && len(last) >= 2 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == ""
}

func isIPv4(name string) bool {
	labels := strings.Split(name, ".")
	for _, l := range labels {
		n, err := strconv.Atoi(l)
		if err != nil || n > 255 || len(l) > 3 || !allDigits(l) {
			return false
		}
	}
	return len(labels) == 4
}

// pieces cuts a chunk once more, but leaves the colon of a drive letter.
func (s *scan) pieces(from, to int) {
	start := from
	for i := from; i <= to; i++ {
		if i < to && (!in(s.chars[i], "=:&?#!$%@") || s.isDrive(start, i, to)) {
			continue
		}
		if i > start {
			s.piece(start, i)
		}
		start = i + 1
	}
}

func (s *scan) isDrive(start, i, to int) bool {
	return s.chars[i] == ':' && i == start+1 && isLetter(s.chars[start]) && i+1 < to && s.chars[i+1] == '/'
}

func (s *scan) piece(from, to int) {
	if value, end := s.path(from, to); value != "" {
		s.add(Path, value, from, end)
		return
	}
	for from < to && in(s.chars[from], "._~+-/") {
		from++
	}
	for to > from && in(s.chars[to-1], "._~+-/") {
		to--
	}
	name := s.lowered(from, to)
	switch {
	case isDotted(name), isIPv4(name):
		s.add(Host, name, from, to)
	case isIBAN(name):
		s.add(Account, strings.ToUpper(name), from, to)
	case isID(name):
		s.add(ID, name, from, to)
	}
}

// path takes what has a slash and a letter, and starts like a path or has two
// segments.
func (s *scan) path(from, to int) (value string, end int) {
	if to-from > 1 && s.chars[to-1] == '.' && s.chars[to-2] != '.' {
		to-- // the end of a sentence, not ..
	}
	text := s.slice(from, to)
	if !strings.Contains(text, "/") || !strings.ContainsFunc(text, func(c rune) bool { return isLetter(c) || c >= 0x80 }) {
		return "", 0
	}
	var segments []string
	for seg := range strings.SplitSeq(text, "/") {
		if seg != "" && seg != "." {
			segments = append(segments, seg)
		}
	}
	least := 2
	if strings.Contains("/~.", text[:1]) || len(text) > 2 && isLetter(rune(text[0])) && text[1:3] == ":/" {
		least = 1
	}
	if len(segments) < least {
		return "", 0
	}
	value = strings.Join(segments, "/")
	if text[0] == '/' {
		value = "/" + value
	}
	return value, to
}

func isID(name string) bool {
	digit, letter := false, false
	for _, c := range name {
		switch {
		case isDigit(c):
			digit = true
		case 'a' <= c && c <= 'z':
			letter = true
		case !in(c, "_.~+-"):
			return false
		}
	}
	return digit && letter && len(name) >= 6 && len(name) <= 128 && !isMoney(name)
}
