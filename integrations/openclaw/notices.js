// Calls outside the plugin's own scope are not asked about, but the server must know of them before they run: what they
// bring in taints the conversation like anything else. A notice that can't be delivered is owed. The next question about
// that conversation, its children's and its parent's included, pays the debt first, and without that there is no answer, so
// that failMode decides.

import { randomUUID } from "node:crypto";
import { WireError } from "./wire.js";

const timeoutMs = 3000;
const mostOwed = 100; // notices in one conversation
const mostConversations = 1000;

// createNotices returns tell, which delivers one call, and settle, which delivers what is owed. Both throw a WireError. rootOf
// is the session whose level a session shares.
export function createNotices({ wire, rootOf }) {
	const owed = new Map(); // by conversation
	const paying = new Map(); // who pays; the others wait for it

	return { tell, settle };

	async function tell(call, signal) {
		try {
			await settle(call);
			await deliver(call, signal);
		} catch (err) {
			// The server has understood and refuses: sending it again would not help.
			if (!(err instanceof WireError) || err.kind === "refused" || err.kind === "aborted" || !remember(call)) throw err;
		}
	}

	async function settle(call) {
		const key = conversation(call);
		while (owed.has(key)) {
			if (!paying.has(key)) paying.set(key, pay(key).finally(() => paying.delete(key)));
			await paying.get(key);
		}
	}

	async function pay(key) {
		const debts = owed.get(key);
		while (debts.length > 0) {
			await deliver(debts[0]);
			debts.shift();
		}
		owed.delete(key);
	}

	async function deliver(call, signal) {
		const message = { ...call, notice: true, timestamp: new Date().toISOString(), requestId: randomUUID() };
		const answer = await wire("hooks/before_tool_call", message, { timeoutMs, signal });
		if (answer.accepted !== true) throw new WireError("refused", String(answer.reason ?? "the server did not take a notice"));
	}

	// remember reports whether there was room. Where there is none the call must not run unseen.
	function remember(call) {
		const key = conversation(call);
		if (!owed.has(key) && owed.size >= mostConversations) return false;
		const debts = owed.get(key) ?? [];
		if (debts.length >= mostOwed) return false;
		debts.push(call);
		owed.set(key, debts);
		return true;
	}

	function conversation(call) {
		return rootOf(call.context.sessionKey);
	}
}
