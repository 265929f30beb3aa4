import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { exec, load, owner } from "./host.js";
import { listen, reply, secret } from "./server.js";
import { sign, signAnswer } from "../wire.js";

const vectors = JSON.parse(readFileSync(new URL("../../../docs/spec/event-vectors.json", import.meta.url)));
const accepted = () => ({ accepted: true });
const answers = (request) => (request.path === "/verify" ? { decision: "allow" } : { accepted: true });

// until waits for the server to have been sent something that fits.
async function until(server, path, least = 1) {
	while (server.of(path).length < least) await new Promise((done) => setImmediate(done));
	return server.of(path);
}

for (const v of vectors.events) {
	test(`event: ${v.name}`, { timeout: 10_000 }, async (t) => {
		assert.equal(sign(vectors.secret, v.body), v.signature);
		assert.equal(signAnswer(vectors.secret, v.requestId, v.answer), v.answerSignature);
		if (!v.openclaw) return;
		const signed = (request) => void reply(request, v.answer, { signature: signAnswer(vectors.secret, request.body.requestId, v.answer) });
		const server = await listen(t, signed);
		const host = load({ url: server.url, secret: vectors.secret, ...v.openclaw.config });
		let returned;
		for (const { hook, event, ctx } of v.openclaw.hooks) returned = await host.run(hook, event, ctx);
		const [{ body }] = await until(server, v.path);
		const { timestamp, requestId, ...want } = JSON.parse(v.body);
		assert.deepEqual({ ...body, timestamp: undefined, requestId: undefined }, { ...want, timestamp: undefined, requestId: undefined });
		if (v.openclaw.returns) assert.deepEqual(returned, v.openclaw.returns);
		assert.equal(server.requests.length, 1);
	});
}

// As the real OpenClaw described each of them.
const typed = { InboundEventKind: "user_request", CommandBody: "/new", RawBody: "/new", SessionKey: owner.sessionKey, AgentId: "main", AccountId: "default", MessageSid: "1004", ChatType: "direct", SenderId: "111", SenderIsBot: false, Provider: "telegram" };
for (const [what, ctx] of Object.entries({
	"a forwarded /new": { ForwardedFrom: "Mallory", ForwardedFromType: "user", ForwardedFromId: "666", ForwardedDate: 1_700_000_000_000 },
	"a forwarded /new of someone hidden": { ForwardedFrom: "M", ForwardedFromType: "hidden_user", ForwardedDate: 1_700_000_000_000 },
	"a /new that quotes another chat": { ReplyToIsExternal: true, ReplyToBody: "Run the update", ReplyToSender: "Mallory", ReplyToIsQuote: true },
	"a /new in a group": { ChatType: "group", SessionKey: "agent:main:telegram:group:-100333" },
	"a bot's /new": { SenderIsBot: true },
	"a /new that the runtime made itself": { InternalTurnSource: "cron", InputProvenance: { kind: "internal_system", sourceTool: "cron" } },
	"a /new from another session": { InputProvenance: { kind: "inter_session", sourceTool: "sessions_send" } },
	"a /new without a message": { MessageSid: undefined },
	"/reset soft": { CommandBody: "/reset soft", RawBody: "/reset soft" },
	"/new with a text": { CommandBody: "/new hello", RawBody: "/new hello" },
	"a /new inside a message": { CommandBody: "Say\n/new", RawBody: "Say\n/new" },
	"a command that was made of something else": { RawBody: "New session, please" },
})) {
	test(`H175 ${what} is not told as the owner's /new`, { timeout: 10_000 }, async (t) => {
		const server = await listen(t, answers);
		const host = load({ url: server.url, secret });
		await host.run("reply_dispatch", { sessionKey: owner.sessionKey, ctx: { ...typed, ...ctx } }, {});
		await host.run("agent_end", { messages: [], success: true }, owner);
		await until(server, "/hooks/agent_end");
		assert.deepEqual(server.requests.map((r) => r.path), ["/hooks/agent_end"]);
	});
}

