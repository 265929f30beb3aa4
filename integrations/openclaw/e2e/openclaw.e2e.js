// The real thing: OpenClaw from npm, set up with the README's commands, and verifier. `make e2e-openclaw` installs and runs it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Rig } from "./rig.js";

const rig = new Rig({ openclaw: process.env.OPENCLAW_DIR, binary: process.env.VERIFIER_BINARY });
const exec = (command) => `RUN exec ${JSON.stringify({ command })}`;
// With tool search, OpenClaw's default, most tools are called through a wrapper.
const fetchPage = () => `RUN tool_call ${JSON.stringify({ id: "web_fetch", args: { url: rig.page.url } })}`;
const patient = { timeout: 120_000 };

before(() => rig.start(), { timeout: 300_000 });
after(() => rig.stop(), { timeout: 60_000 });

test("the README's commands load the plugin", () => {
	assert.match(rig.inspected, /Status: loaded/);
	assert.match(rig.inspected, /before_tool_call/);
	assert.doesNotMatch(rig.inspected, /blocked until/);
});

test("the owner's own call runs", patient, async () => {
	assert.match(await rig.tell(exec("echo from-the-owner")), /from-the-owner/);
});

test("after a page was read exec waits, and runs when the owner approves it", patient, async () => {
	const answer = rig.tell(`${fetchPage()}\n${exec("echo approved-run")}`);
	const { ref, text } = await rig.pending();
	assert.match(text, /echo approved-run/);
	assert.match(text, /web_fetch 127\.0\.0\.1/);
	await rig.owner("approve", ref);
	assert.match(await answer, /approved-run/);
});

test("what the owner denies does not run, and the model reads why", patient, async () => {
	const answer = rig.tell(exec("touch denied-run"));
	const { ref } = await rig.pending();
	await rig.owner("deny", ref, "--reason", "Not on a Friday.");
	assert.match(await answer, /Denied by the owner \(ref \w+\): Not on a Friday\./);
});

test("OpenClaw's /new keeps the level, the owner's reset lowers it", patient, async () => {
	await rig.tell("/new", { expect: /New session/ });
	const answer = rig.tell(exec("echo after-new"));
	const { ref, text } = await rig.pending();
	const [, conversation] = /conversation {2}agent:main:main\s+ref (\w+)/.exec(text);
	await rig.owner("deny", ref);
	assert.match(await answer, /Denied by the owner/);
	await rig.owner("reply", `.reset-trust ${conversation}`);
	assert.match(await rig.tell(exec("echo after-reset")), /after-reset/);
});

test("an approval typed into OpenClaw's own chat never reaches the model", patient, async () => {
	const asked = rig.model.requests.length;
	assert.match(await rig.tell(".approve exec bf619df9 30", { expect: /relayApprovals/ }), /takes no answers from this chat/);
	assert.equal(rig.model.requests.length, asked);
	assert.doesNotMatch(JSON.stringify(rig.model.requests), /bf619df9/);
});

test("a wrapped call is asked about once, under its own name", patient, async () => {
	const before = (await rig.decisions()).length;
	await rig.tell(`RUN tool_call ${JSON.stringify({ id: "session_status", args: {} })}`);
	assert.deepEqual((await rig.decisions()).slice(before).map((d) => d.tool), ["session_status"]);
});

test("with the verifier gone nothing runs, and with it back everything is as before", patient, async () => {
	const listen = new URL(rig.verifier.url).host;
	await rig.verifier.stop();
	assert.match(await rig.tell(exec("echo nobody-watches")), /The verifier did not answer\. Nothing was run\./);
	await rig.startVerifier(listen);
	assert.match(await rig.tell(exec("echo watched-again")), /watched-again/);
});
