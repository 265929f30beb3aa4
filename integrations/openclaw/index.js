// The entry that OpenClaw loads. It wires the parts together and refuses to fail: OpenClaw goes on without a plugin whose
// config it finds invalid or whose register() throws, and every tool call would then run unasked. So the manifest's schema
// takes any object, and whatever is wrong with the config makes this plugin block each call and say why in the log.

import { createEvents } from "./events.js";
import { createGate } from "./gate.js";
import { createHello } from "./hello.js";
import { createNotices } from "./notices.js";
import { createPlatform } from "./platform.js";
import { createRelay } from "./relay.js";
import { createReports } from "./reports.js";
import { createRuns } from "./runs.js";
import { readSettings } from "./settings.js";
import { shared } from "./shared.js";
import { createWaiting } from "./waiting.js";
import { createRouser } from "./wake.js";
import { createWire } from "./wire.js";

export const id = "verifier";

// Handlers run by falling priority. The last one to return params has the say, so nobody may come after us.
export const lastOfAll = -Number.MAX_SAFE_INTEGER;

// Whoever claims a message first has it: no plugin may show a code to the model before us.
const firstOfAll = Number.MAX_SAFE_INTEGER;

// What OpenClaw grants a hook beyond the wait we ask for: time to notice that nobody has answered.
const grace = 5000;

// What a hook needs besides its handler. OpenClaw asks before each reply; we look at scheduled runs, before others can claim them.
const options = { before_agent_reply: { priority: firstOfAll, eligibleTriggers: ["cron"] } };

const notSetUp = "The verifier plugin is not set up, so nothing may run. The owner finds the cause in OpenClaw's log.";

function register(api) {
	try {
		start(api);
	} catch (err) {
		api.logger.error(`verifier: could not start, so every tool call is blocked: ${err?.stack ?? err}`);
		blockEverything(api);
	}
}

function start(api) {
	const hooks = api.config?.plugins?.entries?.[id]?.hooks;
	const settings = readSettings(api.pluginConfig, { env: process.env, hooks, grace });
	for (const warning of settings.warnings) api.logger.warn(`verifier: ${warning}`);
	if (settings.problems.length > 0) {
		for (const problem of settings.problems) api.logger.error(`verifier: ${problem}`);
		api.logger.error("verifier: every tool call is blocked until plugins.entries.verifier.config is fixed.");
		blockEverything(api);
		return;
	}
	const wire = createWire(settings);
	const log = api.logger;
	const loop = shared();
	const runs = createRuns({ sendUserMessages: settings.sendUserMessages, webhooks: api.config?.hooks?.enabled === true, loop });
	const reports = createReports({ wire, log, rootOf: runs.rootOf });
	loop.greeter.speaks(createHello({ settings, reports, blind: hooks?.allowConversationAccess !== true }));
	api.on("gateway_start", loop.greeter.gatewayStarted);
	api.on("gateway_stop", loop.greeter.gatewayStopped);
	if (!settings.enabled) return;
	const rouse = createRouser(api.runtime?.system);
	if (rouse) loop.waker.speaks({ wire, rouse, log });
	api.on("gateway_start", loop.waker.gatewayStarted);
	api.on("gateway_stop", loop.waker.gatewayStopped);
	const notices = createNotices({ wire, rootOf: runs.rootOf });
	const gate = createGate({ settings, wire, log, notices, runs, loop, settled: reports.settled, waits: createWaiting({ runtime: api.runtime, config: api.config, log }), ...createPlatform({ runtime: api.runtime, config: api.config }) });
	api.on("before_tool_call", gate, { priority: lastOfAll, timeoutMs: settings.timeoutMs + grace });
	api.on("before_dispatch", createRelay({ settings, wire, log }), { priority: firstOfAll });
	for (const [name, handler] of Object.entries(createEvents({ settings, reports, runs, loop, mainAgent: mainAgent(api.config) }))) api.on(name, guarded(name, handler, log), options[name]);
}

// mainAgent is the agent of a job that names none.
function mainAgent(config) {
	const agents = Array.isArray(config?.agents?.list) ? config.agents.list : [];
	return (agents.find((a) => a?.default === true) ?? agents[0])?.id ?? "main";
}

// guarded keeps an error in a report from failing what it reports on.
function guarded(name, handler, log) {
	return async (event, ctx) => {
		try {
			return await handler(event ?? {}, ctx ?? {});
		} catch (err) {
			log.error(`verifier: ${name} could not be handled: ${err?.stack ?? err}`);
			return undefined;
		}
	};
}

function blockEverything(api) {
	api.on("before_tool_call", () => ({ block: true, blockReason: notSetUp }), { priority: lastOfAll });
	api.on("before_dispatch", createRelay({ settings: { relayApprovals: false } }), { priority: firstOfAll });
}

export default {
	id,
	name: "Verifier",
	description: "Asks verifier, a self-hosted approval gateway, before every tool call.",
	register,
};
