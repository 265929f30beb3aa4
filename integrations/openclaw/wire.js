// The wire: one signed POST, one signed answer, as docs/spec/protocol.md says. It believes nothing that is not signed under the
// secret for this very request, reads a bounded answer within a bounded time, follows no redirect and uses no proxy.

import { createHmac, timingSafeEqual } from "node:crypto";
import http from "node:http";
import https from "node:https";

export const maxBody = 1 << 20; // what the server reads of a call
export const maxAnswer = 64 << 10;

// WireError says why there is no answer. kind is one of: unreachable, status, timeout, malformed, unsigned, aborted,
// refused.
export class WireError extends Error {
	constructor(kind, message, cause) {
		super(message, { cause });
		this.kind = kind;
	}
}

export function sign(secret, body) {
	return createHmac("sha256", secret).update(body).digest("hex");
}

export function signAnswer(secret, requestId, body) {
	return createHmac("sha256", secret).update(`verifier-answer-v1\n${requestId}\n`).update(body).digest("hex");
}

function matches(secret, requestId, body, header) {
	if (typeof header !== "string" || !/^[0-9a-fA-F]{64}$/.test(header)) return false;
	return timingSafeEqual(Buffer.from(header, "hex"), Buffer.from(signAnswer(secret, requestId, body), "hex"));
}

// createWire returns post(path, message, {timeoutMs, signal}): path is relative to the address of /verify, message is the
// body with its requestId, and the result is the signed answer, parsed.
export function createWire({ url, secret, headers }) {
	return async function post(path, message, { timeoutMs, signal }) {
		const body = Buffer.from(JSON.stringify(message));
		const answer = await exchange(new URL(path, url), body, {
			timeoutMs,
			signal,
			headers: { ...headers, "Content-Type": "application/json", "X-OpenClaw-Signature": sign(secret, body) },
		});
		const signed = matches(secret, message.requestId, answer.body, answer.signature);
		const parsed = parse(answer.body);
		if (!signed) throw Object.assign(new WireError("unsigned", "the answer is not signed with our secret"), { parsed });
		if (parsed === undefined) throw new WireError("malformed", "the answer is not a JSON object");
		return parsed;
	};
}

function parse(body) {
	try {
		const value = JSON.parse(body.toString("utf8"));
		return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function exchange(url, body, { headers, timeoutMs, signal }) {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(new WireError("aborted", "the call was given up"));
		const plain = url.protocol === "http:";
		const options = {
			method: "POST",
			agent: plain ? new http.Agent() : new https.Agent(), // our own: the shared one may go through a proxy
			headers: { ...headers, "Content-Length": body.length },
			...(plain ? {} : { rejectUnauthorized: true }), // whatever NODE_TLS_REJECT_UNAUTHORIZED says
		};
		const req = (plain ? http : https).request(url, options);
		const fail = (err) => {
			finish();
			req.destroy();
			reject(err);
		};
		const late = setTimeout(() => fail(new WireError("timeout", `no answer within ${timeoutMs} ms`)), timeoutMs);
		const abort = () => fail(new WireError("aborted", "the call was given up"));
		const finish = () => {
			clearTimeout(late);
			signal?.removeEventListener("abort", abort);
		};
		signal?.addEventListener("abort", abort, { once: true });
		req.on("error", (err) => fail(new WireError("unreachable", err.code ?? err.message, err)));
		req.on("response", (res) => {
			collect(res, fail, (text) => {
				finish();
				resolve({ body: text, signature: res.headers["x-verifier-signature"] });
			});
		});
		req.end(body);
	});
}

function collect(res, fail, done) {
	if (res.statusCode < 200 || res.statusCode > 299) return fail(new WireError("status", `HTTP status ${res.statusCode}`));
	const chunks = [];
	let size = 0;
	res.on("data", (chunk) => {
		size += chunk.length;
		if (size > maxAnswer) return fail(new WireError("malformed", "the answer is larger than 64 KB"));
		chunks.push(chunk);
	});
	res.on("error", (err) => fail(new WireError("unreachable", err.code ?? err.message, err)));
	res.on("end", () => done(Buffer.concat(chunks)));
}
