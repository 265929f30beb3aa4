package config

import "slices"

// wrapped adds what the loader takes out of an openclaw.json: see unwrap.
func (s *schema) wrapped() {
	own := func(keys ...string) *schema { // of the client's, which are left out with a word
		out := &schema{Type: "object", Properties: map[string]*schema{}, Others: false}
		for _, k := range keys {
			out.Properties[k] = &schema{Description: "Belongs to the client and is left out."}
		}
		return out
	}
	webhook := own(clientsWebhook...)
	webhook.refer("#/properties/webhook", s.Properties["webhook"])
	verifier := own(clientsOwn...)
	verifier.Description = "As in an openclaw.json: read as if it were at the top of this file."
	verifier.refer("#", s)
	verifier.Properties["webhook"] = webhook
	verifier.Properties["telegram"] = &schema{Type: "object", Description: "Read as channels.telegram."}
	tools := s.Properties["tools"]
	tools.Properties = map[string]*schema{"verifier": verifier, "caution": {Ref: "#/properties/caution"}}

	agents := s.Properties["agents"]
	agent, _ := agents.Others.(*schema)
	one := own(clientsOwn...)
	one.refer("#/properties/agents/additionalProperties", agent)
	one.Properties["webhook"] = own(slices.Concat(clientsWebhook, []string{"secret"})...)
	one.Properties["telegram"] = &schema{Type: "object", Description: "Read as a route in approval.routes."}
	listed := &schema{Type: "object", Others: false, Properties: map[string]*schema{
		"id":    {Type: "string"},
		"tools": {Type: "object", Others: false, Properties: map[string]*schema{"verifier": one}},
	}}
	agents.Properties = map[string]*schema{"list": {
		Description: "As in an openclaw.json: read as agents.<id>.",
		AnyOf:       []*schema{{Type: "array", Items: listed}, {Ref: "#/properties/agents/additionalProperties"}},
	}}

	for _, name := range []string{"plugins", "hooks"} {
		s.Properties[name] = &schema{Type: "object", Description: "As in an openclaw.json: what is under plugins.entries.<id>.config is read as if it were at the top of this file, and the rest is left out."}
	}
}

// refer gives a schema the keys that another has at a place.
func (s *schema) refer(place string, to *schema) {
	for _, name := range sortedKeys(to.Properties) {
		s.Properties[name] = &schema{Ref: place + "/properties/" + name}
	}
}
