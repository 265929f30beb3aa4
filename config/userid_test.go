package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/internal/approval"
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
