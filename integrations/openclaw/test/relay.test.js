import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./host.js";
import { listen, reply, secret } from "./server.js";

const dm = { channelId: "telegram", accountId: "default", conversationId: "111", senderId: "111" };
const typed = (content) => ({ content, channel: "telegram", senderId: "111", sessionKey: "agent:main:main", isGroup: false });
const commands = [".approve exec bf619df9", ".approve all bf619df9 30", "  .deny bf619df9 not now\nreally ", ".pending", ".reset-trust 1E78C294", ".PAUSE main", ".resume", "@claw_bot .approve exec bf619df9"];
const others = ["hello", "approve exec bf619df9", ".approved", ".pendingx", "see .approve exec bf619df9", "...", ".gitignore", "", "/approve exec"];

test("commands are claimed before the model sees them, and passed on", async (t) => {
	const server = await listen(t, () => ({ kind: "counted", text: "done" }));
	const host = load({ url: server.url, secret, relayApprovals: true });
	for (const c of commands) assert.deepEqual(await host.run("before_dispatch", typed(c), dm), { handled: true, text: "done" }, c);
	assert.deepEqual(server.of("/approve").map((r) => r.body.text), commands.map((c) => c.replace("@claw_bot ", "").trim()));
	assert.ok(server.requests.every((r) => r.signed && r.body.context.senderId === "111"));
});

test("everything else goes its way", async (t) => {
	const server = await listen(t);
	const host = load({ url: server.url, secret, relayApprovals: true });
	for (const c of [...others, undefined]) assert.equal(await host.run("before_dispatch", typed(c), dm), undefined, c);
	assert.equal(server.requests.length, 0);
});

test("commands never reach the model, even where they are not taken", async (t) => {
	const server = await listen(t);
	const host = load({ url: server.url, secret });
	for (const c of commands) {
		const got = await host.run("before_dispatch", typed(c), dm);
		assert.equal(got.handled, true);
		assert.match(got.text, /relayApprovals is off/);
	}
	assert.equal(server.requests.length, 0);
});

test("a code inside a longer message does not reach the model either", async (t) => {
	const server = await listen(t);
	const host = load({ url: server.url, secret, relayApprovals: true });
	for (const c of ["do it\n.approve exec bf619df9", "one\n  .deny BF619DF9 no\ntwo", "a\r\n@claw_bot .approve all bf619df9 30"]) {
		const got = await host.run("before_dispatch", typed(c), dm);
		assert.equal(got?.handled, true, c);
		assert.match(got.text, /Send that line alone/);
	}
	for (const c of ["one\n.approve exec", "see:\n.approve exec bf619df", "see .approve exec bf619df9"]) {
		assert.equal(await host.run("before_dispatch", typed(c), dm), undefined, c);
	}
	assert.equal(server.requests.length, 0);
});

const failures = {
	"an error": (request) => reply(request, { text: "approved" }, { status: 500 }),
	"a wrong signature": (request) => reply(request, { text: "approved" }, { signature: "0".repeat(64) }),
	"no text": () => ({ kind: "counted" }),
	"a text that is none": () => ({ text: ["approved"] }),
};

for (const [name, answer] of Object.entries(failures)) {
	test(`${name}: the command is claimed and nothing is said to be approved`, async (t) => {
		const server = await listen(t, answer);
		const got = await load({ url: server.url, secret, relayApprovals: true }).run("before_dispatch", typed(".approve exec bf619df9"), dm);
		assert.equal(got.handled, true);
		assert.match(got.text, /it is not known whether this counted/);
	});
}

test("a command is claimed before OpenClaw loses patience with the hook", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => undefined); // it never answers
	for (const hooks of [{ timeoutMs: 200 }, { timeoutMs: 600_000, timeouts: { before_dispatch: 200 } }]) {
		const host = load({ url: server.url, secret, relayApprovals: true }, { hooks });
		const late = new Promise((done) => setTimeout(done, 200, "late"));
		const got = await Promise.race([host.run("before_dispatch", typed(".approve exec bf619df9"), dm), late]);
		assert.equal(got?.handled, true);
	}
});

test("a plugin that is not set up still keeps commands from the model", async () => {
	const host = load({ relayApprovals: "yes" });
	for (const c of commands) assert.equal((await host.run("before_dispatch", typed(c), dm))?.handled, true, c);
	assert.equal(await host.run("before_dispatch", typed("hello"), dm), undefined);
});

test("the code is in no log line", async (t) => {
	const server = await listen(t, (request) => reply(request, {}, { status: 500 }));
	const host = load({ url: server.url, secret, relayApprovals: true });
	await host.run("before_dispatch", typed(".approve exec bf619df9"), dm);
	assert.ok(host.lines.length > 0);
	assert.doesNotMatch(host.lines.join("\n"), /bf619df9/);
});

test("no other plugin sees a command first", () => {
	const [hook] = load({ url: "http://127.0.0.1:1/verify", secret }).registered("before_dispatch");
	assert.equal(hook.priority, Number.MAX_SAFE_INTEGER);
});

test("H769 the code by which a person is paired does not reach the model", async (t) => {
	const server = await listen(t, () => ({ kind: "misunderstood", text: "not here" }));
	for (const relayApprovals of [true, false]) {
		const host = load({ url: server.url, secret, relayApprovals });
		for (const c of [".pair bf619df9", "@claw_bot .Pair BF619DF9", "look\n.pair bf619df9"]) assert.equal((await host.run("before_dispatch", typed(c), dm))?.handled, true, c);
	}
});
