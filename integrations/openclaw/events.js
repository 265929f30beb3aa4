// The agent loop's events, from OpenClaw's hooks in the protocol's words. No text leaves from here: of a message or a tool's
// output only its size, its hash and fingerprints of it, and whether a secret stands in it.

import { createHash } from "node:crypto";
import { wraps } from "./gate.js";
import { extract, lineageKey } from "./lineage.js";
import { canonical } from "./names.js";
import { isMarked } from "./runs.js";
import { bearsSecret } from "./secrets.js";
import { defined, fitted, isPlain } from "./shape.js";

const maxOrigin = 256;
const mostRead = 8 << 20;

// createEvents returns a handler for each hook.
export function createEvents({ settings, reports, runs, loop, mainAgent }) {
	const key = lineageKey(settings.secret);
	const blocked = new Map(); // turns that the server blocks, by run

	return {
		before_agent_reply: (_event, ctx) => loop.runBegins(ctx),
		before_agent_run: beforeAgentRun,
		before_prompt_build: beforePromptBuild,
		llm_input: llmInput,
		model_call_started: loop.modelCalled,
		reply_payload_sending: replyPayloadSending,
		after_tool_call: afterToolCall,
		subagent_spawned: subagentSpawned,
		session_start: (event, ctx) => reports.report("session_start", context(ctx), defined({ resumedFrom: event.resumedFrom })),
		session_end: sessionEnd,
		cron_changed: cronChanged,
		reply_dispatch: replyDispatch,
		agent_end: agentEnd,
	};

	async function beforeAgentRun(event, ctx) {
		if (isJob(ctx.sessionKey)) await loop.jobsTold(); // the other instance hears that the job has started
		const run = runs.started(event, ctx);
		const { userMessages: _, ...known } = { senderId: event.senderId, senderIsOwner: event.senderIsOwner, ...runs.facts(event, ctx) };
		const { senderId, senderIsOwner } = known;
		const source = { kind: "user_message", trust: run.outside ? "untrusted" : undefined, messageIndex: event.messages?.length, senderId, senderIsOwner, ...printed(String(event.prompt ?? "")) };
		const vouched = !run.outside && (senderIsOwner === true || known.trigger !== undefined);
		const told = vouched ? undefined : runs.suspect(ctx.sessionKey);
		reports.report("context_assembled", { ...context(ctx), ...defined(known) }, { sources: [defined(source)] }, told);
		const reason = blocked.get(ctx.runId);
		return reason === undefined ? undefined : { outcome: "block", reason: "blocked by verifier", message: reason };
	}

	// llmInput also passes on which tools ask for caution themselves: with tool search nothing else would.
	function llmInput(event, ctx) {
		const before = cautioned(ctx);
		runs.offered(ctx.sessionKey, event.tools ?? []);
		const now = cautioned(ctx);
		if (now.some((t) => !before.some((b) => b.name === t.name))) reports.report("before_llm_call", context(ctx), { tools: now });
	}

	function cautioned(ctx) {
		return runs.toolsOf(ctx.sessionKey).filter((t) => t.metadata).map(({ name, metadata }) => ({ name, metadata }));
	}

	// beforePromptBuild takes restricted tools from the list. The list is the one of last time, since the hook has none; with
	// tool search most tools are in a catalogue that no plugin sees, and then the list is left alone. It tells no iteration: the
	// server knows the run's last, and at the cap a call asks a person where this could only block.
	async function beforePromptBuild(_event, ctx) {
		const tools = runs.toolsOf(ctx.sessionKey);
		const names = tools.map((t) => t.name);
		if (!names.length || names.includes("tool_call") || names.includes("tool_search_code")) return undefined;
		const answer = await reports.ask("before_llm_call", context(ctx), { tools: tools.map(({ name, metadata }) => defined({ name, metadata })) });
		if (answer?.block === true) remember(blocked, ctx.runId, String(answer.blockReason ?? "This turn is blocked."));
		if (!Array.isArray(answer?.tools)) return undefined;
		const kept = new Set(answer.tools.map((t) => t?.name));
		const allowed = names.filter((n) => kept.has(n));
		return allowed.length === names.length ? undefined : { toolsAllow: allowed };
	}

	function afterToolCall(event, ctx) {
		const about = context(ctx, event);
		if (wraps(event) || (isBlocked(event.result) && !runs.hasPassed(about))) return;
		const { text, marked, secret } = readResult(event.result);
		const told = [marked && runs.suspect(about.sessionKey), secret && runs.suspectSecret(about.sessionKey)].filter(Boolean);
		reports.report("after_tool_call", about, defined({
			toolName: event.toolName,
			toolCallId: about.toolCallId,
			error: event.error === undefined ? undefined : true,
			durationMs: wholeNumber(event.durationMs),
			origin: originOf(event.params),
			childSessionKey: childOf(event),
			marked: marked || undefined,
			secret: secret || undefined,
			...printed(text),
		}), () => told.forEach((f) => f()));
	}

	function subagentSpawned(event, ctx) {
		const child = event.childSessionKey ?? ctx.childSessionKey;
		runs.spawned(child, ctx.requesterSessionKey);
		const about = { sessionKey: ctx.requesterSessionKey };
		if (child) reports.report("subagent_spawned", defined(about), defined({ childSessionKey: child, childRunId: event.runId, agentId: event.agentId, mode: event.mode }));
	}

	function sessionEnd(event, ctx) {
		const sessionKey = event.sessionKey ?? ctx.sessionKey;
		runs.sessionEnded(sessionKey);
		loop.sessionEnded(sessionKey);
		if (!goesOn(event)) loop.waker.sessionEnded(sessionKey);
		const { reason, nextSessionId, nextSessionKey } = event;
		const told = goesOn(event) ? [sessionKey, nextSessionKey ?? sessionKey].map(runs.suspect) : [];
		reports.report("session_end", context({ ...ctx, sessionKey }), defined({ reason, nextSessionId, nextSessionKey }), () => told.forEach((f) => f()));
	}

	// cronChanged tells what becomes of the scheduler's jobs: that one was started, so that its run is vouched for, and by what it
	// ends. A job whose text comes from outside, or from what a command prints, is not vouched for.
	function cronChanged(event) {
		const { action, jobId, job, agentId = job?.agentId ?? mainAgent } = event;
		if (!["started", "finished", "removed"].includes(action)) return;
		const outside = job?.payload?.externalContentSource !== undefined || ["stream", "on-exit"].includes(job?.schedule?.kind) || undefined;
		const sessionTarget = event.sessionTarget ?? job?.sessionTarget;
		loop.tellingJobs(reports.report("cron_changed", { agentId }, defined({ action, jobId: fitted(jobId), sessionTarget: fitted(sessionTarget), outside })));
	}

	// replyDispatch tells of a message that is /new or /reset and nothing else. Of all hooks only this one shows that a message was
	// forwarded. The server knows who the owner is, and whether the session then really ends.
	function replyDispatch(event) {
		const { ctx = {} } = event;
		const command = typedCommand(ctx);
		if (command === undefined) return;
		const about = { agentId: ctx.AgentId, sessionKey: event.sessionKey ?? ctx.SessionKey, messageProvider: ctx.Provider, accountId: ctx.AccountId, senderId: ctx.SenderId };
		reports.report("reset_requested", defined(about), { command });
	}

	function agentEnd(event, ctx) {
		reports.report("agent_end", context(ctx, event), defined({ success: event.success, durationMs: wholeNumber(event.durationMs) }));
		runs.ended(event.runId ?? ctx.runId);
		blocked.delete(ctx.runId);
	}

	// replyPayloadSending puts under the agent's answer what the server has to say to the user of the run: that it blocked an
	// action. It asks only where a call of the run was blocked, once, and the answer goes out whatever comes of it.
	async function replyPayloadSending(event, ctx) {
		const { payload, kind } = event;
		if (kind !== "final" || typeof payload?.text !== "string" || payload.text === "") return undefined;
		const about = loop.takeBlocked(event.runId ?? ctx.runId);
		if (about === undefined) return undefined;
		const { contentHash } = printed(payload.text);
		const footer = (await reports.ask("before_response_emit", defined(about), defined({ contentHash, channel: event.channel })))?.appendFooter;
		return typeof footer === "string" && footer !== "" ? { payload: { ...payload, text: `${payload.text}\n\n⚠️ ${footer}` } } : undefined;
	}

	// printed is what is kept of a text.
	function printed(text) {
		const contentHash = `sha256:${createHash("sha256").update(text).digest("hex")}`;
		return { size: Buffer.byteLength(text), contentHash, fingerprints: extract(key, text) };
	}
}

