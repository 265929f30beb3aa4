// Small helps for putting things into the protocol's form.

import { createHash } from "node:crypto";

const maxId = 512; // bytes of an identifier, by the protocol

// defined leaves out members without a value: what is not known is not said.
export function defined(object) {
	return Object.fromEntries(Object.entries(object).filter(([, v]) => v !== undefined && v !== null && v !== ""));
}

// fitted replaces an id that a model's provider has made longer than the protocol allows, or of what it does not allow.
export function fitted(id) {
	if (typeof id !== "string" || (Buffer.byteLength(id) <= maxId && isPlain(id))) return id;
	return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}

// isPlain reports whether a text has no control characters and no half characters: the server refuses both in names.
export function isPlain(text) {
	return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

// cut shortens a text, without half a character in it: the server takes nothing that has one.
export function cut(text, most) {
	return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "").toWellFormed();
}