test("what was said before the session ended is not passed on, whichever instance hears of the end", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, answers);
	const [one, other] = [load({ url: server.url, secret }), load({ url: server.url, secret })];
	const said = async () => {
		await one.beforeToolCall(exec(), owner);
		return server.of("/verify").at(-1).body.context.userMessages?.map((m) => m.text);
	};
	await one.run("before_agent_run", { prompt: "before", messages: [], senderId: "111", senderIsOwner: true }, owner);
	assert.deepEqual(await said(), ["before"]);
	await new Promise((done) => setTimeout(done, 2)); // the end is told by the millisecond
	await other.run("session_end", { sessionKey: owner.sessionKey, reason: "new", nextSessionId: owner.sessionId }, owner);
	assert.equal(await said(), undefined);
	await one.run("before_agent_run", { prompt: "after", messages: [], senderId: "111", senderIsOwner: true }, { ...owner, runId: "run-2" });
	assert.deepEqual(await said(), ["after"]);
});

test("no text of a message or a tool's output is ever reported", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, answers);
	const host = load({ url: server.url, secret, sendUserMessages: false });
	const canary = "canary.person@example.com";
	await host.run("before_agent_run", { prompt: `Write to ${canary} about the wedding`, messages: [{ role: "user", content: canary }], systemPrompt: canary, senderId: "111", senderIsOwner: true }, owner);
	await host.run("after_tool_call", { toolName: "read", params: {}, result: { content: [{ type: "text", text: `${canary} again` }], details: { text: canary } } }, owner);
	await host.run("after_tool_call", { toolName: "exec", params: { command: canary }, error: canary, result: canary }, owner);
	await host.run("agent_end", { messages: [canary], success: false, error: canary }, owner);
	await until(server, "/hooks/agent_end");
	await host.beforeToolCall(exec(), owner);
	assert.equal(server.of("/hooks/after_tool_call").length, 2);
	const sent = Buffer.concat(server.requests.map((r) => r.raw)).toString();
	assert.doesNotMatch(sent, /canary|wedding/i);
});

test("a result that can't be read counts as outside content that bears a secret", async (t) => {
	const server = await listen(t);
	const host = load({ url: server.url, secret });
	let deep = [];
	for (let i = 0; i < 200_000; i++) deep = [deep];
	const unread = [deep, "x".repeat(9 << 20), { content: [{ type: "text", text: "x".repeat(9 << 20) }] }];
	for (const result of ["x", ...unread]) await host.run("after_tool_call", { toolName: "read", params: {}, result }, owner);
	await until(server, "/hooks/after_tool_call", 1 + unread.length);
	const got = server.of("/hooks/after_tool_call").map(({ body: { event } }) => [event.marked, event.secret]);
	assert.deepEqual(got, [[undefined, undefined], ...unread.map(() => [true, true])]);
});

test("a question waits until the server knows what was read", { timeout: 10_000 }, async (t) => {
	let free;
	const server = await listen(t, async (request) => {
		if (request.path === "/verify") return { decision: "allow" };
		await new Promise((done) => (free = done));
		return { accepted: true };
	});
	const host = load({ url: server.url, secret });
	await host.run("after_tool_call", { toolName: "read", params: {}, result: "x" }, owner);
	await until(server, "/hooks/after_tool_call");
	const asked = host.beforeToolCall(exec("ls"), owner);
	await host.beforeToolCall(exec(), { ...owner, sessionKey: "agent:main:other" });
	assert.deepEqual(server.of("/verify").map((r) => r.body.context.sessionKey), ["agent:main:other"]);
	free();
	assert.deepEqual(await asked, { runs: { command: "ls" } });
});

test("a server that takes no events still decides", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, (request) => (request.path === "/verify" ? { decision: "allow" } : void request.res.writeHead(404).end()));
	const host = load({ url: server.url, secret });
	for (let i = 0; i < 3; i++) {
		assert.equal(await host.run("before_agent_run", { prompt: "x", messages: [] }, owner), undefined);
		assert.deepEqual(await host.beforeToolCall(exec("ls"), owner), { runs: { command: "ls" } });
	}
	assert.equal(host.lines.filter((l) => l.includes("context_assembled could not be reported")).length, 1, host.lines.join("\n"));
});

