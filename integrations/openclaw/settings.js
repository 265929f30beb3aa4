// The plugin's config: what it may say, and what is wrong with it. Nothing is guessed: a key that is not known or a value
// of the wrong kind is a problem, and with a problem the plugin blocks every call.

import { readFileSync, statSync } from "node:fs";
import { canonical } from "./names.js";

const defaults = { url: "http://127.0.0.1:8787/verify", timeoutMs: 300_000, failMode: "deny" };
// OpenClaw gives a hook ten minutes at most, but ends a run in which nothing has happened for six: so a call waits five by
// default.
const longest = 590_000;
const shortest = 1000;
const longestRelay = 10_000;
const keys = ["url", "secret", "headers", "timeoutMs", "failMode", "scope", "agents", "enabled", "sendUserMessages", "relayApprovals"];
const reserved = ["content-length", "content-type", "host", "transfer-encoding", "connection", "x-openclaw-signature"];

// readSettings never throws. hooks is OpenClaw's own policy for this plugin's hooks, which overrules the time we ask for.
export function readSettings(config, { env = {}, hooks = {}, grace = 0 } = {}) {
	const problems = [];
	const warnings = [];
	const c = isObject(config) ? config : {};
	if (config !== undefined && config !== null && !isObject(config)) problems.push("config must be an object.");
	for (const key of Object.keys(c)) {
		if (!keys.includes(key)) problems.push(`config.${key} is not known. Known are ${keys.join(", ")}.`);
	}
	const s = {
		problems,
		warnings,
		enabled: bool(c, "enabled", true, problems),
		sendUserMessages: bool(c, "sendUserMessages", true, problems),
		relayApprovals: bool(c, "relayApprovals", false, problems),
		url: readUrl(c.url ?? defaults.url, env, problems, warnings),
		secret: readSecret(c.secret, env, problems),
		headers: readHeaders(c.headers, problems),
		failMode: readFailMode(c.failMode ?? defaults.failMode, "failMode", problems),
		scope: readScope(c.scope, problems),
		agents: readAgents(c.agents, c.failMode ?? defaults.failMode, problems, warnings),
	};
	s.timeoutMs = readTimeout(c.timeoutMs ?? defaults.timeoutMs, hooks, grace, problems, warnings);
	s.relayMs = relayTime(hooks);
	if (s.enabled === false) warnings.push("is switched off (config.enabled is false): tool calls run unasked. Once it is true again, restart the gateway.");
	if (s.failMode === "allow") warnings.push("lets tool calls run when the gateway can't be reached (config.failMode is allow).");
	return s;
}

// failModeOf is the most restrictive of the plugin's and the agent's own. An agent that is not named could be any of them.
export function failModeOf(settings, agentId) {
	const own = agentId ? [settings.agents.get(agentName(agentId))] : [...settings.agents.values()];
	return settings.failMode === "allow" && !own.some((agent) => agent?.failMode === "deny") ? "allow" : "deny";
}

// agentName is the one spelling by which OpenClaw knows an agent, whatever the config has.
function agentName(id) {
	return String(id).trim().toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
}

export function inScope(settings, toolName) {
	const { include, exclude } = settings.scope;
	const name = canonical(toolName);
	if (include) return include.has(name);
	return !exclude?.has(name);
}

function isObject(v) {
	return typeof v === "object" && v !== null && !Array.isArray(v);
}

function bool(c, key, otherwise, problems) {
	if (c[key] === undefined) return otherwise;
	if (typeof c[key] !== "boolean") problems.push(`config.${key} must be true or false.`);
	return c[key];
}

function readUrl(value, env, problems, warnings) {
	const bad = (what) => void problems.push(`config.url ${what}`);
	if (typeof value !== "string" || !URL.canParse(value)) return bad(`must be an address such as ${defaults.url}`);
	const url = new URL(value);
	if (url.protocol !== "http:" && url.protocol !== "https:") return bad("must start with http:// or https://");
	if (url.username || url.password || url.search || url.hash) return bad("must not hold a password, a ? or a #.");
	if (url.pathname === "/") url.pathname = "/verify";
	if (url.protocol === "http:" && !isLoopback(url.hostname)) {
		const risk = "is plain http to another machine: anyone in between reads every call. Use https.";
		if (env.NODE_ENV === "production") return bad(risk);
		warnings.push(`config.url ${risk}`);
	}
	return url;
}

