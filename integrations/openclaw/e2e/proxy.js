// What stands between OpenClaw and verifier in the test: it passes on what it gets, or keeps it waiting.

import http from "node:http";
import { closed } from "./model.js";

// serveProxy passes on to wherever target() is at the time. stall(true) takes requests in and answers none.
export async function serveProxy(target) {
	let stalled = false;
	const server = http.createServer((req, res) => {
		if (stalled) return;
		const up = http.request(new URL(req.url, target()), { method: req.method, headers: req.headers, agent: false }, (answer) => {
			res.writeHead(answer.statusCode, answer.headers);
			answer.pipe(res);
		});
		up.on("error", () => res.destroy());
		res.on("close", () => up.destroy());
		req.pipe(up);
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	return { url: `http://127.0.0.1:${server.address().port}/verify`, stall: (on) => void (stalled = on), close: () => closed(server) };
}
