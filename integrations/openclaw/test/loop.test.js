import assert from "node:assert/strict";
import { test } from "node:test";
import { createShared } from "../shared.js";
import { exec, load, owner } from "./host.js";
import { listen, secret } from "./server.js";

// OpenClaw loads the plugin twice in one process and gives each instance other hooks.
test("H130 a call says how often its run has called the model, whichever instance heard of it", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => ({ decision: "allow" }));
	const [hears, asks] = [load({ url: server.url, secret }), load({ url: server.url, secret })];
	const run = { runId: "run-h130" };
	const ask = async () => {
		await asks.beforeToolCall({ ...exec(), ...run }, { ...owner, ...run });
		return server.of("/verify").at(-1).body.context.iteration;
	};
	assert.equal(await ask(), undefined, "nothing was heard of the model yet");
	for (const n of [1, 2, 3]) {
		const event = Object.freeze({ ...run, callId: `run-h130:model:${n}`, provider: "p", model: "m" });
		await hears.run("model_call_started", event, {});
		await asks.run("model_call_started", event, {}); // the same call, if both hear of it
		assert.equal(await ask(), n - 1);
		assert.equal(await ask(), n - 1, "calls are not iterations");
	}
	await hears.run("agent_end", { ...run, messages: [], success: false }, { ...owner, ...run });
	await hears.run("model_call_started", { ...run, callId: "run-h130:model:1" }, {}); // a run that is tried again counts on
	assert.equal(await ask(), 3);
});

test("H150 the list of tools is asked for without an iteration: a call at the cap asks a person, this would block", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => ({ accepted: true }));
	const host = load({ url: server.url, secret });
	const ctx = { ...owner, runId: "run-h150" };
	await host.run("llm_input", { tools: [{ name: "read" }] }, ctx);
	for (let n = 1; n <= 11; n++) await host.run("model_call_started", { runId: "run-h150", callId: `${n}` }, {});
	await host.run("before_prompt_build", {}, ctx); // the run is tried again
	assert.deepEqual(server.of("/hooks/before_llm_call").map((r) => r.body.event), [{ tools: [{ name: "read" }] }]);
});

test("runs are counted apart, and what is kept of them is bounded", () => {
	const loop = createShared();
	loop.modelCalled({});
	for (let i = 0; i < 3000; i++) loop.modelCalled({ runId: `run-${i}`, callId: "1" });
	assert.equal(loop.iteration("run-2999"), 0);
	assert.equal(loop.iteration("run-1"), undefined);
	assert.equal(loop.iteration(undefined), undefined);
});

test("H131 what the auditor blocked is said under the agent's answer, once, and only there", { timeout: 10_000 }, async (t) => {
	const line = "Caution: blocked an action (message send) that did not match your request (ref 7Q4K)";
	const server = await listen(t, (request) => (request.path === "/verify" ? { decision: "deny", reason: "no" } : { accepted: true, appendFooter: line }));
	const [asks, sends] = [load({ url: server.url, secret }), load({ url: server.url, secret })];
	const run = { runId: "run-h131" };
	const send = (kind, text, more) => sends.run("reply_payload_sending", { payload: { text, mediaUrl: "m" }, kind, channel: "telegram", ...run, ...more }, run);
	assert.equal(await send("final", "before"), undefined);
	await asks.beforeToolCall({ ...exec(), ...run }, { ...owner, ...run });
	assert.equal(await send("block", "a part"), undefined);
	assert.equal(await send("final", "another run's", { runId: "other" }), undefined);
	assert.deepEqual(await send("final", "Here is the summary."), { payload: { text: `Here is the summary.\n\n⚠️ ${line}`, mediaUrl: "m" } });
	assert.equal(await send("final", "more"), undefined);
	const [{ body, raw }] = server.of("/hooks/before_response_emit");
	assert.deepEqual(body.context, { runId: "run-h131", sessionKey: owner.sessionKey, agentId: "main" });
	assert.doesNotMatch(raw.toString(), /summary/);
	await asks.beforeToolCall({ ...exec(), ...run }, { ...owner, ...run });
	server.answerWith(() => ({ accepted: false }));
	assert.equal(await send("final", "the server has no word for it"), undefined);
});

test("a tool's own annotations go with its calls, and its wish for caution goes to the server", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, (request) => (request.path === "/verify" ? { decision: "allow" } : { accepted: true }));
	const host = load({ url: server.url, secret });
	const tools = [
		{ name: "exec", annotations: { destructiveHint: true, title: "run", readOnlyHint: "no" } },
		{ name: "tool_call" },
		{ name: "my_mail", metadata: { openclaw: { caution: true, other: 1 } } },
	];
	await host.run("llm_input", { tools }, owner);
	await host.run("llm_input", { tools }, owner); // said once
	await host.beforeToolCall(exec(), owner);
	const [{ body }] = server.of("/verify");
	assert.deepEqual(body.tool.annotations, { destructiveHint: true });
	const told = server.of("/hooks/before_llm_call");
	assert.equal(told.length, 1);
	assert.deepEqual(told[0].body.event, { tools: [{ name: "my_mail", metadata: { openclaw: { caution: true } } }] });
});
