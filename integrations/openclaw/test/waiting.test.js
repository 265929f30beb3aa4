// The chat shows that a call waits: a fixed text, to the owner alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createWaiting, text } from "../waiting.js";
import { owner } from "./host.js";

const soon = () => new Promise((done) => setImmediate(done));

// chat is OpenClaw with a conversation in a direct chat.
function chat({ delivery = { kind: "external", context: { channel: "telegram", to: "telegram:111", accountId: "default" } } } = {}) {
	const sent = [];
	const due = new Set();
	const log = [];
	const clock = { time: 0 };
	const runtime = {
		agent: { session: { getSessionEntry: ({ sessionKey }) => (sessionKey === owner.sessionKey ? { delivery } : undefined) } },
		channel: { outbound: { loadAdapter: async (channel) => ({ sendText: async (message) => void sent.push({ channel, ...message }) }) } },
	};
	const wait = (f, ms) => {
		const timer = { f, ms };
		due.add(timer);
		return timer;
	};
	const watch = createWaiting({ runtime, config: "config", log: { warn: (line) => log.push(line) }, wait, stop: (timer) => due.delete(timer), now: () => clock.time });
	const pass = async () => {
		for (const timer of due) due.delete(timer), timer.f();
		await soon();
	};
	return { watch, sent, due, pass, clock, runtime, log };
}

test("a call that is held is told of in the owner's chat, once a minute", async () => {
	const { watch, sent, due, pass, clock } = chat();
	watch(owner)();
	assert.equal(due.size, 0); // answered in time
	for (const time of [0, 1000, 59_999, 60_000]) {
		clock.time = time;
		watch(owner);
		assert.deepEqual([...due].map((t) => t.ms), [5000]);
		await pass();
	}
	const message = { channel: "telegram", cfg: "config", to: "telegram:111", text, accountId: "default", threadId: undefined };
	assert.deepEqual(sent, [message, message]);
});

test("H193 nobody but the owner in a direct chat is told, and nothing of the call", async () => {
	const { watch, sent, pass } = chat();
	for (const ctx of [
		{ ...owner, requester: { ...owner.requester, senderIsOwner: false } },
		{ ...owner, requester: undefined },
		{ ...owner, requester: { ...owner.requester, channel: "discord" } }, // its last message came from elsewhere
		{ ...owner, sessionKey: "agent:main:telegram:group:-100333" },
		{ ...owner, sessionKey: "agent:main:subagent:1" },
		{ ...owner, sessionKey: "agent:main:other" },
		{ ...owner, sessionKey: undefined },
	]) watch(ctx);
	await pass();
	assert.deepEqual(sent, []);
	assert.doesNotMatch(text, /exec|\.approve|ref/);
});

test("where OpenClaw has no such chat, or it fails, the call goes on", async () => {
	for (const runtime of [undefined, {}, { channel: {} }]) createWaiting({ runtime, log: console, wait: assert.fail })(owner)();
	const { watch, pass, sent, runtime, log } = chat();
	runtime.channel.outbound.loadAdapter = () => assert.fail("taken when the plugin started");
	watch(owner);
	await pass();
	assert.equal(sent.length, 1);
	const failing = chat();
	const watchFailing = createWaiting({ runtime: { ...failing.runtime, channel: { outbound: { loadAdapter: async () => ({ sendText: async () => Promise.reject(new Error("offline")) }) } } }, log: { warn: (line) => log.push(line) }, wait: (f) => void f() });
	watchFailing(owner);
	await soon();
	assert.match(log.join(), /offline/);
	const internal = chat({ delivery: { kind: "internal" } });
	internal.watch(owner);
	await internal.pass();
	assert.deepEqual(internal.sent, []);
});

test("H215 with a session that people share, only the owner's own chat is told", async () => {
	const in_ = async (context, ctx = owner) => {
		const { watch, sent, pass } = chat({ delivery: { kind: "external", context: { channel: "telegram", accountId: "default", ...context } } });
		watch(ctx);
		await pass();
		return sent.length;
	};
	for (const to of ["telegram:111", "111", "user:111", "telegram:user:111"]) assert.equal(await in_({ to }), 1, to);
	for (const to of ["telegram:222", "222", "telegram:1111", "telegram:111:222", "channel:111", "telegram:group:111", "-100333", "telegram:-100333", "", undefined, 111, "telegram:"])
		assert.equal(await in_({ to }), 0, String(to));
	assert.equal(await in_({ to: "telegram:111", accountId: "other" }, { ...owner, requester: { ...owner.requester, accountId: "default" } }), 0);
	assert.equal(await in_({ to: "telegram:111" }, { ...owner, requester: { ...owner.requester, senderId: undefined } }), 0);
	assert.equal(await in_({ to: "telegram:" }, { ...owner, requester: { ...owner.requester, senderId: "" } }), 0);
});
