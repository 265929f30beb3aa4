// Reports: events that the server should know and that nobody waits for. They leave in the order in which they happened, one
// conversation at a time, and a question about a conversation, its children's included, waits for its reports for a moment, so
// that the server knows what the agent has read. A report that can't be delivered is dropped: what must not be lost goes with
// the question itself.

import { randomUUID } from "node:crypto";
import { WireError } from "./wire.js";

const timeoutMs = 3000;
const mostWaiting = 200;
const patienceMs = 2000;

// createReports: rootOf is the session whose level a session shares.
export function createReports({ wire, log, rootOf }) {
	const last = new Map(); // the last report of each conversation
	const complained = new Set();
	let waiting = 0;

	return { report, ask, settled };

	// report sends one event later and never throws. told is called once the server has taken it in. What it returns is over when
	// the event was sent, or given up.
	function report(name, context, event, told = () => {}) {
		if (waiting >= mostWaiting) return complain("too many", `more than ${mostWaiting} events wait for the server; some are dropped`);
		waiting++;
		const key = rootOf(context.sessionKey);
		const sent = (last.get(key) ?? Promise.resolve()).then(() => send(name, context, event)).then(told);
		const done = sent.catch((err) => unsent(name, err)).finally(() => {
			waiting--;
			if (last.get(key) === done) last.delete(key);
		});
		last.set(key, done);
		return done;
	}

	// ask sends one event after the reports before it and returns the answer, or nothing.
	async function ask(name, context, event) {
		try {
			await settled(context.sessionKey);
			return await send(name, context, event);
		} catch (err) {
			return unsent(name, err);
		}
	}

	async function send(name, context, event) {
		const message = { version: 1, timestamp: new Date().toISOString(), requestId: randomUUID(), context, event };
		const answer = await wire(`hooks/${name}`, message, { timeoutMs });
		if (answer.accepted !== true) throw new WireError("refused", String(answer.reason ?? "no reason was given"));
		complained.delete(name);
		return answer;
	}

	// settled waits for the reports of a conversation, but not for long.
	async function settled(sessionKey) {
		const pending = last.get(rootOf(sessionKey));
		if (!pending) return;
		let timer;
		await Promise.race([pending, new Promise((done) => (timer = setTimeout(done, patienceMs)))]);
		clearTimeout(timer);
	}

	function unsent(name, err) {
		if (!(err instanceof WireError)) log.error(`verifier: an event was lost by an error of the plugin itself: ${err?.stack ?? err}`);
		else complain(name, `${name} could not be reported (${err.kind}: ${err.message})`);
	}

	// complain says it once, until it has worked again.
	function complain(what, text) {
		if (complained.has(what)) return;
		complained.add(what);
		log.warn(`verifier: ${text}`);
	}
}
