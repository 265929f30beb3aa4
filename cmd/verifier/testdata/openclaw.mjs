// Stands in for OpenClaw at the command line, for the page that sets it up: it keeps what it is told in a file, loads the plugin from
// where that was installed to, and runs the plugin's hooks around the two calls that the page's message leads to. The real one is
// met by make e2e-openclaw.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const kept = join(homedir(), "openclaw.json");
const settings = existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : {};
const [area, verb, ...rest] = process.argv.slice(2);

function set(path, value) {
	const names = path.split(".");
	let at = settings;
	for (const name of names.slice(0, -1)) at = at[name] ??= {};
	at[names.at(-1)] = value === "true" ? true : value;
}

async function load() {
	const plugin = JSON.parse(readFileSync(join(settings.installed, "openclaw.plugin.json"), "utf8"));
	const entry = settings.plugins.entries[plugin.id];
	const address = readFileSync(join(homedir(), ".local/state/verifier/address"), "utf8").trim();
	const handlers = [];
	const log = (text) => console.error(text);
	(await import(pathToFileURL(join(settings.installed, "index.js")))).default.register({
		pluginConfig: { url: `http://${address}/verify`, ...entry.config }, // the usual port may be taken where this runs
		config: settings,
		logger: { info: log, warn: log, error: log, debug: () => {} },
		on: (name, handler) => void handlers.push({ name, handler }),
	});
	return async (name, event, ctx) => {
		let result;
		for (const h of handlers) if (h.name === name) result = (await h.handler(event, ctx)) ?? result;
		return result;
	};
}

if (area === "plugins" && verb === "install") {
	if (rest.slice(1).join(" ") !== "--force --accept-capabilities") throw new Error(`wrong flags: ${rest}`);
	settings.installed = rest[0];
} else if (area === "config" && verb === "set") {
	set(rest[0], rest[1]);
} else if (area === "gateway" && verb === "restart") {
	const run = await load();
	await run("gateway_start", { port: 1 }, {});
	await new Promise((done) => setTimeout(done, 3000)); // hello is said beside
} else if (area === "agent") {
	const [session, message] = [verb, ...rest].flatMap((word, i, all) => (word === "--session-key" || word === "--message" ? [all[i + 1]] : []));
	const run = await load();
	const ctx = { agentId: "main", sessionKey: session, sessionId: "s1", runId: "r1", channelId: "cli", requester: { channel: "cli", senderId: "owner", senderIsOwner: true } };
	await run("before_agent_run", { prompt: message, messages: [] }, ctx);
	for (const [toolName, params] of [["web_fetch", { url: /https:\S+/.exec(message)[0] }], ["exec", { command: /`(.*)`/.exec(message)[1] }]]) {
		const event = { toolName, params, runId: "r1", toolCallId: `call_${toolName}` };
		const answer = await run("before_tool_call", event, ctx);
		console.log(answer?.block ? `${toolName}: blocked: ${answer.blockReason}` : `${toolName}: ran`);
		await run("after_tool_call", { ...event, result: "Example Domain", durationMs: 1 }, ctx);
	}
	process.exit(0);
} else throw new Error(`the stand-in does not know: ${process.argv.slice(2).join(" ")}`);
writeFileSync(kept, JSON.stringify(settings));
process.exit(0);