function remember(map, key, value) {
	if (key === undefined) return;
	map.delete(key);
	map.set(key, value);
	if (map.size > 1000) map.delete(map.keys().next().value);
}

function context(ctx, event = {}) {
	const { agentId, sessionKey, sessionId, channelId } = ctx;
	const runId = event.runId ?? ctx.runId;
	const toolCallId = fitted(event.toolCallId ?? ctx.toolCallId);
	return defined({ agentId, sessionKey, sessionId, runId, toolCallId, channelId, messageProvider: ctx.messageProvider ?? ctx.channel });
}

function wholeNumber(n) {
	return Number.isFinite(n) && n >= 0 ? Math.round(n) : undefined;
}

// goesOn reports whether the next session holds what this one held. The server knows which reasons say that it does not.
function goesOn({ reason, nextSessionId, nextSessionKey }) {
	return Boolean(nextSessionId ?? nextSessionKey) && !["new", "reset", "deleted"].includes(reason);
}

// typedCommand is the command of a message that a person wrote to the agent alone, with nothing forwarded or quoted in it. What
// OpenClaw does not tell is not taken for granted.
function typedCommand(ctx) {
	const said = /^\s*\/(new|reset)\s*$/.exec(ctx.CommandBody ?? "");
	const typed = ctx.ChatType === "direct" && ctx.InboundEventKind === "user_request" && ctx.SenderIsBot === false && Boolean(ctx.MessageSid);
	const anothers = Object.keys(ctx).some((key) => /^(Forwarded|ReplyTo)/.test(key) && ctx[key] !== undefined);
	const started = ctx.InputProvenance !== undefined || ctx.InternalTurnSource !== undefined;
	return said && typed && !anothers && !started && ctx.RawBody === ctx.CommandBody ? said[1] : undefined;
}

