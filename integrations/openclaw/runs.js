// What is known of a run beyond what OpenClaw says with each call: how it was started, whether something from outside is in
// it, which session spawned it, and what its user wrote. All of it is bounded, and lost when OpenClaw restarts: missing
// knowledge never gains trust.

import { canonical } from "./names.js";
import { cut, defined } from "./shape.js";

const most = 1000; // runs, sessions
const mostMessages = 20; // of a session
const longestMessage = 4000;
const mostSuspicions = 100; // of a conversation

// What OpenClaw's own marks make of a run that nobody started. Any other source, a webhook's wake-up above all, is not vouched for.
const triggers = new Map([
	["cron", "cron"],
	["heartbeat", "heartbeat"],
	["exec", "system_event"],
]);

// What OpenClaw's own marks say of a run by which it goes on with work in the same session: after a restart, when a person at its
// console repairs a session or resumes a goal, when a card of progress is renewed. It brings nothing in: the session is what it was.
const resumes = new Set(["main_session_restart_recovery", "restart-sentinel", "sessions.recover", "session_goal_resume", "progress_card_refresh"]);

const outsideContent = { kind: "outside_content" };
const overflow = Symbol("more outside content");
const longestLine = 10; // of parents

// What OpenClaw puts before the first message of a new session: notes that the agent wrote, maybe of what it read.
const memoryMark = /^\[Untrusted daily memory: /m;

const outsideMark = /<<<\s*(END_)?EXTERNAL_UNTRUSTED_CONTENT\b/i;

// What OpenClaw writes about a message that someone forwarded: the words are another's, whoever sent it.
const forwardedMark = /^Forwarded message context\b.*⟦openclaw:ctx⟧/m;

// And of one that quotes another. With the id of a message it stands in the same chat, and was seen when it came in.
const quoteMark = /^(\[Replying to: |Reply (target|chain) of current user message\b.*⟦openclaw:ctx⟧)/m;
const aboutMessage = /^Conversation info: ⟦openclaw:ctx⟧\n```json\n(.*)$/m;

// What a webhook says to wake a session stands among such lines, in the message or beside it.
const systemEvent = /^System: /m;

// What the plugin itself says to wake a session stands there too. The time before it is OpenClaw's.
const ownEvent = /^System: (?:\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:Z| ?[A-Z]{2,5}(?:[+-]\d{1,2}(?::?\d\d)?)?)?\] )?([^\r\u0085\u2028\u2029]*)$/;

// isMarked reports whether OpenClaw marks outside content in a text.
export function isMarked(text) {
	return outsideMark.test(text);
}

function comesFromOutside(text) {
	return isMarked(text) || memoryMark.test(text) || forwardedMark.test(text) || (quoteMark.test(text) && !quotesThisChat(text));
}

// quotesThisChat reads what OpenClaw knows of the message, which comes first, and not what people wrote, which follows.
function quotesThisChat(text) {
	try {
		return Boolean(JSON.parse(aboutMessage.exec(text)?.[1]).reply_to_id);
	} catch {
		return false;
	}
}

// carried is what OpenClaw tells the model about the message, beside it: what was quoted, by whom it was first written.
function carried(event) {
	const last = event.messages?.at(-1);
	if (last?.customType !== "openclaw.runtime-context") return "";
	const fragments = Array.isArray(last.details?.fragments) ? last.details.fragments : [];
	return [last.content, ...fragments.map((f) => f?.text)].filter((t) => typeof t === "string").join("\n");
}

// Bounded is a map that forgets the oldest.
class Bounded extends Map {
	set(key, value) {
		this.delete(key);
		super.set(key, value);
		if (this.size > most) this.delete(this.keys().next().value);
		return this;
	}
}

// createRuns: webhooks says whether anything outside can wake a session; what it says then stands among other system events.
export function createRuns({ sendUserMessages, webhooks, loop }) {
	const runs = new Bounded();
	const messages = new Bounded(); // by session
	const parents = new Bounded(); // by child
	const suspicions = new Bounded(); // by conversation: outside content that the server may not know of
	const secrets = new Bounded(); // and secrets
	const through = new Bounded(); // calls that were let pass
	const offers = new Bounded(); // the tools that OpenClaw offered last, by session

	return { started, ended, spawned, sessionEnded, facts, rootOf, suspect, suspectSecret, unreported, passed, hasPassed, offered, toolsOf, toolOf };

	// offered keeps which tools a session has, and what their own definitions say of them.
	function offered(sessionKey, tools) {
		if (sessionKey === undefined) return;
		offers.set(sessionKey, tools.map(definition).filter((t) => t.name !== undefined));
	}

	function toolsOf(sessionKey) {
		return offers.get(sessionKey) ?? [];
	}

	function toolOf(sessionKey, name) {
		return toolsOf(sessionKey).find((t) => canonical(t.name) === canonical(name));
	}

	// started takes before_agent_run, and returns what is known of the run's input.
	function started(event, ctx) {
		const text = withoutOwn(String(event.prompt ?? ""));
		const outside = posesAsJob(ctx) || [text, withoutOwn(carried(event))].some((t) => comesFromOutside(t) || (webhooks && systemEvent.test(t)));
		const run = { outside, ...attested(ctx, outside) };
		if (ctx.runId) runs.set(ctx.runId, run);
		if (!outside && byPerson(event, ctx)) remember(text, event, ctx);
		return run;
	}

	// posesAsJob: a run in a scheduled job's session that is not of that job. A webhook may be allowed to choose such a session key.
	// Where OpenClaw says itself what started the run, that counts.
	function posesAsJob({ runId, sessionKey, trigger, inputProvenance }) {
		const job = trigger === "cron" && inputProvenance?.kind !== "internal_system" ? jobIn(sessionKey) : undefined;
		return job !== undefined && loop.jobOfRun(runId)?.toLowerCase() !== job;
	}

	// withoutOwn is a text without the sentences that this process has woken sessions with.
	function withoutOwn(text) {
		// OpenClaw parts events by line feeds alone: any other break stands inside of one.
		return text
			.split("\n")
			.filter((line) => !loop.waker.said(ownEvent.exec(line)?.[1]))
			.join("\n");
	}

	function attested(ctx, outside) {
		const provenance = ctx.inputProvenance;
		if (outside) return { inputProvenance: outsideContent };
		if (provenance?.kind === "inter_session" && descends(provenance.sourceSessionKey, ctx.sessionKey)) {
			return { trigger: "system_event", inputProvenance: { kind: "internal_system" } }; // a child reports to its parent
		}
		if (resumed(provenance, ctx.sessionKey)) return { trigger: "resume", inputProvenance: { kind: "internal_system" } };
		const trigger = provenance?.kind === "internal_system" ? triggers.get(provenance.sourceTool) : undefined;
		return { trigger, inputProvenance: provenance?.kind && { kind: provenance.kind } };
	}

	function descends(child, ancestor) {
		for (let key = parents.get(child), i = 0; key && i < longestLine; key = parents.get(key), i++) if (key === ancestor) return true;
		return false;
	}

	// rootOf is the session whose level a session shares.
	function rootOf(sessionKey) {
		let key = sessionKey;
		for (let i = 0; parents.has(key) && i < longestLine; i++) key = parents.get(key);
		return key ?? "";
	}

	// suspect notes outside content in a conversation, until the server has been told: by the report, which then calls what is
	// returned, or by the next question.
	function suspect(sessionKey) {
		return note(suspicions, sessionKey);
	}

	// suspectSecret is the same for a secret that a tool returned.
	function suspectSecret(sessionKey) {
		return note(secrets, sessionKey);
	}

	function note(kept, sessionKey) {
		const key = rootOf(sessionKey);
		const all = kept.get(key) ?? new Set();
		const one = all.size < mostSuspicions ? Symbol("not told yet") : overflow;
		kept.set(key, all.add(one));
		return () => one !== overflow && drop(kept, key, [one]);
	}

	function drop(kept, key, some) {
		const all = kept.get(key);
		for (const one of some) all?.delete(one);
		if (all?.size === 0) kept.delete(key);
	}

	// unreported puts into the context of a question what the server has not been told of its conversation by then. told says
	// that the question was answered, and whether with an allow.
	function unreported(context) {
		const key = rootOf(context.sessionKey);
		const some = [...(suspicions.get(key) ?? [])];
		const unsaid = [...(secrets.get(key) ?? [])];
		const { trigger: _, ...rest } = context;
		const told = (allowed) => {
			drop(suspicions, key, some);
			if (allowed) drop(secrets, key, unsaid); // what is denied may have failed before it was noted
		};
		const outside = some.length > 0 ? { ...rest, inputProvenance: outsideContent } : context;
		return { context: unsaid.length > 0 ? { ...outside, secretsRead: true } : outside, told };
	}

	function remember(text, event, ctx) {
		if (!sendUserMessages || !ctx.sessionKey) return;
		const all = (messages.get(ctx.sessionKey) ?? []).filter((m) => m.runId !== ctx.runId); // a run may be tried again
		const message = { text: cut(text, longestMessage), senderId: event.senderId, senderIsOwner: event.senderIsOwner === true, at: new Date().toISOString() };
		messages.set(ctx.sessionKey, [...all, { runId: ctx.runId, heard: Date.now(), message }].slice(-mostMessages));
	}

	// passed notes a call that may run; hasPassed reports it, and also of a call that can't be told from others.
	function passed(call) {
		if (call.toolCallId) through.set(nameOf(call), true);
	}

	function hasPassed(call) {
		return !call.toolCallId || through.has(nameOf(call));
	}

	function ended(runId) {
		runs.delete(runId);
	}

	function spawned(child, parent) {
		if (child && parent && child !== parent) parents.set(child, parent);
	}

	function sessionEnded(sessionKey) {
		offers.delete(sessionKey);
		messages.delete(sessionKey);
	}

	// facts is what is added to the context of a call.
	function facts(event, ctx) {
		const { trigger, inputProvenance } = runs.get(event.runId ?? ctx.runId) ?? {};
		const spawnedBy = parents.get(ctx.sessionKey);
		const since = messages.get(ctx.sessionKey)?.filter((m) => m.heard >= loop.endOf(ctx.sessionKey)); // another instance may have heard of the end
		const said = since?.length > 0 ? since.map((m) => m.message) : undefined;
		const known = { trigger, inputProvenance, spawnedBy, userMessages: said };
		// A child whose parent is not known must not pass for the owner's own conversation. A run that OpenClaw resumes has no sender:
		// OpenClaw names itself, or the one whose message it was, who is not there any more.
		return trigger === "resume" || (isChild(ctx.sessionKey) && !spawnedBy) ? { ...known, senderId: undefined, senderIsOwner: undefined } : known;
	}
}

// resumed reports whether OpenClaw goes on with this very session. What it takes over from another one is not vouched for.
function resumed(provenance, sessionKey) {
	const { kind, sourceTool, sourceSessionKey = sessionKey } = provenance ?? {};
	return kind === "internal_system" && resumes.has(sourceTool) && sourceSessionKey === sessionKey;
}

const hints = ["readOnlyHint", "destructiveHint", "openWorldHint"];

// definition is what a tool's own definition says that the server knows: its name, its annotations by the Model Context
// Protocol, and whether it asks for caution.
function definition(tool) {
	const name = tool?.name ?? tool?.function?.name;
	const said = hints.filter((h) => typeof tool?.annotations?.[h] === "boolean").map((h) => [h, tool.annotations[h]]);
	return defined({
		name: typeof name === "string" ? name : undefined,
		annotations: said.length > 0 ? Object.fromEntries(said) : undefined,
		metadata: tool?.metadata?.openclaw?.caution === true ? { openclaw: { caution: true } } : undefined,
	});
}

function nameOf({ sessionKey, runId, toolCallId }) {
	return JSON.stringify([sessionKey, runId, toolCallId]);
}

// jobIn is the job that a session key names.
function jobIn(sessionKey) {
	return /^agent:[^:]+:cron:([^:]+)/.exec(sessionKey ?? "")?.[1].toLowerCase();
}

function isChild(sessionKey) {
	return typeof sessionKey === "string" && /(^|:)subagent:/.test(sessionKey);
}

// byPerson: a message that someone wrote, not one that a session or OpenClaw itself made.
function byPerson(event, ctx) {
	const kind = ctx.inputProvenance?.kind;
	const someone = Boolean(event.senderId) || event.senderIsOwner === true;
	return someone && (kind === undefined || kind === "external_user") && !isChild(ctx.sessionKey) && (ctx.trigger ?? "user") === "user";
}
