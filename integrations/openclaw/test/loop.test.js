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

test("runs are counted apart, and what is kept of them is bounded", () => {
	const loop = createShared();
	loop.modelCalled({});
	for (let i = 0; i < 3000; i++) loop.modelCalled({ runId: `run-${i}`, callId: "1" });
	assert.equal(loop.iteration("run-2999"), 0);
	assert.equal(loop.iteration("run-1"), undefined);
	assert.equal(loop.iteration(undefined), undefined);
});
