// Values in a text: links, addresses, hosts, paths and ids. See docs/spec/lineage.md. Every scan is bounded, so that no text
// takes longer than its length.

import { isIban, isMoney, scanNumbers } from "./lineage-numbers.js";
import { isDigit, isLetter, isName, isSeparator, setOf } from "./lineage-text.js";

const maxUrl = 2048;
const maxUrlsInChunk = 16;
const maxScheme = 16;
const maxLocal = 64;
const maxDomain = 255;

const order = ["url", "email", "host", "path", "id", "phone", "account", "amount"];

export function scanValues(folded) {
	const { chars } = folded;
	const found = [];
	const taken = new Uint8Array(chars.length);
	const add = (kind, value, from, to) => {
		found.push({ kind, value, from, to });
		taken.fill(1, from, to);
	};
	for (let from = 0; from < chars.length; from++) {
		let to = from;
		while (to < chars.length && !isSeparator(chars[to])) to++;
		if (to > from) scanChunk(folded, from, to, add);
		from = to;
	}
	scanNumbers(chars, taken, found);
	return found.sort((a, b) => a.from - b.from || order.indexOf(a.kind) - order.indexOf(b.kind));
}

function scanChunk(folded, from, to, add) {
	const rest = scanUrls(folded, from, to, add);
	if (!scanEmails(folded, from, rest, add)) scanPieces(folded, from, rest, add);
}

const schemeMarks = setOf("+.-");
const isScheme = (c) => isLetter(c) || isDigit(c) || schemeMarks.has(c);

// scanUrls finds every scheme://… in a chunk, one inside another's query as well, and returns where the first begins.
function scanUrls(folded, from, to, add) {
	const { chars } = folded;
	let first = to;
	let count = 0;
	for (let k = from; k + 2 < to && count < maxUrlsInChunk; k++) {
		if (chars[k] !== 0x3a || chars[k + 1] !== 0x2f || chars[k + 2] !== 0x2f) continue; // ://
		count++;
		let start = k;
		while (start > from && k - start < maxScheme && isScheme(chars[start - 1])) start--;
		while (start < k && !isLetter(chars[start])) start++;
		const url = k - start >= 2 ? readUrl(folded, start, k, Math.min(to, k + maxUrl)) : undefined;
		if (!url) continue;
		add("url", url.value, start, url.end);
		add("host", url.host, start, url.end);
		first = Math.min(first, start);
	}
	return first;
}

const endsSentence = setOf(".:!?");
const endsAuthority = setOf("/?#");
const defaultPorts = new Map([["http", "80"], ["https", "443"]]);

function readUrl(folded, start, colon, end) {
	const { chars } = folded;
	while (end > colon && endsSentence.has(chars[end - 1])) end--;
	const scheme = folded.lowered(start, colon);
	let from = colon + 3;
	let path = from;
	while (path < end && !endsAuthority.has(chars[path])) path++;
	for (let i = from; i < path; i++) if (chars[i] === 0x40) from = i + 1; // after the last @
	const { host, port } = readAuthority(folded.lowered(from, path));
	if (!isHost(host)) return undefined;
	let hash = path;
	while (hash < end && chars[hash] !== 0x23) hash++;
	const rest = folded.slice(path, hash);
	const shown = port === "" || port === defaultPorts.get(scheme) ? "" : `:${port}`;
	return { value: `${scheme}://${host}${shown}${rest.startsWith("/") ? "" : "/"}${rest}`, host, end };
}

function readAuthority(text) {
	const at = text.lastIndexOf(":");
	const port = at < 0 ? "" : text.slice(at + 1);
	const host = at >= 0 && /^\d*$/.test(port) ? text.slice(0, at) : text;
	return { host: host.replace(/\.+$/, ""), port: host === text ? "" : port };
}

function isHost(name) {
	return name !== "" && [...name].every((c) => c === "." || c === "-" || isName(c.codePointAt(0)));
}

