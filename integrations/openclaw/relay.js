// Commands to verifier that someone types into OpenClaw's own chat. They are claimed before the model sees them, whoever
// wrote them and whether or not they are passed on: a code must not reach the agent. The server decides whether the sender
// may approve; this part only carries.

import { randomUUID } from "node:crypto";
import { WireError } from "./wire.js";

const maxText = 4000;
const command = /^\s*(?:@\S+\s+)?(\.(?:approve|deny|pending|reset-trust|sources|pause|resume|grants|revoke|pair)(?:\s[\s\S]*)?)$/i;

// A line with a code somewhere in a longer message: OpenClaw may put messages together that come quickly one after another.
const codeInside = /^\s*(?:@\S+\s+)?\.(?:approve|deny|pair)\s.*\b[0-9a-f]{8}\b/im;

const switchedOff = "verifier takes no answers from this chat (relayApprovals is off). Answer where it asked you.";
const notAlone = "A line of this message is an answer to verifier, so the agent did not get any of it and verifier neither. Send that line alone.";
const unanswered = "verifier did not answer, so it is not known whether this counted. Look where it asked you.";

// createRelay returns the before_dispatch handler.
export function createRelay({ settings, wire, log }) {
	return async function beforeDispatch(event, ctx = {}) {
		const said = event.content ?? "";
		const text = command.exec(said)?.[1]?.trim();
		if (text === undefined) return codeInside.test(said) ? { handled: true, text: notAlone } : undefined;
		if (!settings.relayApprovals) return { handled: true, text: switchedOff };
		try {
			const answer = await wire("approve", message(text, event, ctx), { timeoutMs: settings.relayMs });
			return { handled: true, text: typeof answer.text === "string" && answer.text !== "" ? answer.text.slice(0, maxText) : unanswered };
		} catch (err) {
			log.warn(`verifier: a command could not be passed on (${err instanceof WireError ? `${err.kind}: ${err.message}` : err?.stack})`);
			return { handled: true, text: unanswered };
		}
	};
}

function message(text, event, ctx) {
	const chat = ctx.conversationId;
	const context = {
		messageProvider: event.channel ?? ctx.channelId,
		accountId: ctx.accountId,
		senderId: event.senderId ?? ctx.senderId,
		channelId: chat,
		sessionKey: event.sessionKey ?? ctx.sessionKey,
		groupId: event.isGroup ? (chat ?? "unknown") : undefined,
	};
	return { version: 1, timestamp: new Date().toISOString(), requestId: randomUUID(), text, context: JSON.parse(JSON.stringify(context)) };
}
