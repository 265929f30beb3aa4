// Lineage: fingerprints of the tokens of a text (addresses, links, paths, ids, long numbers), so that the gateway can
// tell later where an argument came from without ever seeing the text. docs/spec/lineage.md is the specification;
// internal/lineage is its other implementation, and docs/spec/lineage-vectors.json holds both to it.

import { createHash, createHmac } from "node:crypto";

const maxChars = 65_536; // code points that are looked at
const maxTokens = 512; // fingerprints that are kept
const printSize = 8; // bytes

// All of it is given by number, not by a version of Unicode, so that every implementation agrees forever.
const escapes = /\\(?:u([0-9a-fA-F]{4})|([nrt"\/\\]))/g;
const invisible =
	/[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\u{e0000}-\u{e007f}]/gu;

export function lineageKey(secret) {
	return createHmac("sha256", secret).update("verifier-lineage-v1").digest();
}

// tokens returns the tokens of a text, in order.
export function tokens(text) {
	const folded = [...text.slice(0, 2 * maxChars)].slice(0, maxChars).join("")
		.replace(escapes, unescaped)
		.replace(invisible, "")
		.replace(/[\uff01-\uff5e]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0))
		.replace(/[\u2010-\u2015\u2212]/g, "-")
		.replaceAll("\\", "/");
	return (folded.match(/[A-Za-z0-9@._\/~+-]+/g) ?? [])
		.map((chunk) => chunk.replace(/^[@._\/~+-]+|(?<![@._\/~+-])[@._\/~+-]+$/g, "").toLowerCase())
		.filter((chunk) => chunk.length >= 6 && /[0-9@.\/_-]/.test(chunk));
}

function unescaped(_, hex, sign) {
	if (hex === undefined) return "nrt".includes(sign) ? " " : sign;
	const c = parseInt(hex, 16);
	return c >= 0xd800 && c <= 0xdfff ? "\ufffd" : String.fromCharCode(c);
}

// extract returns the fingerprints of the first different tokens of a text, in base64.
export function extract(key, text) {
	const print = (token) => createHash("sha256").update(key).update(token).digest().subarray(0, printSize);
	return Buffer.concat([...new Set(tokens(text))].slice(0, maxTokens).map(print)).toString("base64");
}