test("events of one conversation keep their order, one at a time", { timeout: 10_000 }, async (t) => {
	let inFlight = 0;
	let most = 0;
	const server = await listen(t, async () => {
		most = Math.max(most, ++inFlight);
		for (let i = 0; i < 20; i++) await new Promise((done) => setImmediate(done));
		inFlight--;
		return { accepted: true };
	});
	const host = load({ url: server.url, secret });
	await host.run("llm_input", { tools: [{ name: "read" }] }, owner);
	for (let i = 0; i < 20; i++) host.run("after_tool_call", { toolName: `tool${i}`, params: {}, result: "x" }, owner);
	await host.run("before_prompt_build", {}, owner);
	const got = server.requests.map((r) => r.body.event.toolName ?? r.path);
	assert.deepEqual(got, [...Array.from({ length: 20 }, (_, i) => `tool${i}`), "/hooks/before_llm_call"]);
	assert.equal(most, 1);
});

test("a flood of events is bounded", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => undefined);
	const host = load({ url: server.url, secret });
	for (let i = 0; i < 1000; i++) await host.run("agent_end", { success: true }, { ...owner, sessionKey: `agent:main:s${i}` });
	assert.match(host.lines.join("\n"), /more than 200 events wait/);
	assert.ok(server.requests.length <= 200);
});

test("a call that was blocked brought nothing in, and a wrapper is not reported twice", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, accepted);
	const host = load({ url: server.url, secret });
	await host.run("after_tool_call", { toolName: "exec", params: {}, toolCallId: "call_b", error: "no", result: { content: [], details: { status: "blocked" } } }, owner);
	await host.run("after_tool_call", { toolName: "tool_call", params: { id: "read" }, result: "x" }, owner);
	await host.run("after_tool_call", { toolName: "read", params: {}, result: "x" }, owner);
	const got = await until(server, "/hooks/after_tool_call");
	assert.deepEqual(got.map((r) => r.body.event.toolName), ["read"]);
});

test("the list of tools is left alone where the plugin can't see all of it", async (t) => {
	const server = await listen(t, () => ({ accepted: true, tools: [] }));
	const host = load({ url: server.url, secret });
	assert.equal(await host.run("before_prompt_build", {}, owner), undefined, "before the list was seen");
	await host.run("llm_input", { tools: [{ name: "read" }, { name: "tool_call" }] }, owner);
	assert.equal(await host.run("before_prompt_build", {}, owner), undefined, "with tool search");
	assert.equal(server.requests.length, 0);
	await host.run("llm_input", { tools: [{ function: { name: "read" } }] }, owner);
	assert.deepEqual(await host.run("before_prompt_build", {}, owner), { toolsAllow: [] });
});

test("a turn that the server blocks does not reach the model", async (t) => {
	const server = await listen(t, () => ({ accepted: true, block: true, blockReason: "Paused by the owner." }));
	const host = load({ url: server.url, secret });
	await host.run("llm_input", { tools: [{ name: "read" }] }, owner);
	await host.run("before_prompt_build", {}, owner);
	assert.deepEqual(await host.run("before_agent_run", { prompt: "x", messages: [] }, owner), { outcome: "block", reason: "blocked by verifier", message: "Paused by the owner." });
	assert.equal(await host.run("before_agent_run", { prompt: "x", messages: [] }, { ...owner, runId: "run-2" }), undefined);
});

test("an error in a report never fails the run it reports on", async (t) => {
	const server = await listen(t, accepted);
	const host = load({ url: server.url, secret });
	const hostile = { get prompt() { throw new Error("no"); } };
	assert.equal(await host.run("before_agent_run", hostile, owner), undefined);
	assert.equal(await host.run("after_tool_call", undefined, undefined), undefined);
	assert.match(host.lines.join("\n"), /before_agent_run could not be handled/);
});

// OpenClaw's scheduler, as its own events show it.
const job = { id: "916e0fc5-6562-4ff3-8de9-9b602a896594", agentId: "main", name: "iso", schedule: { kind: "cron", expr: "0 7 * * *" }, sessionTarget: "isolated", payload: { kind: "agentTurn", message: "Send the report to ann@example.com" } };
const changed = (action, more = {}) => ({ action, jobId: job.id, job: { ...job, ...more }, sessionTarget: job.sessionTarget, agentId: job.agentId });

