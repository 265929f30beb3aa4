// What the plugin takes for granted of OpenClaw, for its own types to check: the hooks, the members that are read and what is
// returned. It is compiled (scripts/openclaw-types) and never run; the plugin itself has no types and no build step.

import { definePluginEntry, type OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";

type Text = string | undefined;
const read = (..._: Text[]) => {};
const count = (..._: (number | undefined)[]) => {};
const flag = (..._: (boolean | undefined)[]) => {};
const some = (..._: unknown[]) => {};

function register(api: OpenClawPluginApi) {
	some(api.pluginConfig, api.config?.plugins?.entries?.["verifier"]?.hooks?.timeouts, api.config?.plugins?.entries?.["verifier"]?.hooks?.timeoutMs);
	flag(api.config?.hooks?.enabled, api.config?.plugins?.entries?.["verifier"]?.hooks?.allowConversationAccess, api.config?.agents?.list?.[0]?.default);
	read(api.config?.agents?.list?.[0]?.id, api.config?.tools?.exec?.host, api.config?.agents?.entries?.["main"]?.tools?.exec?.host, api.config?.agents?.list?.[0]?.tools?.exec?.host);
	const now = api.runtime.config.current();
	read(now.tools?.exec?.host, now.agents?.entries?.["main"]?.tools?.exec?.host, now.agents?.list?.[0]?.tools?.exec?.host);
	for (const log of [api.logger.info, api.logger.warn, api.logger.error]) log("");

	api.runtime.system.enqueueSystemEvent("", { sessionKey: "", contextKey: "" });
	api.runtime.system.requestHeartbeat({ source: "manual", intent: "immediate", reason: "wake", sessionKey: "", heartbeat: { target: "last" } });
	read(api.runtime.agent.resolveAgentWorkspaceDir(now as typeof api.config, "main"));
	const session = api.runtime.agent.session.getSessionEntry({ sessionKey: "", agentId: "" });
	read(session?.execHost, session?.execNode);
	const delivery = session?.delivery;
	if (delivery?.kind === "external") {
		const { channel, to, accountId, threadId } = delivery.context;
		read(channel);
		some(api.runtime.channel.outbound.loadAdapter("telegram").then((adapter) => adapter?.sendText?.({ cfg: api.config, to: to ?? "", text: "", accountId, threadId })));
	}

	api.on("before_tool_call", async (event, ctx) => {
		read(event.toolName, event.runId, event.toolCallId, ctx.agentId, ctx.sessionKey, ctx.sessionId, ctx.runId, ctx.toolCallId, ctx.channelId);
		read(ctx.requester?.channel, ctx.requester?.accountId, ctx.requester?.senderId);
		flag(ctx.requester?.senderIsOwner, ctx.abortSignal?.aborted);
		return event.toolName === "" ? { block: true, blockReason: "" } : { params: event.params };
	}, { priority: -Number.MAX_SAFE_INTEGER, timeoutMs: 130_000 });

	api.on("before_dispatch", async (event, ctx) => {
		read(event.content, event.channel, event.senderId, event.sessionKey, ctx.channelId, ctx.accountId, ctx.senderId, ctx.sessionKey, ctx.conversationId);
		flag(event.isGroup);
		return { handled: true, text: "" };
	}, { priority: Number.MAX_SAFE_INTEGER });

	api.on("before_agent_reply", async (_event, ctx) => read(ctx.runId, ctx.jobId), { priority: Number.MAX_SAFE_INTEGER, eligibleTriggers: ["cron"] });

	api.on("before_agent_run", async (event, ctx) => {
		read(event.prompt, event.senderId, ctx.trigger, ctx.messageProvider, ctx.channelId, ctx.inputProvenance?.kind, ctx.inputProvenance?.sourceTool, ctx.inputProvenance?.sourceSessionKey);
		flag(event.senderIsOwner);
		count(event.messages.length);
		some(event.messages.at(-1));
		return { outcome: "block", reason: "", message: "" };
	});

	api.on("before_prompt_build", async (_event, ctx) => {
		read(ctx.sessionKey, ctx.runId);
		return { toolsAllow: [""] };
	});

	api.on("llm_input", async (event, ctx) => {
		read(ctx.sessionKey);
		some(event.tools);
	});

	api.on("model_call_started", async (event) => read(event.runId, event.callId));

	api.on("model_call_ended", async (event) => {
		read(event.runId, event.callId);
		count(event.durationMs);
	});

	api.on("llm_output", async (event, ctx) => {
		read(event.runId, event.model, ctx.runId, ctx.sessionKey);
		count(event.usage?.input, event.usage?.output, event.usage?.cacheRead, event.usage?.cacheWrite, event.usage?.total);
	});

	api.on("cron_changed", async (event) => {
		read(event.action, event.jobId, event.agentId, event.sessionTarget, event.job?.agentId, event.job?.sessionTarget, event.job?.schedule?.kind);
		some(event.job?.payload);
	});

	api.on("gateway_start", async () => {});
	api.on("gateway_stop", async () => {});

	api.on("reply_payload_sending", async (event, ctx) => {
		read(event.kind, event.channel, event.sessionKey, event.runId, ctx.runId, event.payload.text);
		return { payload: { ...event.payload, text: "" } };
	});

	api.on("after_tool_call", async (event, ctx) => {
		read(event.toolName, event.runId, event.toolCallId, event.error, ctx.sessionKey, ctx.sessionId);
		count(event.durationMs);
		some(event.params, event.result);
	});

	api.on("subagent_spawned", async (event, ctx) => {
		read(event.childSessionKey, event.runId, event.agentId, event.mode, ctx.childSessionKey, ctx.requesterSessionKey);
	});

	api.on("session_start", async (event, ctx) => read(event.resumedFrom, ctx.sessionKey, ctx.sessionId));

	api.on("session_end", async (event, ctx) => read(event.sessionKey, event.reason, event.nextSessionId, event.nextSessionKey, ctx.sessionKey));
	api.on("reply_dispatch", async (event) => read(event.sessionKey, event.ctx.CommandBody, event.ctx.RawBody, event.ctx.ChatType, event.ctx.Provider, event.ctx.SenderId, event.ctx.MessageSid));

	api.on("agent_end", async (event, ctx) => {
		read(event.runId, ctx.runId);
		flag(event.success);
		count(event.durationMs);
	});
}

export default definePluginEntry({ id: "verifier", name: "Verifier", description: "", register });
