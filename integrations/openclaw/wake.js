// A yes that comes too late. The server holds a call for minutes, and its question lives for half an hour: the call is denied, and
// the session has nothing to do. Until then the plugin asks the server whether the owner has answered; on a yes it wakes the session
// with a fixed sentence, and the agent makes the same call again. The server lets just that call pass, once. On a no, or on nothing,
// nothing is said.

import { createHash, randomUUID } from "node:crypto";
import { canonical } from "./names.js";
import { fitted } from "./shape.js";

const most = 32; // questions at a time, as many as the server takes
const mostSaid = 100;
const saidMs = 10 * 60_000; // by then the session has read it
const livesMs = 30 * 60_000;
const waitMs = 55_000; // the server answers 5 s before
const pauseMs = 10_000; // after a poll that ended early
const longestQuestion = 256;

// The session of a spawned agent, of a job or of a webhook has ended by then, or OpenClaw would wake another one for it.
const endsBy = /:(subagent|cron|hook|acp)(:|$)/;

const plainName = /^[\w.-]{1,64}$/;

// sentence is all that the agent reads. Nobody but the plugin writes it: of the call it has the tool's name, where that is plain.
export function sentence(tool) {
	return `The owner has approved the call of ${plainName.test(tool) ? tool : "a tool"} that was waiting. Make it again, exactly as before: then it runs.`;
}

// createRouser returns what wakes a session of OpenClaw, or nothing where this OpenClaw can't.
export function createRouser(system) {
	if (typeof system?.enqueueSystemEvent !== "function" || typeof system?.requestHeartbeat !== "function") return undefined;
	return (sessionKey, text) => {
		system.enqueueSystemEvent(text, { sessionKey, contextKey: "verifier" });
		// The answer goes where the conversation is, whatever the owner's heartbeats do.
		system.requestHeartbeat({ source: "manual", intent: "immediate", reason: "wake", sessionKey, heartbeat: { target: "last" } });
	};
}

// createWaker is the one for this process. The instance of the plugin that was loaded last speaks for it.
export function createWaker({ wait = (f, ms) => setTimeout(f, ms).unref(), stop = clearTimeout, now = Date.now } = {}) {
	const open = new Map(); // questions, by call
	const told = new Map(); // sentences that sessions were woken with, and when
	let speaker;
	let started = false;
	let polling; // what ends the poll under way
	let timer;

	return { speaks, gatewayStarted, gatewayStopped, unanswered, askedAgain, sessionEnded, said };

	// speaks takes the wire to the server, what wakes a session, and a log.
	function speaks(by) {
		speaker = by;
		again();
	}

	// gatewayStarted: without a gateway no session could be woken, and a poll would keep a command from ending.
	function gatewayStarted() {
		started = true;
		again();
	}

	function gatewayStopped() {
		started = false;
		open.clear();
		again();
	}

	// unanswered takes a call that was denied while its question is open.
	function unanswered({ tool, context }, question) {
		const { sessionKey } = context;
		if (typeof question !== "string" || question === "" || question.length > longestQuestion) return;
		if (!/^agent:[^:]+:/.test(sessionKey ?? "") || endsBy.test(sessionKey) || fitted(sessionKey) !== sessionKey) return;
		const key = keyOf({ tool, context });
		open.delete(key);
		open.set(key, { question, sessionKey, tool: canonical(tool.name), until: now() + livesMs });
		if (open.size > most) open.delete(open.keys().next().value);
		again();
	}

	// askedAgain: what became of a call before is of no interest once it is made again.
	function askedAgain(call) {
		if (open.delete(keyOf(call))) again();
	}

	// sessionEnded: the context is gone, and the agent knows of no call.
	function sessionEnded(sessionKey) {
		for (const [key, one] of open) if (one.sessionKey === sessionKey) open.delete(key);
		again();
	}

	// said reports that a sentence is the plugin's own.
	function said(text) {
		return told.get(text) > now() - saidMs;
	}

	// again lets the poll under way end, and begins one about what is open now.
	function again() {
		stop(timer);
		polling?.abort();
		polling = undefined;
		for (const [key, one] of open) if (one.until <= now()) open.delete(key);
		if (!started || speaker === undefined || open.size === 0) return;
		polling = new AbortController();
		poll(polling.signal, speaker);
	}

	async function poll(signal, by) {
		const began = now();
		const answered = await ask(signal, by).catch(() => []);
		if (signal.aborted) return;
		polling = undefined;
		const approved = [...open].filter(([, one]) => answered.includes(one.question));
		for (const [key, one] of approved) {
			open.delete(key);
			rouse(one, by);
		}
		timer = wait(again, approved.length === 0 && now() - began < pauseMs ? pauseMs : 0);
	}

	async function ask(signal, { wire }) {
		const questions = [...open.values()].map((one) => one.question);
		const message = { version: 1, timestamp: new Date().toISOString(), requestId: randomUUID(), questions, context: { waitMs } };
		const { answered } = await wire("answered", message, { timeoutMs: waitMs + 5000, signal });
		return Array.isArray(answered) ? answered : [];
	}

	function rouse({ sessionKey, tool }, { rouse: wake, log }) {
		const text = sentence(tool);
		told.delete(text);
		told.set(text, now());
		if (told.size > mostSaid) told.delete(told.keys().next().value);
		try {
			wake(sessionKey, text);
		} catch (err) {
			log.warn(`verifier: a session could not be woken after a late approval: ${err?.message ?? err}`);
		}
	}
}

function keyOf({ tool, context }) {
	return createHash("sha256").update(JSON.stringify([context.sessionKey, canonical(tool.name), tool.params])).digest("hex");
}
