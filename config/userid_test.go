package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/approval"
)

// A person's ids in both spellings, as number and as text.
func TestOnePersonHasOneIDOnEachPlatform(t *testing.T) {
	for _, text := range []string{
		`approvers: [{name: owner, telegram: 111, discord: "222", slack: U333}]`,
		`approvers: [{name: owner, telegram: "111", discord: 222, slack: "U333"}]`,
		`approvers: [{name: owner, ids: ["telegram:111", "discord:222"], slack: U333}]`,
		`approvers: [{name: owner, ids: ["telegram:111", "discord:222", "slack:U333"]}]`,
	} {
		c, _ := parse(t, text)
		want := []approval.Person{{Name: "owner", IDs: []string{"discord:222", "slack:U333", "telegram:111"}}}
		got := c.People()
		slices.Sort(got[0].IDs)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
	c, _ := parse(t, `approvers: [{name: a, discord: 1179999999999999999, slack: W012A3CDE, telegram: 4503599627370495}]`)
	want := []string{"discord:1179999999999999999", "slack:W012A3CDE", "telegram:4503599627370495"}
	if diff := cmp.Diff(want, c.People()[0].IDs); diff != "" {
		t.Error(diff)
	}
}

func TestH34OnlyIDsThatNeverChangeNameAPerson(t *testing.T) {
	for _, tt := range []struct{ entry, want string }{
		{"telegram: '@ann'", "v.yaml:2:13: approvers[0].telegram: is not a telegram user id, which is a positive number\nhint: it is the number"},
		{"telegram: ann", "is not a telegram user id"},
		{"telegram: -1001234567890", "a negative number is a group"},
		{"telegram: 0", "is not a telegram user id"},
		{"telegram: 0x6F", "is not a telegram user id"},
		{"telegram: 0111", "is not a telegram user id"},
		{"telegram: 1_11", "is not a telegram user id"},
		{"telegram: 4503599627370496", "is not a telegram user id"},
		{"telegram: 1.5", "must be a user id: a number or text, not a number"},
		{"telegram: [111]", "must be a user id: a number or text, not a list"},
		{"telegram:", "approvers[0].telegram: has no value"},
		{"telegram: ''", "is not a telegram user id"},
		{"telegram: ' 111'", "is not a telegram user id"},
		{"telegram: '١١١'", "is not a telegram user id"},
		{"discord: ann#0001", "approvers[0].discord: is not a discord user id, which is a number of up to 20 digits\nhint: switch on Developer Mode"},
		{"discord: 99999999999999999999", "is not a discord user id"},
		{"slack: ann", "approvers[0].slack: is not a slack user id, which is a U or a W"},
		{"slack: C024BE7LH", "is not a slack user id"},
		{"slack: u024be7lh", "is not a slack user id"},
		{"ids: ['slack:ann']", "approvers[0].ids[0]: is not a slack user id"},
		{"ids: ['discord:ann']", "approvers[0].ids[0]: is not a discord user id"},
		{"tlegram: 1", "unknown key\nhint: did you mean \"telegram\"?"},
	} {
		if got := refusals(t, "approvers:\n- {name: a, "+tt.entry+"}\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%swant\n%s", tt.entry, got, tt.want)
		}
	}
	twice := "approvers:\n- {name: a, ids: ['telegram:1']}\n- {name: b, telegram: 1}\n"
	if got := refusals(t, twice); !strings.Contains(got, "v.yaml:3:13: approvers[1].telegram: also belongs to a") {
		t.Errorf("one id at two people: %s", got)
	}
}

func TestAllowedUserIDsAddPeopleAndTheirAbsenceNobody(t *testing.T) {
	owner := approval.Person{Name: "owner", IDs: []string{"token:owner"}}
	ann := approval.Person{Name: "Ann", IDs: []string{"telegram:111"}}
	extra := approval.Person{Name: "telegram 222", Bare: true, IDs: []string{"telegram:222"}}
	for _, tt := range []struct {
		text string
		want []approval.Person
	}{
		{"channels: {telegram: {chatId: '1'}}", []approval.Person{owner}},
		{"channels: {telegram: {allowedUserIds: []}}", []approval.Person{owner}},
		{"channels: {telegram: {allowedUserIds: [222, '222']}}", []approval.Person{owner, extra}},
		{"approvers: []\nchannels: {telegram: {allowedUserIds: [222]}}", []approval.Person{extra}},
		{"approvers: [{name: Ann, telegram: 111}]\nchannels: {telegram: {allowedUserIds: [111, 222]}}", []approval.Person{ann, extra}},
		{"approvers: []\nchannels: {telegram: {enabled: false, allowedUserIds: [222]}}", nil},
	} {
		c, _ := parse(t, tt.text)
		if diff := cmp.Diff(tt.want, c.People()); diff != "" {
			t.Errorf("%s:\n%s", tt.text, diff)
		}
	}
	got := refusals(t, "channels:\n  telegram:\n    allowedUserIds: [111, '@ann']\n")
	if !strings.Contains(got, "v.yaml:3:27: channels.telegram.allowedUserIds[1]: is not a telegram user id") {
		t.Errorf("a name in allowedUserIds: %s", got)
	}
}

// Where people are counted, each must be known as one person.
func TestAQuorumNeedsPeopleWhoCanBeToldApart(t *testing.T) {
	text := "approval: {approvals: 2}\napprovers: [{name: Ann, ids: ['token:owner']}]\nchannels: {telegram: {allowedUserIds: [222]}}\n"
	if got := refusals(t, text); !strings.Contains(got, "v.yaml:3:40: channels.telegram.allowedUserIds[0]: names no person") {
		t.Errorf("got %s", got)
	}
	parse(t, strings.Replace(text, "'token:owner'", "'token:owner', 'telegram:222'", 1))
}
