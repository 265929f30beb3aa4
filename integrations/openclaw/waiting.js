// While a call is held, OpenClaw's chat shows only that the agent works. So the plugin writes there, after a moment, that a call
// waits: a fixed text, in a direct chat with the owner, and seldom. What is asked stands where verifier asks it.

const afterMs = 5000; // verifier itself answers sooner than that
const everyMs = 60_000; // for each session
const most = 1000; // sessions

export const text = "⏳ A call of the agent waits. If verifier has asked you to approve it, answer there.";

const shared = /:(group|channel|thread|subagent|cron|hook|acp):/;

// createWaiting returns watch(ctx): it begins to wait for a call, and what it returns ends that.
export function createWaiting({ runtime, config, log, wait = setTimeout, stop = clearTimeout, now = Date.now }) {
	const last = new Map(); // when it was written, by session
	const load = runtime?.channel?.outbound?.loadAdapter;
	const entryOf = runtime?.agent?.session?.getSessionEntry;
	const able = typeof load === "function" && typeof entryOf === "function";

	return function watch(ctx) {
		if (!able || !isOwners(ctx)) return () => {};
		const timer = wait(() => write(ctx).catch((err) => log.warn(`verifier: the chat got no message that a call waits: ${err?.message ?? err}`)), afterMs);
		return () => stop(timer);
	};

	async function write({ sessionKey, agentId, requester }) {
		if (now() - (last.get(sessionKey) ?? -everyMs) < everyMs) return;
		last.delete(sessionKey);
		last.set(sessionKey, now());
		if (last.size > most) last.delete(last.keys().next().value);
		const { delivery } = entryOf({ sessionKey, agentId }) ?? {};
		const { channel, to, accountId, threadId } = delivery?.kind === "external" ? (delivery.context ?? {}) : {};
		if (channel !== requester.channel || (requester.accountId && accountId && requester.accountId !== accountId)) return; // the last message came from elsewhere
		if (!isChatOf(to, requester.senderId)) return; // all direct chats may share a session: the last message may be another person's
		const send = (await load(channel))?.sendText;
		await send?.({ cfg: config, to, text, accountId, threadId });
	}
}

// isChatOf: where a message goes is the direct chat of this person, by id: "111", "telegram:111", "user:U1". What names a channel may be
// one with others in it.
function isChatOf(to, senderId) {
	if (typeof to !== "string" || !senderId) return false;
	const [id, ...kinds] = to.split(":").reverse();
	return id === String(senderId) && kinds.every((kind) => !/^(channel|group|room|thread|topic|conversation)$/i.test(kind));
}

// isOwners: the owner has written directly to the agent, as far as OpenClaw attests it.
function isOwners({ sessionKey, requester }) {
	return requester?.senderIsOwner === true && typeof requester.channel === "string" && typeof sessionKey === "string" && !shared.test(`${sessionKey}:`);
}
