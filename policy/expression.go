package policy

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// expression is a condition over one call, in CEL. It was checked against the
// types of its variables, and is bounded in what it may cost. Where it can't be
// evaluated (a param that is not there, a cost beyond the limit, an unknown
// history) it counts as so: a policy only tightens.
type expression struct {
	program cel.Program
	level   bool // it asks how far the conversation is trusted
	late    bool // it asks what only the store, or the past, can tell
	origin  bool
	history bool
}

// maxCost bounds one evaluation: some hundred microseconds.
const maxCost = 20_000

// maxExpr bounds its text.
const maxExpr = 4096

// environment has the variables that an expression may use. It is made once, and
// only where there is an expression.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("tool", cel.StringType),
		cel.Variable("params", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("level", cel.StringType),
		cel.Variable("origin", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("agent", cel.StringType),
		cel.Variable("session", cel.StringType),
		cel.Variable("iteration", cel.IntType),
		cel.Variable("history", cel.ListType(cel.StringType)),
	)
})

var (
	asksLevel   = regexp.MustCompile(`\blevel\b`)
	asksOrigin  = regexp.MustCompile(`\borigin\b`)
	asksHistory = regexp.MustCompile(`\bhistory\b`)
)

func compile(text string) (*expression, error) {
	if len(text) > maxExpr {
		return nil, fmt.Errorf("is longer than %d bytes", maxExpr)
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, problemIn(text, issues)
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("is %s and must be true or false: compare it with something", ast.OutputType())
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, err
	}
	e := &expression{program: program, level: asksLevel.MatchString(text), origin: asksOrigin.MatchString(text), history: asksHistory.MatchString(text)}
	e.late = e.origin || e.history
	return e, nil
}

// problemIn says what is wrong and where in the expression.
func problemIn(text string, issues *cel.Issues) error {
	all := issues.Errors()
	if len(all) == 0 {
		return errors.New("can't be read as an expression")
	}
	first := all[0]
	line, col := first.Location.Line(), first.Location.Column()
	lines := strings.Split(text, "\n")
	shown := ""
	if line >= 1 && line <= len(lines) {
		shown = fmt.Sprintf("\n  %s\n  %s^", lines[line-1], strings.Repeat(" ", max(0, col)))
	}
	return fmt.Errorf("%s (line %d, column %d of the expression)%s", first.Message, line, col+1, shown)
}

// facts of a call that expressions ask for, read once.
type asked struct {
	call   *toolcall.Call
	params map[string]any
	failed bool
}

func (a *asked) read() {
	if a.params != nil || a.failed {
		return
	}
	if err := json.Unmarshal(a.call.Params, &a.params); err != nil || a.params == nil {
		a.params, a.failed = map[string]any{}, len(a.call.Params) > 0
	}
}

// holds evaluates the expression at a level. What can't be told counts as so.
func (e *expression) holds(a *asked, level taint.Level, v *session.View) bool {
	a.read()
	if a.failed || e.history && (v == nil || v.History == nil) {
		return true
	}
	iteration := -1
	if n := a.call.Iteration(); n != nil {
		iteration = *n
	}
	vars := map[string]any{
		"tool": a.call.Tool, "params": a.params, "level": level.String(), "agent": a.call.Agent(),
		"session": a.call.Context.SessionKey, "iteration": iteration, "origin": map[string]string{}, "history": []string{},
	}
	if v != nil {
		vars["history"], vars["origin"] = v.History, origins(v.Origins)
	}
	out, _, err := e.program.Eval(vars)
	if err != nil {
		return true
	}
	so, ok := out.Value().(bool)
	return !ok || so
}

func origins(from session.Origins) map[string]string {
	out := make(map[string]string, len(from))
	for path, o := range from {
		out[path] = string(o.From)
	}
	return out
}
