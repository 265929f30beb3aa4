// A stand-in for opencode: loads the plugin, its argument, asks about a call, and prints what runs then.
import { pathToFileURL } from "node:url";

const { Verifier } = await import(pathToFileURL(process.argv[2]).href);
const hooks = await Verifier({ client: { session: { get: async () => ({ data: {} }) }, mcp: { status: async () => ({}) } }, directory: "/" });
const output = { args: { command: "git push --force" } };
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output);
console.log("runs " + JSON.stringify(output.args));
process.exit(0);
