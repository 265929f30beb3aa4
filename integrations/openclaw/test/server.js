// A server that speaks the protocol over HTTP, for the tests: it checks signatures, remembers what it was sent and answers
// what the test wants. It is a stand-in for the gateway, written from docs/spec/protocol.md alone.

import { createHmac } from "node:crypto";
import http from "node:http";

export const secret = "c9a1f0be6d2748e3a5b1c07d9e8f6a42";

const hmac = (...parts) => parts.reduce((h, p) => h.update(p), createHmac("sha256", secret)).digest("hex");

// listen starts a server. answer(request) returns an object (sent signed), or takes {res} and answers by itself.
export async function listen(t, answer = () => ({ decision: "allow", reason: "" })) {
	const requests = [];
	const server = http.createServer((req, res) => {
		const chunks = [];
		req.on("data", (c) => chunks.push(c));
		req.on("end", async () => {
			const raw = Buffer.concat(chunks);
			const request = { path: req.url, headers: req.headers, raw, body: JSON.parse(raw), res };
			request.signed = req.headers["x-openclaw-signature"] === hmac(raw);
			requests.push(request);
			const result = await (typeof answer === "function" ? answer : answer[req.url])(request);
			if (result !== undefined) reply(request, result);
		});
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	t.after(() => {
		server.closeAllConnections();
		return new Promise((done) => server.close(done));
	});
	const base = `http://127.0.0.1:${server.address().port}`;
	return { requests, base, url: `${base}/verify`, answerWith: (f) => void (answer = f), of: (path) => requests.filter((r) => r.path === path) };
}

// reply sends a signed answer; text is sent as it is.
export function reply({ res, body }, result, { status = 200, signature } = {}) {
	const text = typeof result === "string" ? result : JSON.stringify(result);
	signature ??= hmac("verifier-answer-v1\n", body.requestId, "\n", text);
	res.writeHead(status, { "Content-Type": "application/json", "X-Verifier-Signature": signature });
	res.end(text);
}
