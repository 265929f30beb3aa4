package policy

import "strings"

// destructiveActions can't be undone, where a tool takes an action.
var destructiveActions = words("delete remove purge wipe destroy uninstall reset kill ban kick")

// secretPlaces are where people keep secrets.
var secretPlaces = newMatcher([][]byte{
	[]byte(".ssh"), []byte("id_rsa"), []byte("id_ed25519"), []byte(".gnupg"), []byte(".netrc"), []byte(".pgpass"),
	[]byte(".aws/credentials"), []byte(".git-credentials"), []byte(".kube/config"), []byte("/etc/shadow"), []byte(".env"), []byte("keychain"),
})

// grantable reports whether a lasting grant may cover the call. Where it errs,
// the owner is asked once more. A safe tool is never asked for, so nothing is
// looked for in it.
func grantable(r *rule, t *text, d deeds) bool {
	switch {
	case r.dangerous || r.destructive || r.secret || d.destroys:
		return false
	case r.safe:
		return true
	default:
		return !destructiveActions[strings.ToLower(t.param(paramAction))] && secretPlaces.find(t.lower) == nil
	}
}
