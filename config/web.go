package config

import (
	"net/url"
	"time"
)

// Web is the owner's page, which the server has below /page/.
type Web struct {
	// Enabled says whether there is a page. Default true.
	Enabled bool `yaml:"enabled"`
	// URL is where the owner opens it, such as https://verifier.lan, where it has
	// a name or a proxy does the TLS. Empty: by the server's address.
	URL string `yaml:"url"`
	// Session is how long a login is good. Default 168h.
	Session time.Duration `yaml:"session"`
}

// Address is URL, read; nil where there is none.
func (w Web) Address() *url.URL {
	u, err := url.Parse(w.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return nil
	}
	return u
}

func (k *checker) checkWeb() {
	if k.Web.URL != "" && k.Web.Address() == nil {
		k.fail("web.url", "is not the address of a page", "write it as https://verifier.lan, without a path")
	}
	inRange(k.report, "web.session", k.Web.Session, 5*time.Minute, 90*24*time.Hour)
}
