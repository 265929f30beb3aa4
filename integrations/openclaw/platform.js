// The system on which OpenClaw runs a command: its own, unless the config or the session says that commands run on another machine, whose system is not known.
// Both can change while the plugin runs, so they are read for each call.

import { canonical } from "./names.js";

// createPlatform returns platformOf(toolName, ctx), which is undefined where the call starts no command, or where that can't be told.
export function createPlatform({ runtime, config }) {
	return function platformOf(toolName, { sessionKey, agentId } = {}) {
		if (canonical(toolName) !== "exec") return undefined;
		try {
			const session = sessionKey && runtime?.agent?.session?.getSessionEntry?.({ sessionKey, agentId });
			return onNode(runtime?.config?.current?.() ?? config) || session?.execHost?.trim().toLowerCase() === "node" || session?.execNode ? undefined : process.platform;
		} catch {
			return undefined;
		}
	};
}

// onNode reports whether any agent's commands run on a node. agents.list is how OpenClaw shows agents.entries to older plugins; a copy of the config has only the latter.
function onNode(config) {
	const agents = [...Object.values(config?.agents?.entries ?? {}), ...Object.values(config?.agents?.list ?? {})];
	return [config, ...agents].some((of) => of?.tools?.exec?.host === "node");
}
