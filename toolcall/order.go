package toolcall

import (
	"bytes"
	"slices"
)

// orderer sorts the members of every object in a compact JSON text, in place:
// no value changes its length, so an object is put in order once its members
// are. It leaves names alone that are not plain ASCII, whose order RFC 8785
// takes from UTF-16, and says so.
type orderer struct {
	text    []byte
	members []member // of the objects around the place that is read
	moved   []byte   // the members of one object in their new order
	odd     bool     // a name was met that it can't compare
}

// member is where a member of an object stands.
type member struct{ start, nameEnd, end int }

// value puts the value at i in order and returns the index after it.
func (o *orderer) value(i int) int {
	switch o.text[i] {
	case '{':
		return o.object(i + 1)
	case '[':
		return o.array(i + 1)
	case '"':
		return afterString(o.text, i+1)
	}
	for i < len(o.text) && o.text[i] != ',' && o.text[i] != ']' && o.text[i] != '}' {
		i++
	}
	return i
}

func (o *orderer) array(i int) int {
	for o.text[i] != ']' {
		if o.text[i] == ',' {
			i++
		}
		i = o.value(i)
	}
	return i + 1
}

func (o *orderer) object(i int) int {
	outer := len(o.members)
	for o.text[i] != '}' {
		if o.text[i] == ',' {
			i++
		}
		nameEnd := afterString(o.text, i+1)
		end := o.value(nameEnd + 1)
		o.members = append(o.members, member{i, nameEnd, end})
		i = end
	}
	o.sort(o.members[outer:])
	o.members = o.members[:outer]
	return i + 1
}

func (o *orderer) sort(members []member) {
	for _, m := range members {
		o.odd = o.odd || !plainName(o.name(m))
	}
	inOrder := func(a, b member) int { return bytes.Compare(o.name(a), o.name(b)) }
	if o.odd || slices.IsSortedFunc(members, inOrder) {
		return
	}
	start := members[0].start
	slices.SortFunc(members, inOrder)
	o.moved = o.moved[:0]
	for i, m := range members {
		if i > 0 {
			o.moved = append(o.moved, ',')
		}
		o.moved = append(o.moved, o.text[m.start:m.end]...)
	}
	copy(o.text[start:], o.moved)
}

// name is without its quotes, since a quote sorts after a space.
func (o *orderer) name(m member) []byte { return o.text[m.start+1 : m.nameEnd-1] }

func plainName(name []byte) bool {
	for _, c := range name {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}
