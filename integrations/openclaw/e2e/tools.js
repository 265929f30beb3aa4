// Lists the tools that OpenClaw offers and what their arguments are called, as JSON: names and types, from OpenClaw's own schemas.
// policy/testdata/openclaw-tools.json is what it printed for the version in scripts/e2e-openclaw, which runs it again and compares.
// Usage, with OpenClaw's Node.js: node tools.js DIRECTORY, where the directory is the one that OpenClaw is installed in.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const directory = process.argv[2];
const home = mkdtempSync(join(tmpdir(), "openclaw-tools-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
Object.assign(process.env, {
	HOME: home, OPENCLAW_STATE_DIR: home, OPENCLAW_CONFIG_PATH: join(home, "openclaw.json"),
	// Tools that need a service are offered to those who have a key for it. Nothing is called.
	OPENAI_API_KEY: "none", XAI_API_KEY: "none", GEMINI_API_KEY: "none",
});

const require = createRequire(pathToFileURL(join(directory, "package.json")));
const { createOpenClawCodingTools } = await import(pathToFileURL(require.resolve("openclaw/plugin-sdk/agent-harness")));
const { version } = JSON.parse(readFileSync(join(directory, "node_modules/openclaw/package.json"), "utf8"));

const offered = await createOpenClawCodingTools({
	config: {
		agents: {
			defaults: {
				workspace: home, imageModel: "openai/gpt-5", pdfModel: "openai/gpt-5", imageGenerationModel: "openai/gpt-image-1",
				videoGenerationModel: "openai/sora-2", musicGenerationModel: "google/lyria",
			},
		},
		channels: { telegram: { enabled: true, botToken: "1:none" } },
		transcripts: { enabled: true },
		plugins: { entries: { xai: { enabled: true, config: { codeExecution: { enabled: true }, xSearch: { enabled: true } } } } },
	},
	workspaceDir: home, agentDir: home, cwd: home, sessionKey: "agent:main:main", senderIsOwner: true, messageProvider: "telegram",
	modelProvider: "openai", modelId: "gpt-5", modelHasVision: true, enableHeartbeatTool: true, includeToolSearchControls: true,
	toolSearchCatalogRef: {}, clientCaps: ["inline-widgets", "ui-commands"], githubPublicationAvailable: true, taskSuggestionDeliveryMode: "gateway",
});

// named adds what stands in a schema to the arguments, each under its path: "edits[].newText".
function named(schema, path, into) {
	if (typeof schema !== "object" || schema === null) return;
	for (const part of [schema.anyOf, schema.oneOf, schema.allOf].flat()) named(part, path, into);
	for (const [name, member] of Object.entries(schema.properties ?? {})) named(member, path ? `${path}.${name}` : name, into);
	if (schema.items) named(schema.items, `${path}[]`, into);
	if (typeof schema.additionalProperties === "object") named(schema.additionalProperties, `${path}.*`, into);
	const types = [schema.type ?? (schema.enum || schema.const !== undefined ? typeof (schema.enum?.[0] ?? schema.const) : [])].flat();
	const inside = schema.properties || schema.items;
	if (path && types.length > 0 && !inside) into[path] = [...new Set([...(into[path]?.split(" ") ?? []), ...types])].sort().join(" ");
	const values = [schema.enum ?? schema.const ?? []].flat();
	if (path === "action" && values.length > 0) into["action="] = [...new Set([...(into["action="]?.split(" ") ?? []), ...values])].sort().join(" ");
}

const sorted = (all) => Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
const tools = {};
for (const tool of offered) {
	const args = {};
	named(tool.parameters, "", args);
	tools[tool.name] = sorted(args);
}
const lines = Object.entries(sorted(tools)).map(([name, args]) => `\t\t${JSON.stringify(name)}: ${JSON.stringify(args)}`);
process.stdout.write(`{\n\t"openclaw": ${JSON.stringify(version)},\n\t"tools": {\n${lines.join(",\n")}\n\t}\n}\n`, () => process.exit(0));
