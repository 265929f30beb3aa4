import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { extract, fingerprint, lineageKey, maxRuns, maxValues, runs, values } from "../lineage.js";

const vectors = JSON.parse(readFileSync(new URL("../../../docs/spec/lineage-vectors.json", import.meta.url)));
const key = lineageKey(vectors.secret);

test("the key is derived from the secret", () => assert.equal(key.toString("hex"), vectors.key));

for (const v of vectors.texts) {
	test(`lineage: ${v.name}`, () => {
		assert.deepEqual(values(v.text).map((i) => [i.kind, i.value]), v.values);
		assert.deepEqual(runs(v.text).slice(0, 4).map((i) => i.value), v.runs);
		assert.deepEqual(extract(key, v.text), { fingerprints: v.fingerprints, truncated: v.truncated });
	});
}

for (const v of vectors.repeated) {
	test(`lineage: ${v.name}`, () => {
		assert.deepEqual(extract(key, v.text.repeat(v.times)), { fingerprints: v.fingerprints, truncated: v.truncated });
	});
}

test("a fingerprint tells nothing to whoever lacks the key", () => {
	assert.notEqual(fingerprint(key, "email", "a@example.com"), fingerprint(lineageKey("another"), "email", "a@example.com"));
	assert.match(fingerprint(key, "email", "a@example.com"), /^email:[0-9a-f]{16}$/);
});

test("no text takes long or gives much", () => {
	const hostile = ["://", "a@a.bc", "12 ", "1", "+1", "/a", "a.", "\\u0041", "https://a/", "請", "\0", "1,", "USD ", "DE89 ", "((", "😀", "\ud800", "a=:/"];
	for (const scrap of hostile) {
		const { fingerprints } = extract(key, scrap.repeat(200_000));
		assert.ok(fingerprints.length <= maxValues + maxRuns);
	}
});
