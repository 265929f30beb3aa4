package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed assets/*.css assets/*.js assets/*.svg assets/*.png
var assetFiles embed.FS

// file is an asset as it is sent. Nothing in it depends on who asks.
type file struct {
	body, packed []byte // packed: with gzip; nil where that is no shorter
	kind, sum    string
}

// assets are read and packed at the first request.
var assets = sync.OnceValue(func() map[string]file {
	out := make(map[string]file)
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err) // it is built in
	}
	for _, e := range entries {
		if body, err := assetFiles.ReadFile("assets/" + e.Name()); err == nil {
			out[e.Name()] = newFile(e.Name(), body)
		}
	}
	return out
})

func newFile(name string, body []byte) file {
	sum := sha256.Sum256(body)
	f := file{body: body, kind: mime.TypeByExtension(path.Ext(name)), sum: hex.EncodeToString(sum[:6])}
	switch path.Ext(name) { // a machine's own table may know fewer
	case ".js":
		f.kind = "text/javascript; charset=utf-8"
	case ".svg":
		f.kind = "image/svg+xml"
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err == nil && z.Close() == nil && b.Len() < len(body) {
		f.packed = b.Bytes()
	}
	return f
}

// assetURL names an asset by what is in it, so that it can be kept for ever.
func assetURL(name string) string { return Root + "assets/" + name + "?v=" + assets()[name].sum }

func (s *site) file(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := assets()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	if r.URL.Query().Get("v") == f.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := f.body
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	s.send(w, r, f.kind, body)
}

// manifest lets a phone put the page on its home screen.
func (s *site) manifest(w http.ResponseWriter, r *http.Request) {
	body, err := draw("manifest", nil)
	if err != nil {
		s.o.Log.ErrorContext(r.Context(), "the manifest could not be drawn", "err", err)
	}
	s.send(w, r, "application/manifest+json", body)
}
