// Numbers in a text: phone numbers, account numbers and amounts, in one form whatever their spelling. See docs/spec/lineage.md.

import { isDigit, isLetter, isName, setOf } from "./lineage-text.js";

const currencies = new Set(
	"AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR JPY KES KRW MXN MYR NGN NOK NZD PEN PHP PLN RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR BTC ETH USDC USDT".split(" "),
);
const signs = setOf("$€£¥₹₽₩₿");
const maxIban = 34;
const maxPhone = 15;
const maxGrouped = 19;

// scanNumbers adds what it finds outside of what is taken already.
export function scanNumbers(chars, taken, found) {
	const add = (kind, value, from, to) => found.push({ kind, value, from, to });
	const at = (i) => (i >= 0 && i < chars.length && !taken[i] ? chars[i] : 0); // what is taken is not there
	for (let i = 0; i < chars.length; ) {
		const inside = i > 0 && (taken[i - 1] || isName(chars[i - 1])) && !currencyBefore(at, i);
		const end = taken[i] || inside ? undefined : (readIban(at, i, add) ?? readPhone(at, i, add) ?? readGroups(at, i, add) ?? readNumber(at, i, add));
		i = end ?? i + 1;
	}
}

const isAlnum = (c) => isLetter(c) || isDigit(c);

// readIban reads an account number written in groups of four. What follows it may look like one more group, so the longest
// one with the right check digits counts.
function readIban(at, i, add) {
	if (!isLetter(at(i))) return undefined;
	let compact = "";
	let best;
	for (let j = i; compact.length < maxIban && isAlnum(at(j)); j++) {
		const from = j;
		while (j < from + 4 && isAlnum(at(j))) compact += String.fromCodePoint(at(j++)).toLowerCase();
		if (isName(at(j))) break; // a longer word
		if (isIban(compact)) best = { end: j, value: compact.toUpperCase() };
		if (j < from + 4 || at(j) !== 0x20) break;
	}
	if (best) add("account", best.value, i, best.end);
	return best?.end;
}

export function isIban(name) {
	if (!/^[a-z]{2}\d{2}[a-z0-9]{11,30}$/.test(name)) return false;
	let rest = 0;
	for (const c of name.slice(4) + name.slice(0, 4)) {
		const n = parseInt(c, 36);
		rest = (rest * (n > 9 ? 100 : 10) + n) % 97;
	}
	return rest === 1;
}

const phoneMarks = setOf(" -./()");

// readPhone reads + and 8 to 15 digits, with at most two marks between two of them.
function readPhone(at, i, add) {
	if (at(i) !== 0x2b) return undefined;
	let digits = "";
	let end = i + 1;
	for (let j = i + 1; j - end <= 2 && digits.length <= maxPhone; j++) {
		if (isDigit(at(j))) {
			digits += String.fromCodePoint(at(j));
			end = j + 1;
		} else if (!phoneMarks.has(at(j))) break;
	}
	if (digits.length < 8 || digits.length > maxPhone || isName(at(end))) return undefined;
	add("phone", `+${digits}`, i, end);
	return end;
}

const groupMarks = setOf(" -");

// readGroups reads 8 to 19 digits in two or more groups of two to eight, with the same mark between them: a space or a dash.
function readGroups(at, i, add) {
	let { digits, end } = readGroup(at, i);
	const mark = at(end);
	if (digits === "" || !groupMarks.has(mark)) return undefined;
	let groups = 1;
	for (let more; at(end) === mark; { end } = more) {
		more = readGroup(at, end + 1);
		if (more.digits === "" || digits.length + more.digits.length > maxGrouped) break;
		digits += more.digits;
		groups++;
	}
	if (groups < 2 || digits.length < 8 || isName(at(end)) || continues(at, end)) return undefined;
	add("account", digits, i, end);
	return end;
}

function readGroup(at, i) {
	let end = i;
	while (isDigit(at(end)) && end - i <= 8) end++;
	if (end - i < 2 || end - i > 8) return { digits: "", end: i };
	let digits = "";
	for (let j = i; j < end; j++) digits += String.fromCodePoint(at(j));
	return { digits, end };
}

const decimalMarks = setOf(".,'");
const continues = (at, i) => decimalMarks.has(at(i)) && isDigit(at(i + 1));

function readNumber(at, i, add) {
	if (!isDigit(at(i))) return undefined;
	let spelled = "";
	let end = i;
	while (isDigit(at(end)) || continues(at, end)) spelled += String.fromCodePoint(at(end++));
	const money = currencyBefore(at, i) || currencyAfter(at, end);
	if (isName(at(end)) && !money) return end;
	if (/^\d{6,34}$/.test(spelled)) add("account", spelled, i, end);
	const amount = readAmount(spelled);
	if (amount && (money || /[.,]\d{1,2}$/.test(spelled) || amount.includes(".") || /^\d{3,12}$/.test(amount))) add("amount", amount, i, end);
	return end;
}

// readAmount brings a number into one form: no grouping, a point, no zeros at the end of the fraction.
export function readAmount(spelled) {
	const mark = Math.max(spelled.lastIndexOf("."), spelled.lastIndexOf(","), spelled.lastIndexOf("'"));
	const after = spelled.length - mark - 1;
	const only = !/[.,']/.test(spelled.slice(0, Math.max(mark, 0)));
	const decimal = mark > 0 && spelled[mark] !== "'" && (after <= 2 || (after > 3 && only && spelled[mark] === "."));
	const whole = decimal ? spelled.slice(0, mark) : spelled;
	if (!/^(0|[1-9]\d*|[1-9]\d{0,2}([.,']\d{3})+)$/.test(whole)) return undefined;
	const fraction = decimal ? spelled.slice(mark + 1).replace(/0+$/, "") : "";
	return whole.replace(/[.,']/g, "") + (fraction && `.${fraction}`);
}

// isMoney tells 100eur and usd100, which are amounts and no ids.
export function isMoney(name) {
	const [, before, after] = /^([a-z]*)[\d.]+([a-z]*)$/.exec(name) ?? [];
	return before !== undefined && currencies.has((before + after).toUpperCase());
}

function currencyBefore(at, i) {
	const j = at(i - 1) === 0x20 ? i - 1 : i;
	return signs.has(at(j - 1)) || isCode(at, j - 3, j) || isCode(at, j - 4, j);
}

function currencyAfter(at, i) {
	const j = at(i) === 0x20 ? i + 1 : i;
	return signs.has(at(j)) || isCode(at, j, j + 3) || isCode(at, j, j + 4);
}

const touches = (c) => isName(c) && !isDigit(c);

// isCode tells a currency's code that no other letter touches.
function isCode(at, from, to) {
	let code = "";
	for (let i = from; i < to; i++) {
		if (!isLetter(at(i))) return false;
		code += String.fromCodePoint(at(i));
	}
	return currencies.has(code.toUpperCase()) && !touches(at(from - 1)) && !touches(at(to));
}
