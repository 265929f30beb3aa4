import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { extract, lineageKey, tokens } from "../lineage.js";

const vectors = JSON.parse(readFileSync(new URL("../../../docs/spec/lineage-vectors.json", import.meta.url)));
const key = lineageKey(vectors.secret);

test("the key is derived from the secret", () => assert.equal(key.toString("hex"), vectors.key));

for (const v of vectors.texts) {
	test(`lineage: ${v.name}`, () => {
		const text = (v.repeat ?? "").repeat(v.times ?? 0) + v.text;
		assert.deepEqual(tokens(text), v.tokens);
		assert.equal(extract(key, text), v.fingerprints);
	});
}

test("no text takes long or gives much", () => {
	for (const scrap of ["://", "a@a.bc", "/", "/a", "\\u0041", "https://a/", "請", "\0", "((", "😀", "\ud800", "a=:/", "a-"]) {
		assert.ok(Buffer.from(extract(key, scrap.repeat(200_000)), "base64").length <= 4096);
	}
});
