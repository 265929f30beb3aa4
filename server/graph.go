package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/drawing"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/turns"
)

// Turns draws a turn by any of its names; the error is turns.ErrUnknown where none
// is remembered.
type Turns interface {
	Graph(ctx context.Context, name string) (*provenance.Graph, error)
}

// graph shows a turn to the owner. It says what the policy thinks of each call,
// so a client's secret does not open it.
func (a *ownerAPI) graph(w http.ResponseWriter, r *http.Request, _ string) {
	draw, known := formats[r.URL.Query().Get("format")]
	if !known {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The format must be json, text or svg."})
		return
	}
	ctx := r.Context()
	g, err := a.o.Turns.Graph(ctx, r.PathValue("name"))
	switch {
	case errors.Is(err, turns.ErrUnknown):
		respond(w, http.StatusNotFound, outcomeBody{Kind: kinds[approval.NotFound], Text: "No turn is remembered under this name."})
		return
	case err != nil:
		a.o.Log.ErrorContext(ctx, "a turn could not be read", "err", err)
		respond(w, http.StatusServiceUnavailable, outcomeBody{Kind: kinds[approval.Ignored], Text: "The store can't be reached. Try again."})
		return
	}
	body, kind, err := draw(g)
	if err != nil {
		a.o.Log.ErrorContext(ctx, "a turn could not be drawn", "err", err)
		failed(w, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox") // a picture that is opened by itself is a document
	write(w, http.StatusOK, kind, body)
}

// formats are how a turn can be drawn.
var formats = map[string]func(g *provenance.Graph) (body []byte, kind string, err error){
	"": asJSON, "json": asJSON,
	"text": func(g *provenance.Graph) ([]byte, string, error) {
		return []byte(drawing.Text(g)), textType, nil
	},
	"svg": func(g *provenance.Graph) ([]byte, string, error) {
		return []byte(drawing.SVG(g)), "image/svg+xml; charset=utf-8", nil
	},
}

func asJSON(g *provenance.Graph) ([]byte, string, error) {
	body, err := json.Marshal(g, jsontext.WithIndent("  "))
	return body, jsonType, err
}
