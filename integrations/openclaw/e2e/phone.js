// The owner's phone: verifier's own bot on a fake of Telegram, where questions come up and buttons are tapped. The fake is the one
// of verifier's own tests (channels/telegram/telegramtest), run as a program.

export const verifiersBot = "888000222:AAFakeFakeFakeFakeFakeFakeFakeFakeFake";

// createPhone looks at the chats of the fake at an address. eventually(what, probe) waits.
export function createPhone(address, eventually) {
	const messages = async () => (await fetch(`${address}/messages`)).json();

	return { card, tap, outcome };

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

	// outcome waits until a card's buttons are gone, and returns what it shows then.
	function outcome({ id }) {
		return eventually("the card is settled", async () => (await messages()).find((m) => m.id === id && m.buttons.length === 0)?.text);
	}
}
