// Where a call runs: the agent's workspace, by OpenClaw's config, and the system on which OpenClaw runs a command: its own, unless the config or the session says that commands run on another machine, whose system is not known.
// Both can change while the plugin runs, so they are read for each call.

import { canonical } from "./names.js";
import { isPlain } from "./shape.js";

const longestPath = 256; // bytes, by the protocol

// createPlatform returns platformOf(toolName, ctx), which is undefined where the call starts no command, and workspaceOf(ctx). Both are
// undefined where they can't be told.
export function createPlatform({ runtime, config }) {
	return { platformOf, workspaceOf };

	function workspaceOf({ agentId }) {
		try {
			const dir = runtime?.agent?.resolveAgentWorkspaceDir?.(runtime.config?.current?.() ?? config, agentId);
			return typeof dir === "string" && Buffer.byteLength(dir) <= longestPath && isPlain(dir) ? dir : undefined;
		} catch {
			return undefined;
		}
	}

	function platformOf(toolName, { sessionKey, agentId } = {}) {
		if (canonical(toolName) !== "exec") return undefined;
		try {
			const session = sessionKey && runtime?.agent?.session?.getSessionEntry?.({ sessionKey, agentId });
			return onNode(runtime?.config?.current?.() ?? config) || session?.execHost?.trim().toLowerCase() === "node" || session?.execNode ? undefined : process.platform;
		} catch {
			return undefined;
		}
	}
}

// onNode reports whether any agent's commands run on a node. agents.list is how OpenClaw shows agents.entries to older plugins; a copy of the config has only the latter.
function onNode(config) {
	const agents = [...Object.values(config?.agents?.entries ?? {}), ...Object.values(config?.agents?.list ?? {})];
	return [config, ...agents].some((of) => of?.tools?.exec?.host === "node");
}
