// A stand-in for Telegram's Bot API, as much of it as OpenClaw's own channel needs: people write to the bot, the bot answers.

import http from "node:http";
import { closed } from "./model.js";

export const bot = { id: 777000111, is_bot: true, first_name: "Claw", username: "claw_bot", can_join_groups: true, can_read_all_group_messages: true };

export async function serveTelegram() {
	const updates = [];
	const sent = []; // what the bot wrote: {chat, text}
	let wake = () => {};
	let ids = 1000;

	const methods = {
		getMe: () => bot,
		getUpdates: async ({ offset = 0, timeout = 0 }) => {
			const news = () => updates.filter((u) => u.update_id >= offset);
			if (news().length === 0) await new Promise((done) => ((wake = done), setTimeout(done, Math.min(timeout, 5) * 1000)));
			return news();
		},
		getChat: ({ chat_id: id }) => chat(Number(id)),
		getChatMember: () => ({ status: "member", user: bot }),
		getWebhookInfo: () => ({ url: "", pending_update_count: 0 }),
		sendMessage: written,
		editMessageText: written,
	};

	function written({ chat_id: id, text = "", message_id: message }) {
		sent.push({ chat: Number(id), text });
		return { message_id: message ?? ++ids, date: now(), chat: chat(Number(id)), text };
	}

	const server = http.createServer(async (req, res) => {
		const url = new URL(req.url, "http://localhost");
		const method = url.pathname.split("/")[2];
		const raw = Buffer.concat(await Array.fromAsync(req)).toString();
		const params = { ...Object.fromEntries(url.searchParams), ...parsed(raw) };
		res.setHeader("Content-Type", "application/json");
		res.end(JSON.stringify({ ok: true, result: (await methods[method]?.(params)) ?? true }));
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));

	// write delivers a message of a person, or of a bot; a chat below zero is a group. more is added to it.
	function write(from, text, to = from, isBot = false, more = {}) {
		const message = { message_id: ++ids, date: now(), from: { id: from, is_bot: isBot, first_name: `U${from}` }, chat: chat(to), text, ...more };
		updates.push({ update_id: ++ids, message });
		wake();
	}

	return { url: `http://127.0.0.1:${server.address().port}`, sent, write, close: () => closed(server) };
}

const now = () => Math.floor(Date.now() / 1000);
const chat = (id) => (id < 0 ? { id, type: "supergroup", title: "Group" } : { id, type: "private", first_name: `U${id}` });

function parsed(raw) {
	try {
		return JSON.parse(raw || "{}");
	} catch {
		return {};
	}
}
