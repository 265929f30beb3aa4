package server

import (
	"net/http"

	"github.com/openclaw-verifier/verifier/approval"
)

type probedChannel struct {
	Channel string `json:"channel"`
	Who     string `json:"who,omitzero"`
	Error   string `json:"error,omitzero"`
	Deaf    string `json:"deaf,omitzero"`
	Asked   bool   `json:"asked"`
	Sent    bool   `json:"sent"`
}

// saidHello is a runtime whose plugin has said that it is loaded.
type saidHello struct {
	Name  string `json:"name"`
	Text  string `json:"text,omitzero"`
	Fault string `json:"fault,omitzero"`
}

// test asks each channel how it is doing, and shows a card on it if the owner
// wants to see one.
func (a *ownerAPI) test(w http.ResponseWriter, r *http.Request, id string) {
	var in struct {
		Send bool `json:"send"`
	}
	if !decodeBody(r, &in) {
		respond(w, http.StatusUnprocessableEntity, outcomeBody{Kind: kinds[approval.Misunderstood], Text: "The request could not be read."})
		return
	}
	probed, err := a.o.Desk.Probe(r.Context(), id, in.Send)
	if err != nil {
		a.unavailable(w, r, err)
		return
	}
	out := struct {
		Channels []probedChannel `json:"channels"`
		Runtimes []saidHello     `json:"runtimes"`
	}{Channels: []probedChannel{}, Runtimes: []saidHello{}}
	if a.o.Runtimes != nil {
		for _, r := range a.o.Runtimes() {
			good, fault := r.Says(a.o.Now())
			out.Runtimes = append(out.Runtimes, saidHello{r.Name, good, fault})
		}
	}
	for _, p := range probed {
		out.Channels = append(out.Channels, probedChannel{p.Channel, p.Who, text(p.Err), text(p.ListenErr), p.Asked, p.Sent})
	}
	respond(w, http.StatusOK, out)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
