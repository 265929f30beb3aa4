package approval

import "context"

// Held is how many requests wait for a card.
func Held(d *Desk, card string) int { return len(d.waiters.held(card)) }

// TicketOf is the ticket of a question.
func TicketOf(d *Desk, client string, c *Card) string {
	return ticket(d.o.Key, client, c.ID, c.Ask.Digest)
}

// Looked reports whether the desk knows of open cards that are not its own.
func Looked(d *Desk) bool {
	open, _, err := d.openCards(context.Background())
	return err == nil && len(open) > 0
}
