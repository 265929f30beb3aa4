import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sign, signAnswer } from "../wire.js";

const vectors = JSON.parse(readFileSync(new URL("../../../docs/spec/vectors.json", import.meta.url)));

for (const v of vectors.requests) {
	test(`request: ${v.name}`, () => {
		const got = sign(vectors.secret, v.body);
		if (v.signature) assert.equal(got, v.signature);
		if (v.wrongSignature) assert.notEqual(got, v.wrongSignature);
	});
}

for (const v of vectors.answers) {
	test(`answer: ${v.body}`, () => assert.equal(signAnswer(vectors.secret, v.requestId, v.body), v.signature));
}
