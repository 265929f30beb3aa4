// What is known of a run beyond what OpenClaw says with each call: how it was started, whether something from outside is in
// it, which session spawned it, and what its user wrote. All of it is bounded, and lost when OpenClaw restarts: missing
// knowledge never gains trust.

const most = 1000; // runs, sessions
const mostMessages = 20; // of a session
const longestMessage = 4000;

// What OpenClaw's own marks make of a run that nobody started. Any other source, a webhook's wake-up above all, is not vouched for.
const triggers = new Map([
	["cron", "cron"],
	["heartbeat", "heartbeat"],
	["exec", "system_event"],
]);

const outsideMark = /<<<\s*(END_)?EXTERNAL_UNTRUSTED_CONTENT\b/i;

// isMarked reports whether OpenClaw marks outside content in a text.
export function isMarked(text) {
	return outsideMark.test(text);
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
export function createRuns({ sendUserMessages, webhooks }) {
	const runs = new Bounded();
	const messages = new Bounded(); // by session
	const parents = new Bounded(); // by child

	return { started, ended, spawned, sessionEnded, facts };

	// started takes before_agent_run, and returns what is known of the run's input.
	function started(event, ctx) {
		const text = String(event.prompt ?? "");
		const outside = isMarked(text) || (webhooks && /^System: /m.test(text));
		const run = { outside, ...attested(ctx, outside) };
		if (ctx.runId) runs.set(ctx.runId, run);
		if (!outside && byPerson(event, ctx)) remember(text, event, ctx);
		return run;
	}

	function attested(ctx, outside) {
		const provenance = ctx.inputProvenance;
		if (outside) return { inputProvenance: { kind: "outside_content" } };
		if (provenance?.kind === "inter_session" && descends(provenance.sourceSessionKey, ctx.sessionKey)) {
			return { trigger: "system_event", inputProvenance: { kind: "internal_system" } }; // a child reports to its parent
		}
		const trigger = provenance?.kind === "internal_system" ? triggers.get(provenance.sourceTool) : undefined;
		return { trigger, inputProvenance: provenance?.kind && { kind: provenance.kind } };
	}

	function descends(child, ancestor) {
		for (let key = parents.get(child), i = 0; key && i < 10; key = parents.get(key), i++) if (key === ancestor) return true;
		return false;
	}

	function remember(text, event, ctx) {
		if (!sendUserMessages || !ctx.sessionKey) return;
		const all = (messages.get(ctx.sessionKey) ?? []).filter((m) => m.runId !== ctx.runId); // a run may be tried again
		const message = { text: text.slice(0, longestMessage), senderId: event.senderId, senderIsOwner: event.senderIsOwner === true, at: new Date().toISOString() };
		messages.set(ctx.sessionKey, [...all, { runId: ctx.runId, message }].slice(-mostMessages));
	}

	function ended(runId) {
		runs.delete(runId);
	}

	function spawned(child, parent) {
		if (child && parent && child !== parent) parents.set(child, parent);
	}

	function sessionEnded(sessionKey) {
		messages.delete(sessionKey);
	}

	// facts is what is added to the context of a call.
	function facts(event, ctx) {
		const { trigger, inputProvenance } = runs.get(event.runId ?? ctx.runId) ?? {};
		const spawnedBy = parents.get(ctx.sessionKey);
		const said = messages.get(ctx.sessionKey)?.map((m) => m.message);
		const known = { trigger, inputProvenance, spawnedBy, userMessages: said };
		// A child whose parent is not known must not pass for the owner's own conversation.
		return isChild(ctx.sessionKey) && !spawnedBy ? { ...known, senderId: undefined, senderIsOwner: undefined } : known;
	}
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
