// Small helps for putting things into the protocol's form.

import { createHash } from "node:crypto";

const maxId = 512; // bytes of an identifier, by the protocol

// defined leaves out members without a value: what is not known is not said.
export function defined(object) {
	return Object.fromEntries(Object.entries(object).filter(([, v]) => v !== undefined && v !== null && v !== ""));
}

// fitted shortens an id that a model's provider has made longer than the protocol allows.
export function fitted(id) {
	if (typeof id !== "string" || Buffer.byteLength(id) <= maxId) return id;
	return `sha256:${createHash("sha256").update(id).digest("hex")}`;
}