// isLoopback reads a URL's hostname, which the URL parser has brought into one form: 127.1 is 127.0.0.1 by then.
export function isLoopback(host) {
	return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function readSecret(value, env, problems) {
	const bad = (what) => void problems.push(`config.secret ${what}`);
	const given = value ?? env.VERIFIER_SECRET;
	if (given === undefined || given === "") return bad("is missing. It is webhook.secret of verifier; VERIFIER_SECRET would do as well.");
	if (typeof given !== "string") return bad("must be a text, ${NAME} or file:/path.");
	const variable = /^\$\{(\w+)\}$/.exec(given);
	if (variable) {
		const text = env[variable[1]];
		return text ? text : bad(`names the variable ${variable[1]}, which is not set.`);
	}
	return given.startsWith("file:") ? readSecretFile(given.slice("file:".length), bad) : given;
}

function readSecretFile(path, bad) {
	try {
		const { mode } = statSync(path);
		if (process.platform !== "win32" && mode & 0o077) return bad(`names ${path}, which others can read. Run chmod 600 on it.`);
		const text = readFileSync(path, "utf8").trim();
		return text || bad(`names ${path}, which is empty.`);
	} catch (err) {
		return bad(`names ${path}, which can't be read: ${err.code ?? err.message}.`);
	}
}

function readHeaders(value, problems) {
	if (value === undefined) return {};
	if (!isObject(value)) return void problems.push("config.headers must be an object of texts.");
	for (const [name, text] of Object.entries(value)) {
		if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name)) problems.push(`config.headers: "${name}" is no name for a header.`);
		else if (reserved.includes(name.toLowerCase())) problems.push(`config.headers.${name} is set by the plugin itself.`);
		if (typeof text !== "string" || /[^\t\x20-\x7e\x80-\xff]/.test(text) || /^\$\{\w+\}$/.test(text)) {
			problems.push(`config.headers.${name} must be a text on one line. Is its variable set?`);
		}
	}
	return { ...value };
}

function readFailMode(value, where, problems) {
	if (value !== "deny" && value !== "allow") problems.push(`config.${where} must be deny or allow.`);
	return value;
}

function readScope(value, problems) {
	if (value === undefined) return {};
	if (!isObject(value) || Object.keys(value).some((k) => k !== "include" && k !== "exclude")) {
		return void problems.push("config.scope must be {include: [...]} or {exclude: [...]}.");
	}
	if (value.include !== undefined && value.exclude !== undefined) {
		problems.push("config.scope has both include and exclude. Name one: the tools to ask about, or those not to.");
	}
	return { include: readNames(value.include, "include", problems), exclude: readNames(value.exclude, "exclude", problems) };
}

function readNames(list, where, problems) {
	if (list === undefined) return undefined;
	if (!Array.isArray(list) || list.some((n) => typeof n !== "string" || canonical(n) === "")) {
		return void problems.push(`config.scope.${where} must be a list of names of tools.`);
	}
	return new Set(list.map(canonical));
}

function readAgents(value, globalMode, problems, warnings) {
	const agents = new Map();
	if (value === undefined) return agents;
	if (!isObject(value)) return void problems.push('config.agents must look like {"<id>": {"failMode": "deny"}}.');
	for (const [name, own] of Object.entries(value)) {
		if (!isObject(own) || Object.keys(own).some((k) => k !== "failMode")) {
			problems.push(`config.agents.${name} must look like {"failMode": "deny"}.`);
			continue;
		}
		readFailMode(own.failMode, `agents.${name}.failMode`, problems);
		if (own.failMode === "allow" && globalMode === "deny") {
			warnings.push(`config.agents.${name}.failMode is allow and does nothing: an agent can be held tighter than the rest, never looser.`);
		}
		agents.set(agentName(name), { failMode: own.failMode });
	}
	return agents;
}

// relayTime is how long an answer to a typed command is waited for: OpenClaw hands a message that is not claimed in its own time
// on to the model, with the code in it.
function relayTime(hooks) {
	const granted = hooks?.timeouts?.before_dispatch ?? hooks?.timeoutMs;
	return Number.isInteger(granted) ? Math.max(1, Math.min(longestRelay, Math.floor(granted / 2))) : longestRelay;
}

function readTimeout(value, hooks, grace, problems, warnings) {
	if (!Number.isInteger(value) || value < shortest || value > longest) {
		problems.push(`config.timeoutMs must be a whole number from ${shortest} to ${longest}.`);
		return defaults.timeoutMs;
	}
	const granted = hooks?.timeouts?.before_tool_call ?? hooks?.timeoutMs;
	if (!Number.isInteger(granted) || granted >= value + grace) return value;
	const left = Math.max(shortest, granted - grace);
	warnings.push(`OpenClaw grants this hook ${granted} ms (plugins.entries.verifier.hooks), so a call waits ${left} ms at most, not ${value}.`);
	return left;
}
