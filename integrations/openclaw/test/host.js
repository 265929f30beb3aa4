// The part of OpenClaw that a plugin meets, as its documentation describes it: registration of typed hooks, and the rules by
// which the results of several handlers are merged. The real one is met in the end-to-end test.

import plugin, { id } from "../index.js";

export function load(config, { hooks, env = {}, others = [], webhooks = false, runtime, more = {} } = {}) {
	const handlers = [];
	const lines = [];
	const log = (level) => (text) => void lines.push(`${level} ${text}`);
	const api = {
		pluginConfig: config,
		config: { plugins: { entries: { [id]: { hooks } } }, hooks: { enabled: webhooks }, ...more },
		runtime,
		logger: { info: log("info"), warn: log("warn"), error: log("error"), debug: log("debug") },
		on: (name, handler, options = {}) => void handlers.push({ name, handler, ...options }),
	};
	withEnv(env, () => plugin.register(api));
	for (const other of others) api.on("before_tool_call", other.handler, other);
	const registered = (name) => handlers.filter((h) => h.name === name).toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
	return {
		lines,
		registered,
		run: (name, event, ctx) => registered(name)[0]?.handler(event, ctx),
		beforeToolCall: (event, ctx) => beforeToolCall(registered("before_tool_call"), event, ctx),
	};
}

// beforeToolCall merges as OpenClaw does: each handler sees the params as they were, the last to return some wins, a block
// ends it. It returns what would run, or what the model would read.
async function beforeToolCall(handlers, event, ctx) {
	let params = event.params;
	for (const { handler } of handlers) {
		const result = await handler(structuredClone(event), ctx);
		if (result?.block) return { blocked: result.blockReason };
		if (result?.params) params = { ...event.params, ...result.params };
	}
	return { runs: params };
}

function withEnv(env, f) {
	const before = { NODE_ENV: undefined, VERIFIER_SECRET: undefined };
	for (const name of Object.keys({ ...before, ...env })) before[name] = process.env[name];
	try {
		for (const name of Object.keys(before)) setEnv(name, env[name]);
		f();
	} finally {
		for (const name of Object.keys(before)) setEnv(name, before[name]);
	}
}

function setEnv(name, value) {
	if (value === undefined) delete process.env[name];
	else process.env[name] = value;
}

// owner is what OpenClaw says of a run that the owner started in a direct message.
export const owner = {
	agentId: "main",
	sessionKey: "agent:main:main",
	sessionId: "7b2adb9c",
	runId: "run-1",
	channelId: "telegram:111",
	requester: { channel: "telegram", accountId: "default", senderId: "111", senderIsOwner: true },
};

let calls = 0;

export function exec(command = "date") {
	return { toolName: "exec", params: { command }, runId: "run-1", toolCallId: `call_${++calls}` };
}
