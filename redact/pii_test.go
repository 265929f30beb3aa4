package redact_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/redact"
)

var allPII = []string{"mail", "phone", "card", "iban"}

func hiding(t testing.TB, pii ...string) *redact.Redactor {
	t.Helper()
	r, err := redact.New(redact.Config{PII: pii})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r
}

var personal = map[string][]string{
	"mail":  {"ann.lee+x@mail.example.com", "jörg@müller.example", "o'neil@a-b.example"},
	"phone": {"+49 30 901820", "+1 (415) 555-2671", "+14155552671", "0049 171 1234567", "(415) 555-2671", "415.555.2671", "030/901820-12", "0171 1234567"},
	"card":  {"4111111111111111", "4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005", "3782 822463 10005", "6011111111111117", "2223003122003222", "4222222222222"},
	"iban":  {"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32", "nl91abna0417164300", "NO93 8601 1117 947", "MT84MALT011000012345MTLCAST001S"},
}

func TestPersonalDataIsHiddenWhereTheOwnerWantsIt(t *testing.T) {
	none := hiding(t)
	for kind, all := range personal {
		r := hiding(t, kind)
		for _, value := range all {
			for _, text := range []string{value, "see " + value + " and more", "7 " + value, "(" + value + ")", `x="` + value + `"`} {
				if shown, found := r.Text(text); strings.Contains(shown, value) || len(found) == 0 {
					t.Errorf("%s in %q is shown: %q", kind, text, shown)
				}
			}
			if shown, _ := none.Text("see " + value + " and more"); shown != "see "+value+" and more" {
				t.Errorf("%q is hidden by default: %q", value, shown)
			}
		}
	}
	if out := hiding(t, "card").Params("exec", []byte(`{"n":4111111111111111,"m":1234567890123}`)); string(out.Params) != `{"n":"[REDACTED: 16 chars]","m":1234567890123}` {
		t.Errorf("%s", out.Params)
	}
}

func TestWhatIsNoPersonalDataStays(t *testing.T) {
	r := hiding(t, allPII...)
	for _, text := range []string{
		"user@localhost", "@ann", "a@b", "pkg@1.2.3",
		"4111111111111112", "1234567890123456", "12345678901234567890123456789012345", "0000000000000000", "4111 1111 1111 1112",
		"DE89370400440532013001", "DE8937040044", "XX89370400440532013000", "AB12CDEF",
		"2026-10-03 14:02:11", "2026-10-03", "14:02", "192.168.100.200", "10.0.0.1", "v1.2.3-rc.4", "123-45-67", "1 + 1 = 2", "0x1f00", "00:11:22:33:44:55", "550e8400-e29b-41d4-a716-446655440000",
	} {
		if shown, found := r.Text(text); shown != text {
			t.Errorf("%q is shown as %q: %v", text, shown, found)
		}
	}
}

func TestAnUnknownSortOfPersonalDataIsRefused(t *testing.T) {
	_, err := redact.New(redact.Config{PII: []string{"mail", "shoe size"}})
	if err == nil || !strings.Contains(err.Error(), "pii[1]") || !strings.Contains(err.Error(), "mail, phone, card, iban") {
		t.Errorf("it says %v", err)
	}
}

func FuzzPersonalData(f *testing.F) {
	for _, all := range personal {
		for _, value := range all {
			f.Add("7 " + value + " and more")
		}
	}
	r := hiding(f, allPII...)
	f.Fuzz(func(t *testing.T, s string) {
		shown, found := r.Text(s)
		if len(found) == 0 && shown != s {
			t.Errorf("%q became %q, and nothing was found", s, shown)
		}
		if utf8.ValidString(s) && !utf8.ValidString(shown) {
			t.Errorf("%q became %q", s, shown)
		}
	})
}

func TestACardShowsWhereACallGoes(t *testing.T) {
	t.Parallel()
	r := hiding(t, allPII...)
	const params = `{"to":"ann@example.com","cc":{"to":"eve@example.com"},"Target":["bob@example.com","password=hunter2hunter2"],"text":"call +14155552671"}`
	got := r.Card("message", []byte(params), []string{"to", "target"})
	const want = `{"to":"ann@example.com","cc":{"to":"[REDACTED: 15 chars]"},"Target":["bob@example.com","password=[REDACTED: 14 chars]"],"text":"call [REDACTED: 12 chars]"}`
	if string(got.Params) != want || got.Hidden() != 3 {
		t.Errorf("%d are hidden: %s", got.Hidden(), got.Params)
	}
	if all := r.Params("message", []byte(params)); strings.Contains(string(all.Params), "@") {
		t.Errorf("the record has %s", all.Params)
	}
	if secrets := r.Secrets().Params("message", []byte(params)); secrets.Hidden() != 1 {
		t.Errorf("%d secrets: %s", secrets.Hidden(), secrets.Params)
	}
}
