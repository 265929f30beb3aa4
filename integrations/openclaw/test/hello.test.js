// The plugin tells the server that it is loaded where calls are made, and nowhere else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createGreeter, createHello } from "../hello.js";
import { load } from "./host.js";
import { listen, secret } from "./server.js";

async function until(server, path, least = 1) {
	while (server.of(path).length < least) await new Promise((done) => setImmediate(done));
	return server.of(path);
}

test("hello is said when the gateway starts, and not when the plugin is only loaded", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => ({ accepted: true }));
	const host = load({ url: server.url, secret, scope: { exclude: ["ls"] } }, { hooks: { allowConversationAccess: true } });
	await new Promise((done) => setTimeout(done, 50));
	assert.equal(server.requests.length, 0);
	t.after(() => host.run("gateway_stop", {}, {}));
	await host.run("gateway_start", { port: 1 }, {});
	const [{ body }] = await until(server, "/hooks/hello");
	const { instance, ...about } = body.event;
	assert.match(instance, /^[0-9a-f-]{36}$/);
	assert.deepEqual(about, { runtime: "OpenClaw", version: "0.1.0", failMode: "deny", scope: "every tool but ls" });
});

test("a plugin that is switched off says so, and one that sees no conversations, too", { timeout: 10_000 }, async (t) => {
	const server = await listen(t, () => ({ accepted: true }));
	const host = load({ url: server.url, secret, enabled: false });
	t.after(() => host.run("gateway_stop", {}, {}));
	await host.run("gateway_start", { port: 1 }, {});
	const [{ body }] = await until(server, "/hooks/hello");
	assert.deepEqual([body.event.off, body.event.blind], [true, true]);
	assert.match(host.lines.join("\n"), /restart the gateway/);
});

// clock runs what was put off, when the test says so.
function clock() {
	const due = [];
	return { due, wait: (f, ms) => due.push({ f, ms }), stop: () => due.splice(0) };
}

test("it is said again every five minutes, and soon where it did not arrive; after the gateway stops no more", async () => {
	const { due, ...time } = clock();
	const greeter = createGreeter({ instance: "i", ...time });
	const said = [];
	const arrives = [false, true, Promise.reject(new Error("x"))];
	arrives[2].catch(() => {});
	greeter.speaks(async (instance) => (said.push(instance), arrives[said.length - 1]));
	assert.equal(said.length, 0);
	greeter.gatewayStarted();
	for (const wants of [15_000, 300_000, 15_000]) {
		await new Promise((done) => setImmediate(done));
		assert.deepEqual(due.map((d) => d.ms), [wants]);
		due[0].f();
	}
	greeter.gatewayStopped();
	await new Promise((done) => setImmediate(done));
	assert.equal(due.length, 0);
	assert.deepEqual([...new Set(said)], ["i"]);
});

test("a plugin that is loaded anew speaks at once, and the old one no more", async () => {
	const { due, ...time } = clock();
	const greeter = createGreeter({ instance: "i", ...time });
	const said = [];
	greeter.speaks(async () => (said.push("old"), true));
	greeter.gatewayStarted();
	await new Promise((done) => setImmediate(done));
	greeter.speaks(async () => (said.push("new"), true));
	await new Promise((done) => setImmediate(done));
	assert.equal(due.length, 1);
	due[0].f();
	await new Promise((done) => setImmediate(done));
	assert.deepEqual(said, ["old", "new", "new"]);
});

test("what the plugin asks about is named shortly", async () => {
	const sent = [];
	const reports = { ask: async (name, _context, event) => void sent.push([name, event.scope]) };
	for (const scope of [{}, { include: new Set(["exec"]) }, { exclude: new Set(Array.from({ length: 9 }, (_, i) => `tool${i}`)) }]) {
		assert.equal(await createHello({ settings: { enabled: true, failMode: "deny", scope }, reports })("i"), false);
	}
	assert.deepEqual(sent, [["hello", undefined], ["hello", "only exec"], ["hello", "every tool but tool0, tool1, tool2, tool3, tool4 and 4 more"]]);
});
