// The plugin against the real server: what it sends is understood, what it reads is signed, a held call waits for the owner.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { exec, load, owner } from "./host.js";

const run = promisify(execFile);
const root = new URL("../../..", import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), "verifier-"));
const state = join(dir, "state");
const env = { ...process.env, VERIFIER_STATE: state };
let binary = process.env.VERIFIER_BINARY;
let server;
let config;

before(async () => {
	if (!binary) {
		binary = join(dir, "verifier");
		await run("go", ["build", "-o", binary, "./cmd/verifier"], { cwd: root });
	}
	server = spawn(binary, ["serve", "--listen", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
	for await (const line of createInterface({ input: server.stdout })) {
		const found = /^verifier listens on (\S+)/.exec(line);
		if (found) {
			config = { url: found[1], secret: `file:${join(state, "webhook.secret")}` };
			break;
		}
	}
	assert.ok(config, "the server did not say where it listens");
});

after(async () => {
	if (server?.exitCode === null) {
		server.kill();
		await once(server, "exit");
	}
	rmSync(dir, { recursive: true, force: true });
});

// pending waits until a question is open, and returns its reference.
async function pending() {
	for (;;) {
		const { stdout } = await run(binary, ["pending"], { env });
		const found = /^ +ref +(\w+),/m.exec(stdout);
		if (found) return found[1];
	}
}

test("the owner's own call runs", async () => {
	assert.deepEqual(await load(config).beforeToolCall(exec("date"), owner), { runs: { command: "date" } });
});

test("after a page was read a call waits for the owner, and runs when approved", { timeout: 30_000 }, async () => {
	const host = load(config);
	const tainted = { ...owner, sessionKey: "agent:main:approved" };
	const page = { toolName: "web_fetch", params: { url: "https://example.com/" } };
	assert.deepEqual(await host.beforeToolCall(page, tainted), { runs: page.params });
	const held = host.beforeToolCall(exec("make deploy"), tainted);
	await run(binary, ["approve", await pending()], { env });
	assert.deepEqual(await held, { runs: { command: "make deploy" } });
});

test("a call that the owner denies is blocked with the owner's words", { timeout: 30_000 }, async () => {
	const host = load(config);
	const stranger = { ...owner, sessionKey: "agent:main:denied", requester: { channel: "telegram", senderId: "222", senderIsOwner: false } };
	const held = host.beforeToolCall(exec("make deploy"), stranger);
	await run(binary, ["deny", await pending(), "--reason", "Not on a Friday."], { env });
	assert.match((await held).blocked, /^Denied by the owner \(ref \w+\): Not on a Friday\.$/);
});

test("H192 a yes after the call was denied wakes the session, and its run makes just that call, once", { timeout: 30_000 }, async (t) => {
	let woken;
	const text = new Promise((done) => (woken = done));
	const system = { enqueueSystemEvent: (said) => woken(said), requestHeartbeat: () => {} };
	const host = load({ ...config, timeoutMs: 5000 }, { runtime: { system } }); // the server holds nothing then
	for (const { handler } of host.registered("gateway_start")) await handler({}, {});
	t.after(async () => {
		for (const { handler } of host.registered("gateway_stop")) await handler({}, {});
	});
	const ctx = { ...owner, sessionKey: "agent:main:late", sessionId: "late" };
	const page = { toolName: "web_fetch", params: { url: "https://example.com/" } };
	assert.deepEqual(await host.beforeToolCall(page, ctx), { runs: page.params });
	assert.match((await host.beforeToolCall(exec("git push"), ctx)).blocked, /Owner approval required/);
	await run(binary, ["approve", await pending()], { env });
	assert.match(await text, /^The owner has approved the call of exec that was waiting\./);
	const heartbeat = { ...ctx, runId: "woken", requester: undefined, trigger: "heartbeat", inputProvenance: { kind: "internal_system", sourceTool: "heartbeat" } };
	await host.run("before_agent_run", { prompt: `System: ${await text}`, messages: [] }, heartbeat);
	const call = (command) => host.beforeToolCall({ ...exec(command), runId: "woken" }, heartbeat);
	assert.match((await call("git push --force")).blocked, /Owner approval required/);
	assert.deepEqual(await call("git push"), { runs: { command: "git push" } });
	assert.match((await call("git push")).blocked, /Owner approval required/);
	for (const _ of [1, 2]) await run(binary, ["deny", await pending()], { env });
});

test("H16 an automation that a tainted session schedules starts tainted", { timeout: 30_000 }, async () => {
	const host = load(config);
	const runOf = (key) => ({ ...owner, agentId: "planner", sessionKey: key, sessionId: key, runId: key, requester: undefined });
	const automation = async (key) => {
		const ctx = runOf(key);
		await host.run("before_agent_run", { prompt: "Clean up.", messages: [] }, { ...ctx, trigger: "cron", inputProvenance: { kind: "internal_system", sourceTool: "cron" } });
		return host.beforeToolCall({ ...exec("make clean"), runId: key }, ctx);
	};
	assert.deepEqual(await automation("agent:planner:cron:job:run:1"), { runs: { command: "make clean" } });

	const tainted = { ...owner, agentId: "planner", sessionKey: "agent:planner:main", sessionId: "plans" };
	const page = { toolName: "web_fetch", params: { url: "https://example.com/" } };
	assert.deepEqual(await host.beforeToolCall(page, tainted), { runs: page.params });
	const job = { toolName: "cron", params: { action: "add", job: { schedule: "* * * * *", message: "make clean" } } };
	const scheduled = host.beforeToolCall(job, tainted);
	await run(binary, ["approve", await pending()], { env });
	assert.deepEqual(await scheduled, { runs: job.params });

	const held = automation("agent:planner:cron:job:run:2");
	await run(binary, ["deny", await pending(), "--reason", "Not by itself."], { env });
	assert.match((await held).blocked, /Not by itself\.$/);
});

test("with another secret nothing runs", async () => {
	const got = await load({ ...config, secret: "5e3d6f0a91c24b7788aa01bc" }).beforeToolCall(exec(), owner);
	assert.match(got.blocked, /did not answer/);
});

test("when the server is gone nothing runs", async () => {
	server.kill();
	await once(server, "exit");
	assert.match((await load(config).beforeToolCall(exec(), owner)).blocked, /did not answer/);
});
