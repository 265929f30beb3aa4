// The real thing: OpenClaw from npm, set up with the README's commands, and verifier. `make e2e-openclaw` installs and runs it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Rig } from "./rig.js";

const rig = new Rig({ openclaw: process.env.OPENCLAW_DIR, binary: process.env.VERIFIER_BINARY });
const exec = (command) => `RUN exec ${JSON.stringify({ command })}`;
// With tool search, OpenClaw's default, most tools are called through a wrapper.
const fetchPage = () => `RUN tool_call ${JSON.stringify({ id: "web_fetch", args: { url: rig.page.url } })}`;
const patient = { timeout: 120_000 };

// denied waits for a question, says no, and returns the card.
async function denied() {
	const { ref, text } = await rig.pending();
	await rig.owner("deny", ref);
	return text;
}

// reset lets the owner lower a conversation's level, by the reference on one of its cards.
async function reset(card) {
	await rig.owner("reply", `.reset-trust ${/^ +ref (\w{8})$/m.exec(card)[1]}`);
}

before(() => rig.start(), { timeout: 300_000 });
after(() => rig.stop(), { timeout: 60_000 });

test("the README's commands load the plugin", () => {
	assert.match(rig.inspected, /Status: loaded/);
	assert.match(rig.inspected, /before_tool_call/);
	assert.doesNotMatch(rig.inspected, /blocked until/);
});

test("the owner's own call runs", patient, async () => {
	assert.match(await rig.script(exec("echo from-the-owner")), /from-the-owner/);
});

test("after a page was read exec waits, and runs when the owner approves it", patient, async () => {
	const answer = rig.script(`${fetchPage()}\n${exec("echo approved-run")}`);
	const { ref, text } = await rig.pending();
	assert.match(text, /echo approved-run/);
	assert.match(text, /web_fetch 127\.0\.0\.1/);
	await rig.owner("approve", ref);
	assert.match(await answer, /approved-run/);
});

test("what the owner denies does not run, and the model reads why", patient, async () => {
	const answer = rig.script(exec("touch denied-run"));
	const { ref } = await rig.pending();
	await rig.owner("deny", ref, "--reason", "Not on a Friday.");
	assert.match(await answer, /Denied by the owner \(ref \w+\): Not on a Friday\./);
	assert.equal(rig.ran("denied-run"), false);
});

test("an approval typed into OpenClaw's own chat never reaches the model", patient, async () => {
	const asked = rig.model.requests.length;
	assert.match(await rig.tell(".approve exec bf619df9 30", { expect: /relayApprovals/ }), /takes no answers from this chat/);
	assert.equal(rig.model.requests.length, asked);
	assert.doesNotMatch(JSON.stringify(rig.model.requests), /bf619df9/);
});

test("OpenClaw's /new keeps the level, the owner's reset lowers it", patient, async () => {
	await rig.tell("/new", { expect: /New session/ });
	const answer = rig.script(exec("echo after-new"));
	const card = await denied();
	assert.match(await answer, /Denied by the owner/);
	await reset(card);
	assert.match(await rig.script(exec("echo after-reset")), /after-reset/);
});

test("H22 a stranger in the owner's session drops its level, for the owner too", patient, async () => {
	const strangers = rig.script(exec("echo stranger"), { from: 222 });
	assert.match(await denied(), /level +external/);
	assert.match(await strangers, /Denied by the owner/);
	const owners = rig.script(exec("echo owner-afterwards"));
	const card = await denied();
	assert.match(card, /level +external/);
	assert.match(await owners, /Denied by the owner/);
	await reset(card);
});

test("the owner in a group is one of many", patient, async () => {
	const answer = rig.script(exec("echo in-the-group"), { to: -100333 });
	assert.match(await denied(), /level +shared/);
	assert.match(await answer, /Denied by the owner/);
});

test("H23 a webhook that looks like cron is not the system", patient, async () => {
	assert.equal(await rig.webhook(exec("echo from-a-webhook")), 200);
	const card = await denied();
	assert.match(card, /level +untrusted/);
	assert.match(card, /conversation +agent:main:cron:/);
});

test("H16 a spawned session has its parent's level", patient, async () => {
	const spawn = `RUN tool_call ${JSON.stringify({ id: "sessions_spawn", args: { task: exec("echo from-a-child"), mode: "run" } })}`;
	const answer = rig.script(`${fetchPage()}\n${spawn}`);
	const { ref, text } = await rig.pending();
	assert.match(text, /tool +sessions_spawn/);
	await rig.owner("approve", ref);
	await answer;
	const card = await denied();
	assert.match(card, /conversation +agent:main:subagent:/);
	assert.match(card, /level +untrusted/);
	await reset(text);
});

test("a wrapped call is asked about once, under its own name", patient, async () => {
	const before = (await rig.decisions()).length;
	await rig.script(`RUN tool_call ${JSON.stringify({ id: "session_status", args: {} })}`);
	const asked = (await rig.decisions()).slice(before).map((d) => d.tool);
	assert.deepEqual(asked.filter((name) => name === "session_status" || name === "tool_call"), ["session_status"]);
});

test("with the verifier gone nothing runs, and with it back everything is as before", patient, async () => {
	const listen = new URL(rig.verifier.url).host;
	await rig.verifier.stop();
	assert.match(await rig.script(exec("touch nobody-watches")), /The verifier did not answer\. Nothing was run\./);
	assert.equal(rig.ran("nobody-watches"), false);
	await rig.startVerifier(listen);
	assert.doesNotMatch(await rig.script(exec("touch watched-again")), /did not answer/);
	assert.equal(rig.ran("watched-again"), true);
	assert.equal(rig.ran("nobody-watches"), false);
});
