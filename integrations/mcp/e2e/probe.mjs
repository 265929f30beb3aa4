// Drives a server of tools, or the gate before one, with the official TypeScript client, and prints what came of it.
// node probe.mjs everything|files|held COMMAND ARGS…|URL     env SDK: the node_modules that has @modelcontextprotocol/sdk
import { setTimeout as sleep } from "node:timers/promises";

const sdk = `${process.env.SDK}/@modelcontextprotocol/sdk/dist/esm/`;
const { Client } = await import(`${sdk}client/index.js`);
const { StdioClientTransport } = await import(`${sdk}client/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}client/streamableHttp.js`);
const types = await import(`${sdk}types.js`);
const [what, command, ...args] = process.argv.slice(2);

const seen = {};
const count = (name) => (seen[name] = (seen[name] ?? 0) + 1);
const client = new Client({ name: "probe", version: "1" }, { capabilities: { sampling: {}, roots: { listChanged: true }, elicitation: { form: {} } } });
client.setRequestHandler(types.CreateMessageRequestSchema, async () => {
	count("sampling");
	return { model: "fake", role: "assistant", content: { type: "text", text: "sampled" } };
});
client.setRequestHandler(types.ListRootsRequestSchema, async () => {
	seen.roots = 1; // how often depends on the server
	return { roots: [{ uri: `file://${process.env.ROOT}`, name: "root" }] };
});
client.setRequestHandler(types.ElicitRequestSchema, async () => {
	count("elicitation");
	return { action: "decline" };
});
client.fallbackNotificationHandler = async (n) => {
	if (n.method === "notifications/message") seen[n.method] = 1; // how often depends on when the server asks for roots
};
const transport = /^https?:/.test(command)
	? new StreamableHTTPClientTransport(new URL(command), { requestInit: { headers: { Authorization: "Bearer probe" } } })
	: new StdioClientTransport({ command, args, stderr: "ignore", env: process.env });
await client.connect(transport);

// call is the first text that a tool returns, or why it did not.
async function call(name, args, options) {
	try {
		const r = await client.callTool({ name, arguments: args }, undefined, options);
		return (r.isError ? "ERROR " : "") + (r.content?.[0]?.text ?? JSON.stringify(r.content));
	} catch (e) {
		return `THROWN ${e.message}`;
	}
}

const out = {};
if (what === "everything") {
	out.tools = (await client.listTools()).tools;
	out.echo = await call("echo", { message: "héllo \u2028 \\ \"" });
	out.sum = await call("get-sum", { a: 2, b: 3 });
	out.wrong = await call("get-sum", { a: "x" });
	out.image = await call("get-tiny-image", {});
	out.sampling = await call("trigger-sampling-request", { prompt: "x", maxTokens: 5 });
	out.elicitation = await call("trigger-elicitation-request", {});
	out.roots = await call("get-roots-list", {});
	out.progress = false; // how often depends on the time that the last one takes
	out.long = await call("trigger-long-running-operation", { duration: 1, steps: 3 }, { onprogress: (p) => (out.progress ||= p.progress >= 1) });
	const stop = new AbortController();
	const cancelled = call("trigger-long-running-operation", { duration: 5, steps: 5 }, { signal: stop.signal });
	await sleep(300);
	stop.abort("no longer");
	out.cancelled = await cancelled;
	out.after = await call("echo", { message: "still there" });
	out.resources = (await client.listResources()).resources.length;
	out.templates = (await client.listResourceTemplates()).resourceTemplates.length;
	const prompts = (await client.listPrompts()).prompts;
	out.prompts = prompts.map((p) => p.name);
	out.prompt = await client.getPrompt({ name: prompts[0].name });
	out.resource = (await client.readResource({ uri: (await client.listResources()).resources[0].uri })).contents[0].mimeType;
	await client.setLoggingLevel("debug");
	out.pong = await client.ping();
	out.seen = Object.fromEntries(Object.entries(seen).sort());
} else if (what === "held") {
	out.yes = await call("echo", { message: "yes" }, { timeout: 60000, resetTimeoutOnProgress: true, onprogress: () => {} });
	out.no = await call("echo", { message: "no" }, { timeout: 60000 });
	const stop = new AbortController();
	const dropped = call("echo", { message: "dropped" }, { signal: stop.signal });
	await sleep(1500);
	stop.abort("no longer");
	out.dropped = await dropped;
	process.kill(Number(process.env.GATEWAY), "SIGKILL");
	out.down = await call("echo", { message: "down" });
	out.pong = await client.ping();
} else {
	const file = `${process.env.ROOT}/made.txt`;
	out.read = await call("read_text_file", { path: `${process.env.ROOT}/page.txt` });
	out.write = await call("write_file", { path: file, content: "made" }, { timeout: 60000, resetTimeoutOnProgress: true, onprogress: () => (out.awake = true) });
	out.refused = await call("write_file", { path: `${process.env.ROOT}/never.txt`, content: "x" }, { timeout: 60000, resetTimeoutOnProgress: true, onprogress: () => {} });
}
console.log(JSON.stringify(out, null, 1));
await client.close();
process.exit(0);
