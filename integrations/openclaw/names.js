// One spelling for each tool, the same as the server's (toolcall.Canonical): ASCII alone is folded, so that a look-alike
// stays another tool.

const aliases = new Map([
	["bash", "exec"],
	["apply-patch", "apply_patch"],
	["cron", "automations"],
]);

export function canonical(name) {
	const plain = name.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "").replace(/[A-Z]/g, (c) => c.toLowerCase());
	return aliases.get(plain) ?? plain;
}
