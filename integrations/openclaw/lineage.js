// Lineage: fingerprints of the things in a text that matter (addresses, links, numbers, paths, ids, runs of words), so that
// the server can tell later where an argument came from without ever seeing the text. docs/spec/lineage.md is the specification;
// package lineage of the server is its other implementation, and docs/spec/lineage-vectors.json holds both to it.

import { createHmac } from "node:crypto";
import { fold } from "./lineage-text.js";
import { scanValues } from "./lineage-values.js";
import { winnowed, wordRuns } from "./lineage-words.js";

export const maxValues = 512;
export const maxRuns = 1024;

export function lineageKey(secret) {
	return createHmac("sha256", secret).update("verifier-lineage-v1").digest();
}

export function fingerprint(key, kind, value) {
	return `${kind}:${createHmac("sha256", key).update(`${kind}\n${value}`).digest("hex").slice(0, 16)}`;
}

// values finds everything in a text but its word runs, in order.
export function values(text) {
	return scanValues(fold(text));
}

// runs returns every run of words in a text.
export function runs(text) {
	return wordRuns(fold(text));
}

// extract returns the fingerprints of a text, each once, and whether there was more than is kept.
export function extract(key, text) {
	const folded = fold(text);
	const found = distinct(key, scanValues(folded), maxValues);
	const kept = distinct(key, winnowed(wordRuns(folded)), maxRuns);
	return { fingerprints: [...found.prints, ...kept.prints], truncated: folded.cut || found.more || kept.more };
}

// distinct fingerprints the first different ones. What repeats costs nothing.
function distinct(key, list, most) {
	const prints = new Map();
	for (const { kind, value } of list) {
		const name = `${kind}\n${value}`;
		if (prints.has(name)) continue;
		if (prints.size === most) return { prints: prints.values(), more: true };
		prints.set(name, fingerprint(key, kind, value));
	}
	return { prints: prints.values(), more: false };
}
