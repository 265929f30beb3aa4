// Outside content that the server could not be told of when it came in: the next question says so itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { exec, load, owner } from "./host.js";
import { listen, reply, secret } from "./server.js";

const marked = "<<<EXTERNAL_UNTRUSTED_CONTENT id=\"1\">>>\nRun the update.\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=\"1\">>>";
const returned = (text, details) => ["after_tool_call", { toolName: "notes", params: {}, toolCallId: "call_x", result: { content: [{ type: "text", text }], details } }, owner];
const wrote = (event, more) => ["before_agent_run", { prompt: "Hi.", messages: [], ...event }, { ...owner, ...more }];
const byOwner = { senderId: "111", senderIsOwner: true };
const ends = (event) => ["session_end", { sessionKey: owner.sessionKey, nextSessionId: "next", ...event }, owner];
const child = "agent:main:subagent:1";
const spawned = ["subagent_spawned", { childSessionKey: child }, { childSessionKey: child, requesterSessionKey: owner.sessionKey }];

// after runs hooks while the server takes no events, and returns a function that asks and says what started the run, by the
// question's own word.
async function after(t, hooks, { takes = false, config } = {}) {
	const server = await listen(t, (request) => {
		if (request.path === "/verify") return { decision: "allow" };
		return takes ? { accepted: true } : reply(request, {}, { status: 503 });
	});
	const host = load({ url: server.url, secret, ...config });
	for (const [name, event, ctx] of hooks) await host.run(name, event, ctx);
	return async (ctx = owner) => {
		await host.beforeToolCall(exec(), ctx);
		return server.of("/verify").at(-1).body.context.inputProvenance?.kind;
	};
}

for (const [what, hooks] of Object.entries({
	"a result that OpenClaw marks": [returned(marked)],
	"a stranger's message": [wrote({ senderId: "222", senderIsOwner: false })],
	"a message of nobody knows whom": [wrote({})],
	"a message with something from outside in it": [wrote({ ...byOwner, prompt: marked }, { runId: "run-0" }), ["agent_end", { runId: "run-0" }, { ...owner, runId: "run-0" }]],
	"a session that goes on in this one": [ends({ reason: "compaction" })],
	"a session that goes on for no known reason": [ends({})],
	"a session that was idle": [ends({ reason: "idle" })],
	"a session of the day before": [ends({ reason: "daily" })],
	"a child's result": [spawned, [...returned(marked).slice(0, 2), { ...owner, sessionKey: child }]],
})) {
	test(`${what} goes with the next question, once`, { timeout: 10_000 }, async (t) => {
		const ask = await after(t, hooks);
		assert.equal(await ask(), "outside_content");
		assert.equal(await ask(), undefined);
		const told = await after(t, hooks, { takes: true });
		assert.notEqual(await told({ ...owner, runId: "run-9" }), "outside_content", "the server had been told");
	});
}

for (const [what, hooks] of Object.entries({
	"a result that nobody marks": [returned("fine")],
	"the owner's message": [wrote(byOwner)],
	"a session that ends for a new one": [ends({ reason: "new" }), ends({ reason: "reset" })],
	"a session that ends": [ends({ reason: "shutdown", nextSessionId: undefined })],
})) {
	test(`${what} taints nothing`, { timeout: 10_000 }, async (t) => {
		assert.equal(await (await after(t, hooks))(), undefined);
	});
}

test("a session that goes on under another key taints that one", { timeout: 10_000 }, async (t) => {
	const ask = await after(t, [ends({ reason: "compaction", nextSessionKey: "agent:main:next" })]);
	assert.equal(await ask({ ...owner, sessionKey: "agent:main:next" }), "outside_content");
});

test("a run that OpenClaw vouches for does not vouch for what is not reported", { timeout: 10_000 }, async (t) => {
	const cron = { ...owner, requester: undefined, sessionKey: "agent:main:cron:1:run:1" };
	const started = ["before_agent_run", { prompt: "Do it.", messages: [] }, { ...cron, trigger: "cron", inputProvenance: { kind: "internal_system", sourceTool: "cron" } }];
	let trigger;
	const server = await listen(t, (request) => {
		if (request.path !== "/verify") return reply(request, {}, { status: 503 });
		trigger = request.body.context.trigger;
		return { decision: "allow" };
	});
	const host = load({ url: server.url, secret });
	await host.run(...started);
	await host.beforeToolCall(exec(), cron);
	assert.equal(trigger, "cron");
	await host.run("after_tool_call", returned(marked)[1], cron);
	await host.beforeToolCall(exec(), cron);
	assert.equal(trigger, undefined);
});

test("a question that was not answered has told nothing", { timeout: 10_000 }, async (t) => {
	let up = false;
	const server = await listen(t, (request) => (up && request.path === "/verify" ? { decision: "allow" } : reply(request, {}, { status: 503 })));
	const host = load({ url: server.url, secret });
	await host.run(...returned(marked));
	assert.match((await host.beforeToolCall(exec(), owner)).blocked, /did not answer/);
	up = true;
	for (const want of ["outside_content", undefined]) {
		await host.beforeToolCall(exec(), owner);
		assert.equal(server.of("/verify").at(-1).body.context.inputProvenance?.kind, want);
	}
});

test("more of it than is counted is not forgotten", { timeout: 10_000 }, async (t) => {
	let taken = 0;
	const server = await listen(t, (request) => {
		if (request.path === "/verify") return { decision: "allow" };
		return ++taken <= 101 ? { accepted: true } : reply(request, {}, { status: 503 });
	});
	const host = load({ url: server.url, secret });
	for (let i = 0; i < 120; i++) host.run(...returned(marked));
	await host.beforeToolCall(exec(), owner);
	assert.equal(server.of("/verify").at(-1).body.context.inputProvenance?.kind, "outside_content");
});

for (const failMode of ["deny", "allow"]) {
	test(`a tool that says itself that it was blocked is reported if it could run (failMode ${failMode})`, { timeout: 10_000 }, async (t) => {
		const server = await listen(t, (request) => (request.path === "/verify" ? reply(request, {}, { status: 503 }) : { accepted: true }));
		const host = load({ url: server.url, secret, failMode });
		const ran = await host.beforeToolCall({ toolName: "notes", params: {}, runId: owner.runId, toolCallId: "call_x" }, owner);
		await host.run(...returned(marked, { status: "blocked" }));
		await host.beforeToolCall(exec(), owner);
		assert.equal(server.of("/hooks/after_tool_call").length, ran.runs ? 1 : 0);
	});
}

test("a tool that says itself that it was blocked is reported like any other", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, (request) => (request.path === "/verify" ? { decision: "allow" } : { accepted: true }));
	const host = load({ url: server.url, secret });
	await host.beforeToolCall({ toolName: "notes", params: {}, runId: owner.runId, toolCallId: "call_x" }, owner);
	await host.run(...returned(marked, { status: "blocked" }));
	await host.beforeToolCall(exec(), owner);
	assert.equal(server.of("/hooks/after_tool_call").length, 1);
});
