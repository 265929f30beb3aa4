package config

import (
	"fmt"
	"slices"
	"strings"
)

// channelNames are the platforms on which people can be asked.
var channelNames = []string{"telegram", "discord", "slack"}

func (k *checker) checkApprovers() {
	names, ids := map[string]string{}, map[string]string{}
	for i, a := range k.Approvers {
		at := index("approvers", i)
		k.checkName(at, a, names)
		if len(a.IDs) == 0 && !a.Token.Set() {
			k.fail(at, "has neither ids nor a token, so that nothing shows that it is them", "add ids: [\"telegram:123456789\"], or a token")
		}
		for j, id := range a.IDs {
			k.checkID(index(at+".ids", j), id)
			if other, taken := ids[id]; taken {
				k.fail(index(at+".ids", j), "also belongs to "+visible(other), "one id is one person: keep it at one of the two")
			}
			ids[id] = a.Name
		}
	}
}

func (k *checker) checkName(at string, a Approver, names map[string]string) {
	folded := strings.ToLower(a.Name)
	switch other, taken := names[folded]; {
	case a.Name == "":
		k.fail(at, "has no name", "add name: it stands on cards and in the record")
	case !plainName.MatchString(a.Name):
		k.fail(at+".name", "is no name for cards and the record", "use up to 64 letters, digits, spaces, dots and hyphens")
	case taken:
		k.fail(at+".name", "is also the name of "+other, "give each approver a name of their own, or put all ids of one person into one entry")
	case folded == Owner && a.Token.Set():
		k.fail(at+".token", "would be a second token of the owner", "set ownerToken instead, and ids: [\"token:owner\"] here")
	}
	names[folded] = at
}

// checkID refuses names: whoever can rename themselves could become them.
func (k *checker) checkID(at, id string) {
	platform, user, _ := strings.Cut(id, ":")
	switch {
	case platform == "token" && user == Owner:
	case platform == "token":
		k.fail(at, "is no id that can be given", "write token:owner for the owner token, or give this approver a token")
	case !slices.Contains(channelNames, platform):
		near, _ := nearest(platform, channelNames)
		k.fail(at, "does not begin with a platform", fmt.Sprintf("write it as %s:<id>; platforms are %s", near, strings.Join(channelNames, ", ")))
	case user == "" || strings.HasPrefix(user, "@") || strings.ContainsFunc(user, notInID):
		k.fail(at, "is not a platform's user id", "write the id that never changes, such as telegram:123456789; names can be taken over")
	case platform != "slack" && strings.Trim(user, "0123456789") != "":
		k.fail(at, "is not a "+platform+" user id, which is a number", "names can be taken over: look up the number")
	}
}

func notInID(r rune) bool {
	return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
