// A stand-in for opencode: loads both plugins, and asks about calls as it does. Its arguments are the two plugins; it prints a line for each thing that is seen.
import { pathToFileURL } from "node:url";

const [plugin, terminal] = process.argv.slice(2).map((p) => pathToFileURL(p).href);
const load = async (url) => await import(url);
const titles = [];
let answer; // to the dialog that is shown
let dispose;
const wake = [];
const api = {
	ui: {
		DialogSelect: (d) => d,
		dialog: {
			clear: () => {},
			replace: (make) => {
				const d = make();
				titles.push(d);
				answer = d.onSelect;
				wake.splice(0).forEach((w) => w());
			},
		},
	},
	lifecycle: { onDispose: (f) => (dispose = f) },
};
const shown = () => new Promise((resolve) => wake.push(resolve));

const { Verifier } = await load(plugin);
await (await load(terminal)).default.tui(api);
await new Promise((resolve) => setTimeout(resolve, 0));
const hooks = await Verifier({ client: { session: { get: async () => ({ data: {} }) }, mcp: { status: async () => ({}) } }, directory: "/" });
const call = (command) => hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command } }).then(() => "ran", (err) => err.message);

for (const hidden of [" ", "  ", "\u3164", "\uffa0", "\u115f", "\u2800", "\u034f", "\ufe0f", "\u{e0100}", "\u200b", "\u00a0", "é日"]) {
	const appears = shown();
	const ends = call("a" + hidden + "b");
	await appears;
	const d = titles.at(-1);
	console.log([...hidden].map((c) => c.codePointAt(0).toString(16)).join(" ") + ": " + d.title + " " + d.options.map((o) => o.value));
	answer({ value: "deny" });
	console.log(await ends);
}
const appears = shown();
const ends = call("a" + "\u2800".repeat(100) + "; rm -rf x");
await appears;
console.log("long: " + titles.at(-1).options.map((o) => o.value));
dispose();
console.log(await ends);
process.exit(0);
