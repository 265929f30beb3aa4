// How lineage reads a text: folding, and classes of characters. All of it is given by number, not by a version of Unicode,
// so that every implementation agrees forever. See docs/spec/lineage.md.

export const maxChars = 65_536;

export function setOf(text) {
	return new Set([...text].map((c) => c.codePointAt(0)));
}

const between = (c, ranges) => ranges.some(([a, b]) => c >= a && c <= b);

const invisible = [[0xad, 0xad], [0x34f, 0x34f], [0x61c, 0x61c], [0x180e, 0x180e], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x2069], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xe0000, 0xe007f]];
const spaces = [[0, 0x20], [0x7f, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000]];
const dashes = [[0x2010, 0x2015], [0x2212, 0x2212]];
const quotes = [[0xab, 0xab], [0xbb, 0xbb], [0x2018, 0x201f], [0x2039, 0x203a], [0x3001, 0x3003], [0x3008, 0x3011], [0xfffd, 0xfffd]];
const separators = setOf(" \"'`<>()[]{}|,;*^");
const symbols = [[0x80, 0xa9], [0xab, 0xb4], [0xb6, 0xb9], [0xbb, 0xbf], [0xd7, 0xd7], [0xf7, 0xf7], [0x2000, 0x206f], [0x20a0, 0x20cf], [0x2190, 0x2bff], [0x2e00, 0x2e7f], [0x3000, 0x3004], [0x3008, 0x3020], [0x3030, 0x3030], [0xfe10, 0xfe1f], [0xfe30, 0xfe6f], [0xff00, 0xff0f], [0xff5f, 0xff65], [0xfff0, 0xffff], [0x1f000, 0x1faff]];
const cjk = [[0xe00, 0xeff], [0x1000, 0x109f], [0x1780, 0x17ff], [0x2e80, 0x2fdf], [0x3005, 0x3007], [0x3040, 0x30ff], [0x3400, 0x4dbf], [0x4e00, 0x9fff], [0xf900, 0xfaff], [0x20000, 0x3ffff]];

export const isDigit = (c) => c >= 0x30 && c <= 0x39;
export const isLetter = (c) => (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a);
export const isSeparator = (c) => separators.has(c) || (c >= 0x80 && between(c, quotes));
export const isCjk = (c) => c >= 0xe00 && between(c, cjk);
export const isWordChar = (c) => isLetter(c) || isDigit(c) || (c >= 0x80 && !between(c, symbols));
export const isName = (c) => c === 0x5f || isWordChar(c);

export function lower(c) {
	if (c >= 0x41 && c <= 0x5a) return c + 32;
	if (c < 0xc0 || c > 0x42f) return c;
	if (c <= 0xde) return c === 0xd7 ? c : c + 32;
	if (c >= 0x391 && c <= 0x3a9) return c === 0x3a2 ? c : c + 32;
	if (c >= 0x410) return c + 32;
	return c >= 0x400 ? c + 80 : c;
}

// Folded is a text in the one form in which it is compared: code points, and the same as strings. Offsets are code points.
class Folded {
	constructor(points, cut) {
		this.chars = Uint32Array.from(points);
		this.cut = cut; // the text was longer
		this.text = asString(this.chars);
		this.low = asString(this.chars.map(lower));
		this.offsets = this.text.length === this.chars.length ? undefined : utf16Offsets(this.chars);
	}

	slice(from, to) {
		return this.offsets ? this.text.slice(this.offsets[from], this.offsets[to]) : this.text.slice(from, to);
	}

	lowered(from, to) {
		return this.offsets ? this.low.slice(this.offsets[from], this.offsets[to]) : this.low.slice(from, to);
	}
}

function asString(chars) {
	let text = "";
	for (let i = 0; i < chars.length; i += 4096) text += String.fromCodePoint(...chars.subarray(i, i + 4096));
	return text;
}

function utf16Offsets(chars) {
	const offsets = new Uint32Array(chars.length + 1);
	for (let i = 0; i < chars.length; i++) offsets[i + 1] = offsets[i] + (chars[i] > 0xffff ? 2 : 1);
	return offsets;
}

// fold reads the first characters of a text.
export function fold(text) {
	const all = [];
	for (const c of text.slice(0, 2 * maxChars + 2).toWellFormed()) all.push(c.codePointAt(0));
	const cut = all.length > maxChars;
	if (cut) all.length = maxChars;
	const out = [];
	for (let i = 0; i < all.length; ) {
		const [c, used] = unescaped(all, i);
		i += used;
		if (c < 0x80 || !between(c, invisible)) out.push(plain(c));
	}
	return new Folded(out, cut);
}

const escapes = new Map([["n", 0x20], ["r", 0x20], ["t", 0x20], ['"', 0x22], ["/", 0x2f], ["\\", 0x2f]].map(([k, v]) => [k.codePointAt(0), v]));

// unescaped reads one character, or an escape of JSON: tools return JSON as text.
function unescaped(all, i) {
	if (all[i] !== 0x5c || i + 1 === all.length) return [all[i], 1];
	const simple = escapes.get(all[i + 1]);
	if (simple !== undefined) return [simple, 2];
	if (all[i + 1] !== 0x75) return [all[i], 1]; // u
	const hex = String.fromCodePoint(...all.slice(i + 2, i + 6));
	if (!/^[0-9a-fA-F]{4}$/.test(hex)) return [all[i], 1];
	const c = parseInt(hex, 16);
	return [c >= 0xd800 && c <= 0xdfff ? 0xfffd : c, 6];
}

function plain(c) {
	if (c === 0x5c) return 0x2f; // a backslash is a slash
	if (c > 0x20 && c < 0x7f) return c;
	if (between(c, spaces)) return 0x20;
	if (c >= 0xff01 && c <= 0xff5e) return c - 0xfee0;
	return between(c, dashes) ? 0x2d : c;
}
