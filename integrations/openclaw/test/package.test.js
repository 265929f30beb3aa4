// What is published: everything that the plugin loads, and nothing else.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const root = new URL("..", import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test("npm packs the plugin without its tests", (t) => {
	const cache = mkdtempSync(join(tmpdir(), "verifier-npm-"));
	t.after(() => rmSync(cache, { recursive: true, force: true }));
	const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--offline", "--cache", cache], { cwd: root, encoding: "utf8" }));
	const sources = readdirSync(root).filter((name) => name.endsWith(".js"));
	assert.deepEqual(packed.files.map((f) => f.path).sort(), [...sources, "README.md", "openclaw.plugin.json", "package.json"].sort());
});

test("it depends on nothing", () => {
	for (const kind of ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"]) assert.equal(manifest[kind], undefined);
	for (const name of readdirSync(root).filter((n) => n.endsWith(".js"))) {
		const imports = [...readFileSync(join(root, name), "utf8").matchAll(/^import .* from "([^"]+)"/gm)].map(([, from]) => from);
		assert.ok(imports.every((from) => from.startsWith("./") || from.startsWith("node:")), `${name}: ${imports}`);
	}
});

test("both manifests say the same version", () => {
	assert.equal(JSON.parse(readFileSync(join(root, "openclaw.plugin.json"), "utf8")).version, manifest.version);
	assert.equal(manifest.private, undefined);
});