// isBlocked reads OpenClaw's mark of a call that was not let through. A tool could write the same: it counts only for calls that
// were not seen to pass.
function isBlocked(result) {
	return result?.details?.status === "blocked";
}

// isJob: the session of a scheduled job's run, or of one that a webhook started.
function isJob(sessionKey) {
	return typeof sessionKey === "string" && /^agent:[^:]+:cron:/.test(sessionKey);
}

// childOf is the session that a call has started, by OpenClaw's own answer.
function childOf({ toolName, result }) {
	const key = canonical(toolName ?? "") === "sessions_spawn" ? result?.details?.childSessionKey : undefined;
	return typeof key === "string" ? fitted(key) : undefined;
}

// readResult is what is told of a result. One that can't be read counts as outside content that bears a secret.
function readResult(result) {
	try {
		const text = textOf(result);
		if (text.length <= mostRead) return { text, marked: isMarked(text), secret: bearsSecret(text) };
	} catch {
		// too deep, or of a form that no JSON has
	}
	return { text: "", marked: true, secret: true };
}

// textOf is what the model reads of a result.
function textOf(result) {
	if (typeof result === "string") return result;
	if (!Array.isArray(result?.content)) return JSON.stringify(result) ?? "";
	return result.content.map((p) => (typeof p?.text === "string" ? p.text : "")).join("\n");
}

// originOf names where a tool has its output from, for people: a host, or a file.
function originOf(params) {
	const { url, path, file_path: file } = params ?? {};
	if (typeof url === "string" && URL.canParse(url)) return new URL(url).hostname.slice(0, maxOrigin) || undefined;
	const name = [path, file].find((p) => typeof p === "string");
	return name === undefined || Buffer.byteLength(name) > maxOrigin || !isPlain(name) ? undefined : name;
}
