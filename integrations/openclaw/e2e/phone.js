// The owner's phone: verifier's own bot on a fake of Telegram, where questions come up and buttons are tapped. The fake is the one
// of verifier's own tests (channels/telegram/telegramtest), run as a program.

export const verifiersBot = "888000222:AAFakeFakeFakeFakeFakeFakeFakeFakeFake";

// createPhone looks at the chats of the fake at an address. eventually(what, probe) waits.
export function createPhone(address, eventually) {
	const messages = async () => (await fetch(`${address}/messages`)).json();

	return { card, tap, allow, outcome };

	// card waits for an open question whose text holds something.
	function card(holding) {
		return eventually(`a card with ${holding}`, async () => (await messages()).find((m) => m.buttons.length > 0 && m.text.includes(holding)));
	}

	// tap presses a button and returns what the one who tapped is told.
	async function tap({ chat, id, buttons }, label, from) {
		const { data } = buttons.find((b) => b.text === label);
		const res = await fetch(`${address}/tap`, { method: "POST", body: JSON.stringify({ from, chat, message: id, data }) });
		return res.json();
	}

	// allow presses Allow once, and then picks what the call does: the answer that is on the card.
	async function allow(card, from) {
		await tap(card, "Allow once", from);
		const asked = await eventually("what the call does is asked", async () =>
			(await messages()).find((m) => m.id > card.id && m.buttons.length > 0 && m.text.includes("Look once more")));
		const letter = asked.text.split("\n").map((line) => /^([A-D]): (.*)$/.exec(line)).find((m) => m && card.text.includes(m[2]))[1];
		return tap(asked, letter, from);
	}

	// outcome waits until a card's buttons are gone, and returns what it shows then.
	function outcome({ id }) {
		return eventually("the card is settled", async () => (await messages()).find((m) => m.id === id && m.buttons.length === 0)?.text);
	}
}
