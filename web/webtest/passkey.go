package webtest

// Authenticator gives the tab a device with passkeys of its own, such as a phone has. Verified says whether it finds that the person is who
// they should be.
func (t *Tab) Authenticator(verified bool) {
	t.b.t.Helper()
	t.call("WebAuthn.enable", nil, nil)
	t.call("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true, "isUserVerified": verified, "automaticPresenceSimulation": true,
	}}, nil)
}
