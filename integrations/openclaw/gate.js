// The gate: what happens before a tool call. It asks the server, and lets the call pass only on a signed allow.
//
// failMode decides, as in the proposal, when there is no usable answer: the server is unreachable, answers another status
// than 2xx, too late or not in the protocol's form. It never decides about what the agent could bring about by itself
// (a call too large to send), nor about an answer with a wrong signature: those are blocked.

import { randomUUID } from "node:crypto";
import { canonical } from "./names.js";
import { failModeOf, inScope } from "./settings.js";
import { cut, defined, fitted } from "./shape.js";
import { maxBody, WireError } from "./wire.js";

const maxReason = 500;

const reasons = {
	broken: "The verifier plugin could not ask about this call. Nothing was run.",
	denied: "Denied by the verifier.",
	large: "The call is larger than 1 MiB, so it can't be verified. Nothing was run.",
	unsigned: "The verifier's answer could not be authenticated. Nothing was run.",
	edited: "The verifier answered with arguments that can't be run. Nothing was run.",
	aborted: "The call was given up before the verifier answered. Nothing was run.",
	unreachable: "The verifier did not answer. Nothing was run.",
};

// createGate returns the before_tool_call handler. runs is what is known of the call's run, loop how often it has called the
// model, settled waits for what is still being reported of its conversation, waits tells the chat that a call does, platformOf the system
// on which its command runs, workspaceOf the agent's workspace.
export function createGate({ settings, wire, log, notices, runs, loop, settled, waits, platformOf, workspaceOf }) {
	return async function beforeToolCall(event, ctx = {}) {
		let call;
		try {
			if (wraps(event)) return undefined;
			call = describe(event, ctx, factsOf(event, ctx), settings);
			if (Buffer.byteLength(JSON.stringify(call)) > maxBody) return block(reasons.large);
			const result = inScope(settings, event.toolName) ? await ask(call, ctx) : await notices.tell(call, ctx.abortSignal);
			if (!result?.block) runs.passed(call.context);
			return result;
		} catch (err) {
			if (err instanceof WireError) return withoutAnswer(err, call);
			log.error(`verifier: a call was blocked by an error of the plugin itself: ${err?.stack ?? err}`);
			return block(reasons.broken);
		}
	};

	function factsOf(event, ctx) {
		const annotations = runs.toolOf(ctx.sessionKey, event.toolName)?.annotations;
		const known = { ...runs.facts(event, ctx), annotations, iteration: loop.iteration(event.runId ?? ctx.runId) };
		return inScope(settings, event.toolName) ? { ...known, platform: platformOf(event.toolName, ctx), workspace: workspaceOf(ctx) } : known;
	}

	async function ask(call, ctx) {
		const began = performance.now();
		await notices.settle(call);
		await settled(call.context.sessionKey);
		const took = performance.now() - began;
		const timeoutMs = Math.max(1, Math.round(settings.timeoutMs - took));
		const waitMs = Math.max(1, settings.timeoutMs - 1000 * Math.floor(took / 1000)); // the server leaves us seconds, not milliseconds
		const { context, told } = runs.unreported({ ...call.context, waitMs });
		loop.waker.askedAgain(call);
		const over = waits(ctx);
		const answer = await wire("", { ...call, context }, { timeoutMs, signal: ctx.abortSignal }).finally(over);
		const result = decide(answer, call);
		told(!result.block);
		return result;
	}

	function decide(answer, call) {
		if (!isDecision(answer)) throw new WireError("malformed", "the answer holds no decision");
		// What was judged is what runs: OpenClaw shows each plugin the params as the model wrote them and takes those that the
		// last one returns, so this also undoes what another plugin changed meanwhile.
		if (answer.decision === "allow") return answer.params === undefined ? { params: call.tool.params } : instead(answer.params, call.tool.params);
		loop.blocked(call.context);
		loop.waker.unanswered(call, answer.question);
		return block(cut(answer.reason || reasons.denied, maxReason));
	}

	function withoutAnswer(err, call) {
		if (err.kind === "aborted") return block(reasons.aborted);
		if (err.kind === "refused") return block(cut(err.message, maxReason));
		if (err.kind === "unsigned") {
			log.error("verifier: an answer was not signed with config.secret. Is it the same as webhook.secret of the server at config.url?");
			return block(isDecision(err.parsed) && err.parsed.decision === "deny" ? reasons.denied : reasons.unsigned);
		}
		const mode = failModeOf(settings, call.context.agentId);
		log.warn(`verifier: no answer about ${call.tool.name} (${err.kind}: ${err.message}); failMode ${mode} decides`);
		if (mode !== "allow") return block(reasons.unreachable);
		runs.passed(call.context);
		return undefined;
	}
}

function block(blockReason) {
	return { block: true, blockReason };
}

// instead runs what the owner lets run in the place of the call's own params. OpenClaw lays what is returned over the params as they
// were, so what the owner left out is named without a value.
function instead(params, own) {
	if (typeof params !== "object" || params === null || Array.isArray(params)) return block(reasons.edited);
	const gone = Object.keys(own).filter((name) => !Object.hasOwn(params, name));
	return { params: { ...Object.fromEntries(gone.map((name) => [name, undefined])), ...params } };
}

function isDecision(answer) {
	return (answer?.decision === "allow" || answer?.decision === "deny") && ["undefined", "string"].includes(typeof answer.reason);
}

// wraps reports OpenClaw's tool_call, which only names another tool: that one comes through this gate by itself, under its
// own name. Anything else that bears the name is an ordinary call.
export function wraps(event) {
	const { toolName, params } = event;
	return canonical(toolName) === "tool_call" && typeof (params?.id ?? params?.toolId ?? params?.name) === "string";
}

// describe puts a call into the protocol's words. Params go through JSON once, so that what is sent is what is returned.
export function describe(event, ctx, { annotations, ...facts }, settings) {
	const requester = ctx.requester ?? {};
	return {
		version: 1,
		timestamp: new Date().toISOString(),
		requestId: randomUUID(),
		tool: defined({ name: event.toolName, params: JSON.parse(JSON.stringify(event.params ?? {})), annotations }),
		context: defined({
			agentId: ctx.agentId,
			sessionKey: ctx.sessionKey,
			sessionId: ctx.sessionId,
			runId: event.runId ?? ctx.runId,
			toolCallId: fitted(event.toolCallId ?? ctx.toolCallId),
			channelId: ctx.channelId,
			messageProvider: requester.channel,
			accountId: requester.accountId,
			senderId: requester.senderId,
			senderIsOwner: requester.senderIsOwner,
			...facts,
			edits: inScope(settings, event.toolName) || undefined, // of what is only told, nothing comes back
			waitMs: settings.timeoutMs,
		}),
	};
}
