// What goes on while no one writes, and what stops and starts: jobs, settings, restarts, a verifier that is gone. Set up with the
// commands that `verifier init --openclaw` prints. `make e2e-openclaw` runs it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exec, heard, patient, restricted, Rig, timeoutMs, wrapped } from "./rig.js";

const rig = new Rig({ openclaw: process.env.OPENCLAW_DIR, binary: process.env.VERIFIER_BINARY });
const fetchPage = () => `RUN ${wrapped("web_fetch", { url: rig.page.url })}`;

before(() => rig.startByInit({ heartbeat: "0m", timeoutMs }), { timeout: 600_000 });
after(() => rig.stop(), { timeout: 60_000 });

test("what the plugin's own scope leaves out is not asked about, and taints all the same", { timeout: 240_000 }, async () => {
	const scope = async (value) => {
		rig.set({ "plugins.entries.verifier.config.scope": value });
		await rig.operate("plugins", "reload", "verifier");
	};
	await scope({ exclude: ["web_fetch"] });
	await rig.fresh();
	const before = (await rig.decisions()).length;
	const answer = rig.script(`${exec("echo clean-in-scope")}\n${fetchPage()}\n${exec("touch after-a-page-out-of-scope")}`);
	const card = await rig.denied();
	assert.match(card, /level +untrusted/);
	assert.match(card, /fetched 127\.0\.0\.1/);
	assert.match(await answer, /clean-in-scope[^]*Denied by the owner/);
	assert.equal(rig.ran("after-a-page-out-of-scope"), false);
	const made = (await rig.decisions()).slice(before);
	assert.deepEqual(made.map((d) => [d.tool, d.decision]), [["exec", "allow"], ["web_fetch", "allow"], ["exec", "deny"]]);
	assert.equal(made[1].by, "notice");
	await scope({});
	await rig.reset(card);
});

test("H16 H162 H163 H166 a job that a tainted session schedules starts tainted, whatever session it runs in, and no other does", { timeout: 400_000 }, async () => {
	const add = (name, job) => `RUN ${wrapped("automations", { action: "add", job: { name, schedule: { kind: "cron", expr: "0 7 * * *" }, ...job } })}`;
	const event = (command) => ({ sessionTarget: "main", wakeMode: "now", payload: { kind: "systemEvent", text: exec(command) } });
	await rig.fresh();
	await rig.script(add("mine", event("touch by-my-own-job")));
	await rig.runJob("mine");
	await rig.eventually("the owner's own job runs", () => rig.ran("by-my-own-job"));
	const alone = (command) => ({ sessionTarget: "isolated", payload: { kind: "agentTurn", message: exec(command) }, delivery: { mode: "none" } });
	await rig.script(add("alone", alone("touch by-my-own-job-alone && echo run >> by-my-own-job-alone")));
	await rig.runJob("alone");
	await rig.eventually("the owner's own job in a session of its own runs", () => rig.ran("by-my-own-job-alone"));

	const jobs = { event: event("touch by-an-event"), job: alone("touch by-a-job") };
	const answer = rig.script([fetchPage(), ...Object.entries(jobs).map(([name, job]) => add(name, job))].join("\n"), { to: -100333 });
	for (const tool of ["web_fetch", ...Object.keys(jobs).map(() => "automations")]) { // the page is on this machine, which asks in a group
		const { ref, text } = await rig.pending();
		assert.match(text, new RegExp(`tool +${tool}`));
		await rig.owner("approve", ref);
	}
	assert.doesNotMatch(await answer, /Denied/);
	let card;
	for (const [name, conversation] of [["event", "agent:main:main"], ["job", "agent:main:cron:"]]) {
		const ran = rig.runJob(name);
		const text = await rig.denied();
		assert.match(text, /level +untrusted/);
		assert.match(text, new RegExp(`conversation +${conversation}`));
		if (name === "event") card = text;
		await ran;
	}
	assert.equal(rig.ran("by-an-event") || rig.ran("by-a-job"), false);
	await rig.runJob("alone");
	assert.equal(rig.content("by-my-own-job-alone"), "run\nrun\n"); // the other jobs' taint is theirs
	await rig.reset(card);
	for (const name of Object.keys(jobs)) await rig.operate("automations", "remove", await rig.jobId(name));
	await rig.eventually("a job that is removed is no source any more", async () => /No scheduled job/.test(await rig.owner("sources")));
	await rig.fresh();
});

test("a verifier that does not answer blocks the call before OpenClaw's own limit", patient, async () => {
	rig.proxy.stall(true);
	try {
		const began = Date.now();
		assert.match(await rig.script(exec("touch nobody-answers")), /The verifier did not answer\. Nothing was run\./);
		const took = Date.now() - began;
		assert.ok(took >= timeoutMs - 1000 && took < timeoutMs + 30_000, `${took} ms`);
	} finally {
		rig.proxy.stall(false);
	}
	assert.match(rig.gateway.output(), /no answer about exec \(timeout: /);
	assert.equal(rig.ran("nobody-answers"), false);
});

test("with the verifier gone nothing runs, and with it back everything is as before", patient, async () => {
	await rig.fresh();
	await rig.verifier.stop();
	assert.match(await rig.script(exec("touch nobody-watches")), /The verifier did not answer\. Nothing was run\./);
	assert.equal(rig.ran("nobody-watches"), false);
	await rig.startVerifier();
	assert.doesNotMatch(await rig.script(exec("touch watched-again")), /did not answer/);
	assert.equal(rig.ran("watched-again"), true);
	assert.equal(rig.ran("nobody-watches"), false);
});

test("H160 what OpenClaw resumes after a restart is the conversation it was", { timeout: 400_000 }, async () => {
	await rig.fresh();
	const before = (await rig.decisions()).length;
	rig.script(`${exec("touch before-a-restart && sleep 20")}\n${exec("touch after-a-restart")}`).catch(() => {}); // its answer may come in another run
	await rig.eventually("the first command runs", () => rig.ran("before-a-restart"));
	await rig.gateway.stop();
	rig.set({ "tools.toolSearch": false }); // for the next test
	await rig.startGateway();
	await rig.eventually("the work goes on unasked", () => rig.ran("after-a-restart"));
	assert.match(JSON.stringify(rig.model.requests.at(-1)), /interrupted by a gateway restart/); // it is OpenClaw that goes on, not the message come again
	const made = (await rig.decisions()).slice(before).filter((d) => d.tool === "exec");
	assert.deepEqual(made.filter((d) => d.decision !== "allow" || d.level === "external" || d.level === "untrusted"), []);
	assert.deepEqual(await rig.open(), []);
});

test("without tool search, what the level restricts is not offered to the model", patient, async () => {
	await rig.eventually("the plugin says hello", async () => heard.test(await rig.tested()));
	await rig.fresh();
	const offered = () => rig.model.requests.at(-1).tools.map((t) => t.function.name);
	assert.match(await rig.script(exec("echo set-up-by-init")), /\nset-up-by-init/);
	assert.ok(offered().includes(restricted) && offered().includes("exec"), offered().join());
	await rig.script(`RUN web_fetch ${JSON.stringify({ url: rig.page.url })}`);
	await rig.script("RUN session_status {}");
	assert.ok(!offered().includes(restricted) && offered().includes("exec"), offered().join());
	const before = (await rig.decisions()).length;
	await rig.script(`RUN ${restricted} {}`); // the model calls it all the same
	assert.ok((await rig.decisions()).slice(before).every((d) => d.tool !== restricted || d.decision === "deny"));
});
