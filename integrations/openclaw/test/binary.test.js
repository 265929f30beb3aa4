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

test("with another secret nothing runs", async () => {
	const got = await load({ ...config, secret: "5e3d6f0a91c24b7788aa01bc" }).beforeToolCall(exec(), owner);
	assert.match(got.blocked, /did not answer/);
});

test("when the server is gone nothing runs", async () => {
	server.kill();
	await once(server, "exit");
	assert.match((await load(config).beforeToolCall(exec(), owner)).blocked, /did not answer/);
});
