package command

import "strings"

// options are those that a program may be given. One that takes a value ends in a colon: -n: or --max-count:.
// "-#" is a dash and a number.
type options map[string]bool // whether it takes a value

func optionsOf(list string) options {
	all := strings.Fields(list)
	o := make(options, len(all))
	for _, w := range all {
		bare, takes := strings.CutSuffix(w, ":")
		o[bare] = takes
	}
	return o
}

// all takes the options out of the arguments. It reports false where one of them is not in the list, or may
// not be: an expansion can become an option.
func (o options) all(args []arg) (operands []arg, ok bool) {
	for i := 0; i < len(args); i++ {
		if args[i].text == "--" && args[i].fixed {
			return append(operands, args[i+1:]...), true
		}
		if !args[i].option() {
			if operands == nil {
				operands = make([]arg, 0, len(args)-i)
			}
			operands = append(operands, args[i])
			continue
		}
		takes, ok := o.has(&args[i])
		if !ok {
			return nil, false
		}
		if takes {
			if i++; i < len(args) && !args[i].value() {
				return nil, false
			}
		}
	}
	return operands, true
}

// leading takes the options before the first operand.
func (o options) leading(args []arg) (rest []arg, ok bool) {
	for len(args) > 0 && args[0].option() {
		if args[0].text == "--" {
			return args[1:], true
		}
		takes, ok := o.has(&args[0])
		if !ok {
			return nil, false
		}
		args = args[1:]
		if takes && len(args) > 0 {
			if !args[0].value() {
				return nil, false
			}
			args = args[1:]
		}
	}
	return args, true
}

// has reports whether an option is in the list, and whether its value is the next argument.
func (o options) has(a *arg) (takes, ok bool) {
	if a.bare || strings.HasPrefix(a.text, "\x00") {
		return false, false
	}
	head, _, valued := strings.Cut(a.text, "=")
	if t, in := o[head]; in && !strings.Contains(head, "\x00") {
		return t && !valued, true
	}
	if strings.HasPrefix(a.text, "--") || strings.HasPrefix(a.text, "-\x00") {
		return false, false
	}
	if o.hasNumber() && strings.Trim(a.text[1:], "0123456789") == "" {
		return false, true
	}
	for i := 1; i < len(a.text); i++ { // a cluster of letters
		t, in := o["-"+a.text[i:i+1]]
		if !in {
			return false, false
		}
		if t {
			return i == len(a.text)-1, true // the rest is its value
		}
	}
	return false, true
}

func (o options) hasNumber() bool { _, ok := o["-#"]; return ok }
