package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/spelling"
)

func (k *checker) checkApprovers() {
	names, ids := map[string]string{}, map[string]string{}
	for i := range k.Approvers {
		a, at := &k.Approvers[i], index("approvers", i)
		k.checkName(at, a, names)
		own := a.platformIDs()
		if len(own) == 0 && !a.Token.Set() && !a.Passkeys {
			k.fail(at, "has neither ids nor a token, so that nothing shows that it is them", "add "+k.chats.list()+" with this person's user id there, a token, or passkeys: true")
		}
		for _, p := range own {
			k.checkID(at+"."+p.path, p.id)
			if other, taken := ids[p.id]; taken {
				k.fail(at+"."+p.path, "also belongs to "+visible(other), "one id is one person: keep it at one of the two")
			}
			ids[p.id] = a.Name
		}
	}
	for _, p := range k.allowed() {
		k.checkID(p.path, p.id)
	}
	if k.countsPeople() {
		for _, p := range k.unnamed() {
			k.fail(p.path, "names no person, and it matters who is who: someone with two ids could count twice", "put the id into the entry of its person under approvers, as "+strings.Replace(p.id, ":", ": ", 1))
		}
	}
}

// countsPeople reports whether it matters which ids are one person.
func (k *checker) countsPeople() bool {
	self := k.Approval.RequesterMayApprove
	return k.Approval.Approvals > 1 || self != nil && !*self ||
		slices.ContainsFunc(k.Approval.Routes, func(r approval.Route) bool { return r.Approvals > 1 })
}

func (k *checker) checkName(at string, a *Approver, names map[string]string) {
	folded := strings.ToLower(a.Name)
	switch other, taken := names[folded]; {
	case a.Name == "":
		k.fail(at, "has no name", "add name: cards and the record show it")
	case !plainName(a.Name):
		k.fail(at+".name", "is no name for cards and the record", "use up to 64 letters, digits, spaces, dots and hyphens")
	case taken:
		k.fail(at+".name", "is also the name of "+other, "give each approver a name of their own, or put all ids of one person into one entry")
	case folded == Owner && a.Token.Set():
		k.fail(at+".token", "would be a second token of the owner", "set ownerToken instead, and ids: [\"token:owner\"] here")
	case folded == Owner && a.Passkeys:
		k.fail(at+".passkeys", "is not needed: the owner token's holder may have passkeys anyway", "write ids: [\"token:owner\"] instead")
	}
	names[folded] = at
}

// checkID refuses names: people who can rename themselves could take them.
func (k *checker) checkID(at, id string) {
	name, user, _ := strings.Cut(id, ":")
	if name == "token" {
		if user != Owner {
			k.fail(at, "is no id that can be given", "write token:owner for the owner token, or give this approver a token")
		}
		return
	}
	p, ok := k.chats.named(name)
	switch {
	case !ok:
		near, _ := spelling.Nearest(name, k.chats.names())
		k.fail(at, "does not begin with a platform", fmt.Sprintf("write it as %s:<id>; platforms are %s", near, strings.Join(k.chats.names(), ", ")))
	case !p.IsUser(user):
		k.fail(at, "is not a "+p.Name+" user id, which is "+p.Looks, p.Find)
	}
}
