package config

import (
	"fmt"
	"slices"
	"strings"
)

// Relays reports whether the client's word is taken for who typed an answer on a
// platform.
func (c *Config) Relays(client, platform string) bool {
	return slices.Contains(c.Webhook.RelayApprovals[client], platform)
}

// clientNames are the clients that there can be.
func (k *checker) clientNames() []string {
	if names := sortedKeys(k.Clients()); len(names) > 0 {
		return names
	}
	return []string{DefaultClient}
}

// checkRelays refuses a platform on which no user has an id that stays theirs: in
// a chat of the runtime's own making, the agent could be anyone.
func (k *checker) checkRelays() {
	clients := k.clientNames()
	for _, client := range sortedKeys(k.Webhook.RelayApprovals) {
		at := "webhook.relayApprovals." + client
		k.oneOf(at, client, "client", clients)
		if len(k.Webhook.RelayApprovals[client]) == 0 {
			k.fail(at, "names no platform", "name one, or remove the key: "+strings.Join(k.chats.names(), ", "))
		}
		for i, platform := range k.Webhook.RelayApprovals[client] {
			k.oneOf(index(at, i), platform, "platform whose users have ids that never change", k.chats.names())
		}
	}
}

// riskyRelays says what is given away, and what would have no effect.
func (k risks) riskyRelays() {
	ids := map[string]bool{}
	for _, p := range k.People() {
		for _, id := range p.IDs {
			platform, _, _ := strings.Cut(id, ":")
			ids[platform] = true
		}
	}
	for _, client := range sortedKeys(k.Webhook.RelayApprovals) {
		at := "webhook.relayApprovals." + client
		k.find(Note, at, "anyone who has this client's secret and a code can answer as an approver, and can lower the level of the client's conversations: keep the secret from the agent, and switch this on only for chats in which the agent can't write as you")
		for i, platform := range k.Webhook.RelayApprovals[client] {
			if !ids[platform] {
				k.find(Warning, index(at, i), fmt.Sprintf("no approver has a %s id, so nothing from there counts", platform))
			}
		}
	}
}
