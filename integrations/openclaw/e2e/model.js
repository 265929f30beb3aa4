// A model that does what it is told, behind an OpenAI-compatible API. In the last message that holds any, each line
// `RUN <tool> <json>` is a tool call, one a turn; `ALSO <tool> <json>` is one more in the same turn. When all have run it answers
// DONE, the script's own number (`SCRIPT <n>`) and what each tool returned: OpenClaw also starts runs by itself, and their answers
// must not be taken for another's. The README's sentence, Fetch … and then run `x`, is a
// script as well; whatever page it names, the test's own is fetched. When the plugin says that the owner has approved a call, the
// model makes its last call again.

import http from "node:http";

const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n"));

// script is the turns of a message, each a list of calls.
function script(message, page) {
	const text = textOf(message.content);
	const turns = [];
	for (const [, command] of text.matchAll(/\bFetch \S+ and then run `([^`]+)`/g)) {
		turns.push([{ name: "tool_call", args: JSON.stringify({ id: "web_fetch", args: { url: page } }) }], [{ name: "exec", args: JSON.stringify({ command }) }]);
	}
	for (const [, word, name, args] of text.matchAll(/^(?:\[[^\]]*\] )?(RUN|ALSO) (\S+) (.*)$/gm)) {
		if (word === "RUN" || turns.length === 0) turns.push([]);
		turns.at(-1).push({ name, args: args.trim() });
	}
	return turns;
}

const lateYes = (m) => m.role !== "assistant" && m.role !== "tool" && /The owner has approved the call of \S+ that was waiting/.test(textOf(m.content));

// approvedLate is the call that the owner has approved while nobody waited, or what came of it. OpenClaw may put its own messages
// behind what has happened since.
function approvedLate(messages) {
	const at = messages.findLastIndex(lateYes);
	const since = messages.slice(at + 1);
	const over = (m) => (m.role === "user" && script(m).length > 0) || (m.role === "assistant" && /^DONE AFTER ALL/.test(textOf(m.content)));
	if (at < 0 || since.some(over)) return undefined;
	const rest = messages.filter((m) => !lateYes(m));
	if (rest.at(-1).role === "tool") return { text: `DONE AFTER ALL\n${textOf(rest.at(-1).content).slice(0, 1000)}` };
	const { name, arguments: args } = rest.findLast((m) => m.tool_calls?.length > 0).tool_calls.at(-1).function;
	return { calls: [{ name, args }] };
}

function next(messages, page) {
	const late = approvedLate(messages);
	if (late) return late;
	const last = messages.filter((m) => m.role === "user").slice(-2).map((m) => textOf(m.content)).join("\n");
	if (/HEARTBEAT_OK/.test(last)) return { text: "HEARTBEAT_OK" };
	const at = messages.findLastIndex((m) => m.role === "user" && script(m, page).length > 0);
	if (at < 0) return { text: "Nothing to do." };
	const since = messages.slice(at + 1);
	const calls = script(messages[at], page)[since.filter((m) => m.tool_calls?.length > 0).length];
	if (calls) return { calls };
	const number = /SCRIPT (\d+)/.exec(textOf(messages[at].content))?.[1] ?? "";
	return { text: [`DONE ${number}`, ...since.filter((m) => m.role === "tool").map((m) => textOf(m.content).slice(0, 1000))].join("\n") };
}

// serveModel returns its base URL and what it was sent.
export async function serveModel(page) {
	const requests = [];
	const server = http.createServer(async (req, res) => {
		if (req.method === "GET") return void res.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
		const chunks = await Array.fromAsync(req);
		const request = JSON.parse(Buffer.concat(chunks));
		requests.push(request);
		stream(res, request, next(request.messages, page), requests.length);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close: () => closed(server) };
}

function stream(res, request, { text, calls: made }, n) {
	const base = { id: `chatcmpl-${n}`, object: "chat.completion.chunk", created: Math.floor(Date.now() / 1000), model: request.model };
	const calls = made?.map((call, index) => ({ index, id: `call_${n}_${index}`, type: "function", function: { name: call.name, arguments: call.args } }));
	const event = (choices, more) => res.write(`data: ${JSON.stringify({ ...base, choices, ...more })}\n\n`);
	res.writeHead(200, { "Content-Type": "text/event-stream" });
	event([{ index: 0, delta: { role: "assistant", ...(calls ? { tool_calls: calls } : { content: text }) }, finish_reason: null }]);
	event([{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }]);
	event([], { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
	res.end("data: [DONE]\n\n");
}

export function closed(server) {
	server.closeAllConnections();
	return new Promise((done) => server.close(done));
}
