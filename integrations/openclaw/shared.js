// What the plugin's instances in one process share. OpenClaw loads the plugin twice and gives each instance other hooks, so
// that one hears what the other needs: how often a run has called its model, in which runs a call was blocked, what is still being
// reported of scheduled jobs, and which questions are open. It holds numbers and ids, and forgets the oldest.

import { randomUUID } from "node:crypto";
import { createGreeter } from "./hello.js";
import { createWaker } from "./wake.js";

const name = Symbol.for("verifier.openclaw.shared");
const most = 1000; // runs
const patienceMs = 2000;

// shared is the one for this process.
export function shared() {
	return (globalThis[name] ??= createShared());
}

export function createShared() {
	const runs = new Map();
	const ends = new Map(); // when sessions ended last, by key

	let jobs = Promise.resolve(); // what is being reported of scheduled jobs

	return { modelCalled, iteration, blocked, takeBlocked, tellingJobs, jobsTold, runBegins, jobOfRun, sessionEnded, endOf, greeter: createGreeter({ instance: randomUUID() }), waker: createWaker() };

	function find(runId) {
		const run = runs.get(runId) ?? { calls: 0 };
		runs.delete(runId);
		runs.set(runId, run);
		if (runs.size > most) runs.delete(runs.keys().next().value);
		return run;
	}

	// sessionEnded notes that what was said in a session before is not in its context any more; endOf is when that was.
	function sessionEnded(sessionKey) {
		ends.delete(sessionKey);
		ends.set(sessionKey, Date.now());
		if (ends.size > most) ends.delete(ends.keys().next().value);
	}

	function endOf(sessionKey) {
		return ends.get(sessionKey) ?? 0;
	}

	// modelCalled counts a call of the model. Both instances may hear of the same one.
	function modelCalled({ runId, callId }) {
		if (!runId) return;
		const run = find(runId);
		if (callId !== undefined && run.lastCall === callId) return;
		run.lastCall = callId;
		run.calls++;
	}

	// iteration is the number of the run's last call of the model, from 0 on; nothing where none was heard of.
	function iteration(runId) {
		const calls = runs.get(runId)?.calls;
		return calls > 0 ? calls - 1 : undefined;
	}

	// tellingJobs and jobsTold let one instance wait until what the other has heard of scheduled jobs is reported, but not for long.
	function tellingJobs(report) {
		jobs = Promise.all([jobs, report]);
	}

	async function jobsTold() {
		let timer;
		await Promise.race([jobs, new Promise((done) => (timer = setTimeout(done, patienceMs)))]);
		clearTimeout(timer);
	}

	// runBegins notes the job that a run is of. Of all hooks only before_agent_reply says so. A webhook's run has a job of its own,
	// whatever session key its sender chose.
	function runBegins({ runId, jobId }) {
		if (runId && typeof jobId === "string") find(runId).job = jobId;
	}

	function jobOfRun(runId) {
		return runs.get(runId)?.job;
	}

	// blocked notes that the server did not let a call of the run pass.
	function blocked({ runId, sessionKey, agentId }) {
		if (runId) find(runId).blocked = { runId, sessionKey, agentId };
	}

	// takeBlocked is what is known of the run if a call of it was blocked, once.
	function takeBlocked(runId) {
		const run = runs.get(runId);
		const { blocked: about } = run ?? {};
		if (run) run.blocked = undefined;
		return about;
	}
}
