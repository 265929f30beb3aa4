// A secret in what a tool returned: the server learns that there was one, and no text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bearsSecret } from "../secrets.js";
import { exec, load, owner } from "./host.js";
import { listen, reply, secret } from "./server.js";

const { vectors } = JSON.parse(readFileSync(new URL("../../../docs/spec/secret-vectors.json", import.meta.url)));
const key = vectors.find((v) => v.secret).text;
const returned = (text) => ["after_tool_call", { toolName: "exec", params: {}, toolCallId: "call_s", result: { content: [{ type: "text", text }] } }, owner];

for (const v of vectors) {
	test(`${v.secret ? "a secret" : "no secret"}: ${JSON.stringify(v.text).slice(0, 40)}`, () => assert.equal(bearsSecret(v.text), v.secret));
}

test("a long text is searched in time", () => {
	for (const piece of ["eyJ", "a:b@", "x://a:", "sk-", "AKIA", "-----BEGIN ", "xapp-1-A-"]) {
		const began = performance.now();
		bearsSecret(piece.repeat(200_000));
		assert.ok(performance.now() - began < 2000, piece);
	}
});

test("the report says that there was a secret, and holds nothing of it", async (t) => {
	const server = await listen(t, () => ({ accepted: true, decision: "allow" }));
	const host = load({ url: server.url, secret });
	await host.run(...returned(key));
	await host.beforeToolCall(exec(), owner);
	const [report] = server.of("/hooks/after_tool_call");
	assert.equal(report.body.event.secret, true);
	assert.ok(report.body.event.fingerprints.length > 0);
	assert.doesNotMatch(JSON.stringify(report.body), /b3BlbnNzaC1rZXk|PRIVATE KEY/);
	assert.equal(server.of("/verify").at(-1).body.context.secretsRead, undefined, "the server had been told");
	await host.run(...returned("fine"));
	await host.beforeToolCall(exec(), owner);
	assert.equal(server.of("/hooks/after_tool_call").at(-1).body.event.secret, undefined);
});

test("a secret that could not be reported goes with the questions, until one is allowed", { timeout: 10_000 }, async (t) => {
	let decision = "deny";
	const server = await listen(t, (request) => (request.path === "/verify" ? { decision, reason: "no" } : reply(request, {}, { status: 503 })));
	const host = load({ url: server.url, secret });
	const asked = async () => {
		await host.beforeToolCall(exec(), owner);
		return server.of("/verify").at(-1).body.context.secretsRead;
	};
	await host.run(...returned(key));
	assert.equal(await asked(), true);
	assert.equal(await asked(), true, "after a deny");
	decision = "allow";
	assert.equal(await asked(), true);
	assert.equal(await asked(), undefined);
});
