package policy

import (
	"regexp"
	"strings"
	"testing"
)

var (
	// secretNames is what [namesSecretFile] says, in an expression.
	secretNames = regexp.MustCompile(`(?i)(^|/)((\.env|id_(rsa|dsa|ecdsa|ed25519)|client_secret)[^/]*|[^/]*(firebase-adminsdk[^/]*\.json|_accesskeys\.csv)|appsettings\.[^/]+\.json)$`)
	secretParts = strings.Split(". .env .ENV / id_ rsa d\u017fa ecdsa ed25519 client_ secret \u017fecret firebase- adminsdk admin\u017fd\u212a .json .j\u017fon _accesskeys .csv acce\u017f\u017f\u212aeys _ appsettings app\u017fettings\u002e C: \\ \\\\ [ ] [: \u0130 x \n \xff", " ")
)

func agree(t *testing.T, name string) {
	t.Helper()
	if got := namesSecretFile(name); got != secretNames.MatchString(name) {
		t.Errorf("%q names a file with secrets: %v", name, got)
	}
	if got := onDrive(name); got != (strings.Contains(name, `\\`) || strings.HasPrefix(name, "//") || drive.MatchString(name)) {
		t.Errorf("%q is on a drive: %v", name, got)
	}
	if got := withoutClasses(name); got != anyOfClass.ReplaceAllString(name, "?") {
		t.Errorf("%q without its classes: %q", name, got)
	}
}

// TestPlainCodeSaysWhatExpressionsSay: for every name of up to three parts.
func TestPlainCodeSaysWhatExpressionsSay(t *testing.T) {
	for _, a := range secretParts {
		for _, b := range secretParts {
			for _, c := range secretParts {
				agree(t, a+b+c)
				agree(t, "id_"+a+b+c)
				agree(t, a+"firebase-admin\u017fdk"+b+".j\u017fON"+c)
				agree(t, a+"appsettings."+b+c+".json")
			}
		}
	}
}

func FuzzPlainCode(f *testing.F) {
	for _, name := range []string{"a/.env_test", "ID_ED25519_work", "x/my-firebase-adminsdk-1.json", "a_acce\u017f\u017f\u212aeys.csv", "appsettings.Production.json", "C:/x", "[[:alpha:]a]*"} {
		f.Add(name)
	}
	f.Fuzz(agree)
}