const localMarks = setOf("._%+-");
const domainMarks = setOf(".-");
const isLocal = (c) => isLetter(c) || isDigit(c) || localMarks.has(c);
const isDomain = (c) => isLetter(c) || isDigit(c) || domainMarks.has(c);

function scanEmails(folded, from, to, add) {
	const { chars } = folded;
	let any = false;
	for (let at = from; at < to; at++) {
		if (chars[at] !== 0x40) continue;
		let a = at;
		while (a > from && at - a <= maxLocal && isLocal(chars[a - 1])) a--;
		while (a < at && chars[a] === 0x2e) a++;
		let b = at + 1;
		while (b < to && b - at <= maxDomain && isDomain(chars[b])) b++;
		while (b > at + 1 && domainMarks.has(chars[b - 1])) b--;
		const domain = folded.lowered(at + 1, b);
		if (a === at || at - a > maxLocal || !isDotted(domain)) continue;
		add("email", `${folded.lowered(a, at)}@${domain}`, a, b);
		add("host", domain, a, b);
		any = true;
	}
	return any;
}

// isDotted tells a name with dots whose last label is letters: a host, or a file with its ending.
function isDotted(name) {
	const labels = name.split(".");
	return labels.length >= 2 && labels.every(isLabel) && /^[a-z]{2,}$/.test(labels.at(-1));
}

function isLabel(label) {
	const chars = [...label];
	return chars.length > 0 && chars.length <= 63 && chars.every((c) => c === "-" || isName(c.codePointAt(0)));
}

function isIpv4(name) {
	const labels = name.split(".");
	return labels.length === 4 && labels.every((l) => /^\d{1,3}$/.test(l) && Number(l) <= 255);
}

const splits = setOf("=:&?#!$%@");

// scanPieces cuts a chunk once more, but leaves the colon of a drive letter.
function scanPieces(folded, from, to, add) {
	const { chars } = folded;
	let start = from;
	for (let i = from; i <= to; i++) {
		if (i < to && (!splits.has(chars[i]) || isDrive(chars, start, i, to))) continue;
		if (i > start) scanPiece(folded, start, i, add);
		start = i + 1;
	}
}

function isDrive(chars, start, i, to) {
	return chars[i] === 0x3a && i === start + 1 && isLetter(chars[start]) && i + 1 < to && chars[i + 1] === 0x2f;
}

const edges = setOf("._~+-/");

function scanPiece(folded, from, to, add) {
	const { chars } = folded;
	const path = readPath(folded, from, to);
	if (path) return add("path", path.value, from, path.end);
	while (from < to && edges.has(chars[from])) from++;
	while (to > from && edges.has(chars[to - 1])) to--;
	const name = folded.lowered(from, to);
	if (isDotted(name) || isIpv4(name)) return add("host", name, from, to);
	if (isIban(name)) return add("account", name.toUpperCase(), from, to);
	if (isId(name)) add("id", name, from, to);
}

// readPath takes what has a slash and a letter, and starts like a path or has two segments.
function readPath(folded, from, to) {
	const { chars } = folded;
	if (to - from > 1 && chars[to - 1] === 0x2e && chars[to - 2] !== 0x2e) to--; // the end of a sentence, not ..
	const text = folded.slice(from, to);
	if (!text.includes("/") || !chars.subarray(from, to).some((c) => isLetter(c) || c >= 0x80)) return undefined;
	const segments = text.split("/").filter((s) => s !== "" && s !== ".");
	const rooted = /^[/~.]/.test(text) || /^[A-Za-z]:\//.test(text);
	if (segments.length < (rooted ? 1 : 2)) return undefined;
	return { value: (text.startsWith("/") ? "/" : "") + segments.join("/"), end: to };
}

function isId(name) {
	return /^[a-z0-9_.~+-]{6,128}$/.test(name) && /\d/.test(name) && /[a-z]/.test(name) && !isMoney(name);
}