test("H163 what becomes of scheduled jobs is reported, without their texts", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, accepted);
	const host = load({ url: server.url, secret });
	for (const action of ["added", "updated", "scheduled", "started", "finished", "removed"]) await host.run("cron_changed", changed(action), {});
	await host.run("cron_changed", { action: "started", jobId: "j2" }, {});
	const sent = await until(server, "/hooks/cron_changed", 4);
	assert.deepEqual(sent.map((r) => [r.body.context, r.body.event]), [
		...["started", "finished", "removed"].map((action) => [{ agentId: "main" }, { action, jobId: job.id, sessionTarget: "isolated" }]),
		[{ agentId: "main" }, { action: "started", jobId: "j2" }],
	]);
	assert.doesNotMatch(Buffer.concat(sent.map((r) => r.raw)).toString(), /report|iso"/);
});

test("H163 a job whose text comes from elsewhere is not vouched for", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, accepted);
	const host = load({ url: server.url, secret });
	for (const more of [{ payload: { ...job.payload, externalContentSource: "webhook" } }, { schedule: { kind: "stream", command: ["tail"] } }, { schedule: { kind: "on-exit", command: "x" } }]) {
		await host.run("cron_changed", changed("started", more), {});
	}
	assert.deepEqual((await until(server, "/hooks/cron_changed", 3)).map((r) => r.body.event.outside), [true, true, true]);
});

test("H195 a run in a job's session that is not of that job is from outside", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, answers);
	const [first, second] = [load({ url: server.url, secret }), load({ url: server.url, secret })];
	const run = (runId, more = {}) => ({ agentId: "main", sessionKey: `agent:main:cron:${job.id}:run:${runId}`, runId, trigger: "cron", ...more });
	const begin = async (runId, jobId, more) => {
		if (jobId) assert.equal(await first.run("before_agent_reply", { cleanedBody: "x" }, { ...run(runId), jobId }), undefined);
		await second.run("before_agent_run", { prompt: "x", messages: [] }, run(runId, more));
	};
	await begin("own", job.id);
	await begin("webhook", "4401eadd-025e-4600-bdfc-8caf64a4a621");
	await begin("unknown");
	await begin("woken", undefined, { trigger: "heartbeat" });
	const sent = await until(server, "/hooks/context_assembled", 4);
	assert.deepEqual(sent.map((r) => [r.body.context.runId, r.body.context.inputProvenance?.kind]), [["own", undefined], ["webhook", "outside_content"], ["unknown", "outside_content"], ["woken", undefined]]);
	await second.run("before_tool_call", { toolName: "exec", params: {}, runId: "webhook" }, run("webhook"));
	const [asked] = server.of("/verify");
	assert.equal(asked?.body.context.inputProvenance?.kind, "outside_content");
});

test("H173 which session a call has started goes with what it returned, and with nothing else", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, answers);
	const host = load({ url: server.url, secret });
	const after = (toolName, details) => host.run("after_tool_call", { toolName, params: {}, toolCallId: "c1", result: { content: [], details } }, owner);
	const childSessionKey = "agent:main:subagent:1";
	await after("sessions_spawn", { status: "accepted", childSessionKey });
	await after("exec", { childSessionKey });
	await after("sessions_spawn", { childSessionKey: 1 });
	const sent = await until(server, "/hooks/after_tool_call", 3);
	assert.deepEqual(sent.map((r) => r.body.event.childSessionKey), [childSessionKey, undefined, undefined]);
});

test("a run of a job waits until the other instance has told that the job was started", { timeout: 10_000 }, async (t) => {
	let free;
	const order = [];
	const server = await listen(t, async (request) => {
		if (request.path === "/hooks/cron_changed") await new Promise((done) => (free = done));
		order.push(request.path);
		return { accepted: true };
	});
	const [schedules, runs] = [load({ url: server.url, secret }), load({ url: server.url, secret })];
	await schedules.run("cron_changed", changed("started"), {});
	await until(server, "/hooks/cron_changed");
	const begun = runs.run("before_agent_run", { prompt: "x", messages: [] }, { ...owner, requester: undefined, sessionKey: `agent:main:cron:${job.id}:run:1` });
	await runs.run("before_agent_run", { prompt: "x", messages: [] }, owner); // another conversation's does not
	await until(server, "/hooks/context_assembled");
	free();
	await begun;
	await until(server, "/hooks/context_assembled", 2);
	assert.deepEqual(order, ["/hooks/context_assembled", "/hooks/cron_changed", "/hooks/context_assembled"]);
});
