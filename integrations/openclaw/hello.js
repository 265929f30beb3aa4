// Hello: the plugin tells the server that it is loaded where calls are made. OpenClaw also loads plugins in its command line, to look
// at them; there no gateway starts, and nothing is said. It is said again every few minutes, so that silence can be seen.

import { readFileSync } from "node:fs";

const everyMs = 5 * 60_000;
const soonMs = 15_000; // after one that did not arrive
const mostNames = 5;

// createHello returns what says hello, and reports whether it arrived.
export function createHello({ settings, reports, blind }) {
	const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));
	const about = { runtime: "OpenClaw", version, failMode: settings.failMode, scope: scopeOf(settings), off: !settings.enabled || undefined, blind: blind || undefined };
	return async (instance) => (await reports.ask("hello", {}, JSON.parse(JSON.stringify({ ...about, instance })))) !== undefined;
}

function scopeOf({ scope: { include, exclude } }) {
	if (include) return `only ${named(include)}`;
	return exclude?.size ? `every tool but ${named(exclude)}` : undefined;
}

function named(names) {
	const all = [...names];
	return all.slice(0, mostNames).join(", ").slice(0, 200) + (all.length > mostNames ? ` and ${all.length - mostNames} more` : "");
}

// createGreeter says hello for a process, whichever instance of the plugin hears that the gateway starts. The one that was loaded
// last speaks: it has the settings that count.
export function createGreeter({ instance, wait = (f, ms) => setTimeout(f, ms).unref(), stop = clearTimeout }) {
	let say;
	let started = false;
	let timer;

	return { speaks, gatewayStarted, gatewayStopped };

	function speaks(hello) {
		say = hello;
		if (started) greet();
	}

	function gatewayStarted() {
		started = true;
		greet();
	}

	function gatewayStopped() {
		started = false;
		stop(timer);
	}

	async function greet() {
		const speaker = say;
		const heard = await speaker?.(instance).catch(() => false);
		if (!started || say !== speaker) return;
		stop(timer);
		timer = wait(greet, heard ? everyMs : soonMs);
	}
}
