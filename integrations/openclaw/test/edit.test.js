// The owner may let a call run with other arguments: the answer's params, and exactly these.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, owner } from "./host.js";
import { listen, reply, secret } from "./server.js";

const asked = { toolName: "exec", params: { command: "make deploy", timeout: 60, env: { A: "1", B: "2" } } };

test("a call that the owner changed runs as the owner wrote it", async (t) => {
	const params = { command: "make test", env: { A: "1" }, background: true };
	const server = await listen(t, () => ({ decision: "allow", reason: "", ref: "7Q4K", params }));
	const { runs } = await load({ url: server.url, secret }).beforeToolCall(asked, owner);
	assert.deepEqual(JSON.parse(JSON.stringify(runs)), params); // what was left out is not there
	assert.equal(runs.timeout, undefined);
	assert.equal(server.requests[0].body.context.edits, true);
});

test("params that are no object block the call", async (t) => {
	for (const params of ["rm", null, [], 1, true]) {
		const server = await listen(t, () => ({ decision: "allow", reason: "", params }));
		const got = await load({ url: server.url, secret, failMode: "allow" }).beforeToolCall(asked, owner);
		assert.deepEqual(got, { blocked: "The verifier answered with arguments that can't be run. Nothing was run." });
	}
});

test("changed params that are not signed, or stand beside a deny, block the call", async (t) => {
	const unsigned = await listen(t, (request) => void reply(request, { decision: "allow", reason: "", params: { command: "id" } }, { signature: "0".repeat(64) }));
	assert.deepEqual(await load({ url: unsigned.url, secret, failMode: "allow" }).beforeToolCall(asked, owner), { blocked: "The verifier's answer could not be authenticated. Nothing was run." });
	const denied = await listen(t, () => ({ decision: "deny", reason: "No.", params: { command: "id" } }));
	assert.deepEqual(await load({ url: denied.url, secret }).beforeToolCall(asked, owner), { blocked: "No." });
});
