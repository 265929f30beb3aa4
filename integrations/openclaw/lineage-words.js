// Word runs: what tells that a sentence was copied. See docs/spec/lineage.md.

import { isCjk, isWordChar } from "./lineage-text.js";

const mostDense = 256; // runs of a text of which all are kept
const window = 8; // runs of a longer text of which at least one is kept
const leastWords = 4;
const leastLength = 20;

// wordRuns returns, from each word on, the shortest run that is long enough to be distinctive.
export function wordRuns(folded) {
	const words = cutWords(folded.chars);
	const texts = words.map((w) => folded.lowered(w.from, w.to));
	const runs = [];
	for (let i = 0; i < words.length; i++) {
		const end = runEnd(words, i);
		if (end === undefined) break;
		runs.push({ kind: "words", value: texts.slice(i, end).join(" "), from: words[i].from, to: words[end - 1].to });
	}
	return runs;
}

function runEnd(words, i) {
	let length = -1;
	for (let j = i; j < words.length; j++) {
		length += 1 + words[j].to - words[j].from;
		if (j - i + 1 >= leastWords && length >= leastLength) return j + 1;
	}
	return undefined;
}

function cutWords(chars) {
	const words = [];
	for (let from = 0; from < chars.length; ) {
		let to = from + 1;
		if (isWordChar(chars[from])) {
			while (!isCjk(chars[from]) && to < chars.length && isWordChar(chars[to]) && !isCjk(chars[to])) to++;
			words.push({ from, to });
		}
		from = to;
	}
	return words;
}

// winnowed keeps all runs of a short text. Of a longer one it keeps the run with the smallest hash in every window, the last
// of equals: so of a passage as long as a window at least one run is kept, wherever the passage is copied to.
export function winnowed(runs) {
	if (runs.length <= mostDense) return runs;
	const hashes = runs.map((r) => fnv1a(r.value));
	const kept = [];
	let last = -1;
	for (let end = window; end <= runs.length; end++) {
		let least = end - window;
		for (let i = least + 1; i < end; i++) if (hashes[i] <= hashes[least]) least = i;
		if (least !== last) kept.push(runs[least]);
		last = least;
	}
	return kept;
}

// fnv1a is the 32-bit FNV-1a hash of the UTF-8 bytes. It only chooses; what is kept is fingerprinted under the key.
function fnv1a(text) {
	let h = 0x811c9dc5;
	const bytes = Buffer.from(text);
	for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i], 0x01000193);
	return h >>> 0;
}
