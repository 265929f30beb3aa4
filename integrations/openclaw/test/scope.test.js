import assert from "node:assert/strict";
import { test } from "node:test";
import { exec, load, owner } from "./host.js";
import { listen, reply, secret } from "./server.js";

const verify = "/verify";
const notice = "/hooks/before_tool_call";
const fetchPage = { toolName: "web_fetch", params: { url: "https://example.com/" }, toolCallId: "call_f" };

const serves = (t, onNotice = () => ({ accepted: true })) => listen(t, { [verify]: () => ({ decision: "allow" }), [notice]: onNotice });

test("scope.include: only the tools named are asked about", async (t) => {
	const server = await serves(t);
	const host = load({ url: server.url, secret, scope: { include: ["Bash", "write"] } });
	for (const toolName of ["exec", "write", "read", "exеc"]) await host.beforeToolCall({ toolName, params: {} }, owner);
	assert.deepEqual(server.of(verify).map((r) => r.body.tool.name), ["exec", "write"]);
});

test("scope.exclude: all but the tools named are asked about", async (t) => {
	const server = await serves(t);
	const host = load({ url: server.url, secret, scope: { exclude: ["read", "cron"] } });
	for (const toolName of ["exec", "read", "automations", "reаd"]) await host.beforeToolCall({ toolName, params: {} }, owner);
	assert.deepEqual(server.of(verify).map((r) => r.body.tool.name), ["exec", "reаd"]);
});

test("a call outside the scope runs, and the server knows of it before", async (t) => {
	const server = await serves(t);
	const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
	assert.deepEqual(await host.beforeToolCall(fetchPage, owner), { runs: fetchPage.params });
	const [{ signed, body }] = server.of(notice);
	assert.ok(signed);
	assert.equal(body.notice, true);
	assert.deepEqual(body.tool, { name: "web_fetch", params: fetchPage.params });
	assert.equal(body.context.senderId, "111");
});

test("a notice that could not be delivered is delivered before the next question", async (t) => {
	let up = false;
	const server = await serves(t, (request) => (up ? { accepted: true } : reply(request, {}, { status: 503 })));
	const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
	assert.deepEqual(await host.beforeToolCall(fetchPage, owner), { runs: fetchPage.params });
	assert.match((await host.beforeToolCall(exec(), owner)).blocked, /did not answer/);
	assert.equal(server.of(verify).length, 0, "a question was put while the server did not know of the fetch");
	up = true;
	assert.deepEqual(await host.beforeToolCall(exec("ls"), owner), { runs: { command: "ls" } });
	const order = server.requests.slice(-2).map((r) => [r.path, r.body.tool.name]);
	assert.deepEqual(order, [[notice, "web_fetch"], [verify, "exec"]]);
	await host.beforeToolCall(exec(), owner);
	assert.equal(server.requests.at(-2).path, verify, "a debt was paid twice");
});

test("what is owed in one conversation does not hold up another", async (t) => {
	const server = await serves(t, (request) => reply(request, {}, { status: 503 }));
	const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
	await host.beforeToolCall(fetchPage, owner);
	assert.deepEqual(await host.beforeToolCall(exec("ls"), { ...owner, sessionKey: "agent:main:other" }), { runs: { command: "ls" } });
});

test("what a child owes is paid before its parent's next question, and the other way round", async (t) => {
	let up = false;
	const server = await listen(t, (request) => {
		if (request.path === verify) return { decision: "allow" };
		return up || request.path !== notice ? { accepted: true } : reply(request, {}, { status: 503 });
	});
	const child = { ...owner, sessionKey: "agent:main:subagent:1" };
	for (const [debtor, asks] of [[child, owner], [owner, child]]) {
		const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
		await host.run("subagent_spawned", { childSessionKey: child.sessionKey }, { requesterSessionKey: owner.sessionKey });
		up = false;
		await host.beforeToolCall(fetchPage, debtor);
		assert.match((await host.beforeToolCall(exec(), asks)).blocked, /did not answer/);
		up = true;
		assert.ok((await host.beforeToolCall(exec(), asks)).runs);
		assert.deepEqual(server.requests.slice(-2).map((r) => r.path), [notice, verify]);
	}
});

test("several questions at once pay a debt once, and none overtakes it", async (t) => {
	let up = false;
	const server = await serves(t, (request) => (up ? { accepted: true } : reply(request, {}, { status: 503 })));
	const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
	for (let i = 0; i < 3; i++) await host.beforeToolCall(fetchPage, owner);
	up = true;
	const before = server.requests.length;
	await Promise.all(Array.from({ length: 8 }, () => host.beforeToolCall(exec(), owner)));
	const paths = server.requests.slice(before).map((r) => r.path);
	assert.deepEqual(paths, [...Array(3).fill(notice), ...Array(8).fill(verify)]);
});

test("when more is owed than is kept, a call outside the scope does not run unseen", async (t) => {
	const server = await serves(t, (request) => reply(request, {}, { status: 503 }));
	const host = load({ url: server.url, secret, scope: { include: ["exec"] } });
	for (let i = 0; i < 100; i++) assert.ok((await host.beforeToolCall(fetchPage, owner)).runs);
	assert.match((await host.beforeToolCall(fetchPage, owner)).blocked, /did not answer/);
});

test("a notice that the server refuses blocks the call, whatever failMode says", async (t) => {
	const server = await serves(t, () => ({ accepted: false, reason: "The body is not one valid JSON value." }));
	const host = load({ url: server.url, secret, failMode: "allow", scope: { include: ["exec"] } });
	assert.deepEqual(await host.beforeToolCall(fetchPage, owner), { blocked: "The body is not one valid JSON value." });
});
