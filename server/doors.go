package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// door is a path that is answered. One that ends in * is a prefix; one that ends
// in {name} is, too, and takes what follows, slashes included, for a name.
type door struct {
	path    string
	methods []string // nil: all there could be
	handle  http.HandlerFunc
}

var (
	get   = []string{http.MethodGet}
	post  = []string{http.MethodPost}
	known = []string{"CONNECT", "DELETE", "GET", "HEAD", "PATCH", "POST", "PROPFIND", "PUT", "TRACE", "REPORT", "OPTIONS"}
)

// doors are all there are. A request goes to the first one that takes it.
func (s *Server) doors() []door {
	all := []door{
		{s.o.Path, post, s.calls()},
		{beside(s.o.Path, "approve"), post, s.typedAnswers()},
		{beside(s.o.Path, "answered"), post, s.latePolls()},
	}
	owner := &ownerAPI{&s.o}
	if s.o.Loop != nil {
		all = append(all, door{beside(s.o.Path, "hooks/{name}"), post, s.loopEvents()})
	}
	if s.o.Graph != nil {
		all = append(all, door{"/api/graphs/{name}", get, owner.only(owner.graph)})
	}
	if s.o.Metrics != nil {
		all = append(all, door{"/metrics", get, s.o.Metrics.ServeHTTP})
	}
	if s.o.Page != nil {
		all = append(all, door{"/", get, toPage}, door{"/page", get, toPage}, door{pageRoot + "*", known, s.o.Page.ServeHTTP})
	}
	return append(all, door{"/healthz", get, healthz}, door{"/readyz", get, s.readyz},
		door{"/owner", nil, owner.all()}, door{"/owner/*", nil, owner.all()})
}

// asSent is a request's path with its escapes, as it came.
//
// There is no http.ServeMux here: it resolves escapes, takes HEAD for GET, and
// answers a path that could be written more simply with a redirect, which clients
// follow without the body that they signed.
func asSent(r *http.Request) string { return cmp.Or(r.URL.RawPath, r.URL.Path) }

// find is what answers a request. It notes the door in the request's pattern.
func (s *Server) find(doors []door, r *http.Request) http.HandlerFunc {
	path, allow := asSent(r), ""
	for i := range doors {
		d := &doors[i]
		name, leads := d.leads(path)
		if !leads {
			continue
		}
		if d.methods == nil || slices.Contains(d.methods, r.Method) {
			r.Pattern = d.path
			if name != "" {
				r.SetPathValue("name", name)
			}
			return d.handle
		}
		if allow == "" {
			r.Pattern, allow = d.path, "OPTIONS, "+strings.TrimSuffix(strings.Join(d.methods, ", "), ", OPTIONS")
		}
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if allow == "" {
			notFound(w, s.o.Path)
			return
		}
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		failed(w, http.StatusMethodNotAllowed)
	}
}

// leads reports whether a path is the door's, and the name in it.
func (d *door) leads(path string) (name string, ok bool) {
	if before, found := strings.CutSuffix(d.path, "*"); found {
		return "", strings.HasPrefix(path, before)
	}
	if before, found := strings.CutSuffix(d.path, "{name}"); found {
		name, ok = strings.CutPrefix(path, before)
		return name, ok && name != ""
	}
	return "", path == d.path
}

func notFound(w http.ResponseWriter, calls string) {
	plain(w, http.StatusNotFound, "Nothing is here. Calls go to POST "+calls+".\n")
}
