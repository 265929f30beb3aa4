import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lastOfAll } from "../index.js";
import { isLoopback, readSettings } from "../settings.js";
import { exec, load, owner } from "./host.js";
import { listen, secret } from "./server.js";

const ok = { url: "https://verifier.example/verify", secret };
const notSetUp = /The verifier plugin is not set up/;

const wrong = [
	["no secret", { url: ok.url }, "config.secret is missing"],
	["an empty secret", { ...ok, secret: "" }, "config.secret is missing"],
	["a secret that is no text", { ...ok, secret: { source: "env" } }, "config.secret must be a text"],
	["a variable that is not set", { ...ok, secret: "${NOT_SET_HERE}" }, "NOT_SET_HERE, which is not set"],
	["a secret file that is not there", { ...ok, secret: "file:/nonexistent/secret" }, "can't be read: ENOENT"],
	["an address that is none", { ...ok, url: "verifier" }, "config.url must be an address"],
	["an address that is no text", { ...ok, url: 8787 }, "config.url must be an address"],
	["another scheme", { ...ok, url: "ftp://verifier.example/" }, "must start with http:// or https://"],
	["a password in the address", { ...ok, url: "https://a:b@verifier.example/" }, "must not hold a password"],
	["both include and exclude", { ...ok, scope: { include: ["exec"], exclude: ["read"] } }, "both include and exclude"],
	["another key in the scope", { ...ok, scope: { tools: ["exec"] } }, "config.scope must be"],
	["a scope that is a list", { ...ok, scope: ["exec"] }, "config.scope must be"],
	["a tool without a name", { ...ok, scope: { include: [" "] } }, "config.scope.include must be a list"],
	["another failMode", { ...ok, failMode: "open" }, "config.failMode must be deny or allow"],
	["another failMode of an agent", { ...ok, agents: { main: { failMode: "open" } } }, "config.agents.main.failMode"],
	["another key of an agent", { ...ok, agents: { main: { scope: {} } } }, "config.agents.main must look like"],
	["a time that is too long", { ...ok, timeoutMs: 600_000 }, "config.timeoutMs must be"],
	["a time that is no number", { ...ok, timeoutMs: "30s" }, "config.timeoutMs must be"],
	["a switch that is no switch", { ...ok, enabled: "false" }, "config.enabled must be true or false"],
	["a key that nobody knows", { ...ok, failmode: "deny" }, "config.failmode is not known"],
	["a header that is the plugin's own", { ...ok, headers: { "x-openclaw-signature": "0" } }, "set by the plugin itself"],
	["a header of two lines", { ...ok, headers: { A: "1\r\nB: 2" } }, "must be a text on one line"],
	["a header whose variable is not set", { ...ok, headers: { A: "${NOT_SET_HERE}" } }, "Is its variable set?"],
	["a name that is none for a header", { ...ok, headers: { "A:": "1" } }, "is no name for a header"],
	["a config that is a list", [], "config must be an object"],
];

for (const [name, config, problem] of wrong) {
	test(`${name}: every call is blocked, and the log says why`, async () => {
		const host = load(config);
		assert.match((await host.beforeToolCall(exec(), owner)).blocked, notSetUp);
		assert.ok(host.lines.some((l) => l.startsWith("error") && l.includes(problem)), host.lines.join("\n"));
		assert.doesNotMatch(host.lines.join("\n"), new RegExp(secret));
	});
}

test("a plugin that is switched off asks nothing and says so", () => {
	const host = load({ ...ok, enabled: false });
	assert.deepEqual(host.registered("before_tool_call"), []);
	assert.match(host.lines.join("\n"), /switched off/);
});

test("plain http to another machine is refused in production and warned of elsewhere", async () => {
	const config = { url: "http://verifier.example/verify", secret };
	assert.match((await load(config, { env: { NODE_ENV: "production" } }).beforeToolCall(exec(), owner)).blocked, notSetUp);
	const elsewhere = load(config, { env: { NODE_ENV: "development" } });
	assert.match(elsewhere.lines.join("\n"), /warn verifier: config\.url is plain http to another machine/);
	for (const url of ["http://127.0.0.1:8787/verify", "http://localhost/verify", "http://[::1]:1/verify", "https://verifier.example/verify"]) {
		assert.deepEqual(load({ url, secret }, { env: { NODE_ENV: "production" } }).lines, [], url);
	}
});

test("only loopback is loopback", () => {
	const hosts = (urls) => urls.map((u) => isLoopback(new URL(u).hostname));
	assert.deepEqual(hosts(["http://127.0.0.1", "http://127.1", "http://0x7f000001", "http://2130706433", "http://LOCALHOST", "http://a.localhost", "http://[0:0::1]"]), Array(7).fill(true));
	assert.deepEqual(hosts(["http://127.0.0.1.example.com", "http://localhost.example.com", "http://0.0.0.0", "http://[::ffff:127.0.0.1]", "http://10.0.0.1", "http://notlocalhost"]), Array(6).fill(false));
});

test("the secret may stand in the config, a variable, VERIFIER_SECRET or a file of one's own", (t) => {
	const dir = mkdtempSync(join(tmpdir(), "verifier-"));
	t.after(() => rmSync(dir, { recursive: true }));
	const file = join(dir, "secret");
	writeFileSync(file, `${secret}\n`, { mode: 0o600 });
	const read = (config, env) => readSettings({ url: ok.url, ...config }, { env });
	assert.equal(read({ secret }).secret, secret);
	assert.equal(read({ secret: "${MY_SECRET}" }, { MY_SECRET: secret }).secret, secret);
	assert.equal(read({}, { VERIFIER_SECRET: secret }).secret, secret);
	assert.equal(read({ secret: `file:${file}` }).secret, secret);
	chmodSync(file, 0o640);
	assert.match(read({ secret: `file:${file}` }).problems.join(), /others can read/);
});

test("the address of the server may leave out /verify, and defaults to this machine", () => {
	const url = (u) => readSettings({ url: u, secret }).url.href;
	assert.equal(url("https://verifier.example"), "https://verifier.example/verify");
	assert.equal(url("https://example.com/gate/verify"), "https://example.com/gate/verify");
	assert.equal(url(undefined), "http://127.0.0.1:8787/verify");
});

test("the hook may take longer than the wait, and runs after all others", () => {
	const [hook] = load({ ...ok, timeoutMs: 60_000 }).registered("before_tool_call");
	assert.equal(hook.timeoutMs, 65_000);
	assert.equal(hook.priority, lastOfAll);
});

test("a call waits no longer than OpenClaw grants the hook", async (t) => {
	const server = await listen(t);
	for (const [hooks, waits] of [[{ timeouts: { before_tool_call: 35_000 } }, 30_000], [{ timeoutMs: 20_000 }, 15_000], [{ timeoutMs: 600_000 }, 300_000]]) {
		const host = load({ url: server.url, secret }, { hooks });
		await host.beforeToolCall(exec(), owner);
		assert.equal(server.requests.at(-1).body.context.waitMs, waits);
		assert.equal(host.lines.length > 0, waits < 300_000);
	}
});

test("OpenClaw never refuses to load the plugin for its config: without it nothing would be asked", () => {
	const manifest = JSON.parse(readFileSync(new URL("../openclaw.plugin.json", import.meta.url)));
	assert.deepEqual(manifest.configSchema, { type: "object", additionalProperties: true });
});

test("an error while it starts blocks every call", async () => {
	const hostile = { get url() { throw new Error("no"); } };
	const host = load(hostile);
	assert.match((await host.beforeToolCall(exec(), owner)).blocked, notSetUp);
});
