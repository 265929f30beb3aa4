package storetest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Grants implements approval.Store.
func (m *Model) Grants(_ context.Context, conversation string, most int) ([]approval.StoredGrant, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []approval.StoredGrant
	for hash, c := range m.convs {
		for field, value := range c.grants {
			if (conversation == "" || hash == conversation) && endOf(value).After(m.Now()) {
				out = append(out, approval.StoredGrant{Conversation: hash, Field: field, Value: value})
			}
		}
	}
	slices.SortFunc(out, func(a, b approval.StoredGrant) int {
		return cmp.Or(endOf(b.Value).Compare(endOf(a.Value)), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Field, b.Field))
	})
	return out[:min(most, len(out))], m.Now(), nil
}

// endOf is when a grant ends; long ago if it does not say.
func endOf(value string) time.Time {
	second, _, _ := strings.Cut(value, "|")
	n, err := strconv.ParseInt(second, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// Revoke implements approval.Store.
func (m *Model) Revoke(_ context.Context, conversation string, fields ...string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ended := m.convs[conversation], 0
	if c == nil {
		return 0, nil
	}
	for field := range c.grants {
		if len(fields) == 0 || slices.Contains(fields, field) {
			delete(c.grants, field)
			ended++
		}
	}
	if ended > 0 {
		c.version++
	}
	return ended, nil
}
