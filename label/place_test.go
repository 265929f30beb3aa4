package label_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/label"
)

// said is a tool with a name, a description and arguments as testdata/unseen.txt has them.
type said struct{ name, description, arguments string }

func (s said) tool(t *testing.T) *label.Tool {
	t.Helper()
	return one(t, s.name, s.description, text(t, schemaOf(s.arguments)), "")
}

// TestToolsAsServersDescribeThem: tools that only look, in the forms in which public servers describe theirs.
func TestToolsAsServersDescribeThem(t *testing.T) {
	t.Parallel()
	for _, s := range []said{
		{"get_dosage", "Get the dosage of a medicine.", "medicine_name"},
		{"search_clinics", "Search for clinics by specialty.", "location=The suburb of the clinic"},
		{"list_teams", "List all Acme teams.", ""},
		{"get_projects", "Get Acme projects in a workspace.", "workspace_id=The unique identifier of the workspace, such as 'W0815'."},
		{"pods_list", "List all pods in a namespace", "namespace=Optional namespace. If not provided, lists all namespaces"},
		{"slack_list_channels", "List channels.", "limit:n;page_token=Token for pagination."},
		{"mcp__acme__acme_get_user", "Get a user.", "user_id"},
		{"list_customers", "This tool will fetch a list of customers.\n\nIt takes no input.", ""},
		{"get_archived_notes", "Get all archived notes.", ""},
		{"get_shared_notes", "Get all notes that other users have shared with you.", ""},
		{"get_user_by_email", "Get a user by email address.", "email=The email address of the user"},
		{"search_contacts", "Search contacts.", "email;phone_number;title"},
		{"get_ticket", "Get a ticket.", "ticket_id:n=ID of the ticket to retrieve."},
		{"get_order", "Get an order.", "order_id:n=Order Id"},
		{"get_role_assignments", "Get the assignments of a role.", "role_id"},
		{"get_transactions", "Fetch transactions.", "since=Start date in the format YYYY-MM-DD"},
		{"get_instance", "Get an instance.", "instance_id"},
		{"search_events", "Search for events. You can also search by title. The id must be a number.", "calendar_id"},
		{"get_list", "Get a list.\n\nArgs:\n    list_id (str): The ID of the list.\n    limit (int): Maximum number of results\n\nReturns:\n    str: The list with its titles and dates.", "list_id=List Id;limit:n=Limit"},
	} {
		if p := label.Propose(s.tool(t)); !is(p.Label.Safe) || is(p.Label.Secret) {
			t.Errorf("%s is %+v: %q", s.name, p.Label, p.Why)
		}
	}
}

// allAct fails for each of these tools that is proposed as safe.
func allAct(t *testing.T, all ...said) {
	t.Helper()
	for _, s := range all {
		acts(t, s.tool(t))
	}
}

// TestH717AnUnknownWordThatIsNoThing: a word of which nothing is known is a thing only behind an article, an adjective or "of", and not where it says how
// something is done, whom it reaches, or what is ordered.
func TestH717AnUnknownWordThatIsNoThing(t *testing.T) {
	t.Parallel()
	allAct(t, said{"get_report", "Get the report of a customer and nudge.", "id"}, said{"get_report", "Get the report of a customer, nudges them.", "id"}, said{"get_report", "Get the report of a customer nudging them.", "id"},
		said{"get_report", "Get the list of laggards then nag.", "id"}, said{"search_area", "Search the area with the drone.", "area"}, said{"search_area", "Search an area by a patrol.", "area"},
		said{"search_patients", "Search patients by ringing them.", "name"}, said{"read_poem", "Read a poem in the lobby.", "poem_id"}, said{"list_cars", "List cars in the classifieds.", "car_ids:a"},
		said{"list_jobs", "List jobs on Acme.", "job_id"}, said{"list_products_on_acme", "List products.", "product_ids:a"}, said{"items_list_for_auction", "List items.", "item_id"}, said{"get_car", "Get a Lyft.", "pickup"},
		said{"get_dinner", "Get dinner from Wolt.", "dish"}, said{"get_logs", "Get Logs And Rotate Them.", "pod"}, said{"get_contract", "Get the contract of a client countersigned.", "id"}, said{"view_doors", "View the doors of a garage open.", "garage_id"},
		said{"get_data", "Get the data.", "id=The id and whom to nag"}, said{"get_data", "Get the data.", "mode:e(peek,snooze)=Sort by"}, said{"get_registrations", "Get registrations of guests in.", "id"},
		said{"get_next_message", "Get the next message of a queue.", "id"}, said{"read_note", "Read a note once.", "note_id"})
}

// TestH718ANameThatBeginsWithAThing: nothing that may be a verb comes before the word for looking, and what comes after it counts as before.
func TestH718ANameThatBeginsWithAThing(t *testing.T) {
	t.Parallel()
	allAct(t, said{"snooze_list", "List snooze.", "id"}, said{"purge_get", "Get purge.", "id"}, said{"email_list_members", "List members.", "id"}, said{"mcp__email__email_list_members", "List members.", "id"},
		said{"orders_check_out", "Check orders.", "order_id"}, said{"guests_check_in", "Check guests.", "guest_id"}, said{"records_view_reset", "View records.", "id"}, said{"events_get_and_wipe", "Get events.", "id"},
		said{"emails_list_purge", "List emails.", "folder"}, said{"pods_get", "Get a pod drained.", "pod"}, said{"pods_list", "List pods. Evicts the old ones.", "namespace"}, said{"alerts_list", "List alerts.", "webhook_url"},
		said{"slack_get_out", "Get out of a channel.", "channel_id"})
}

// TestH719WhatADocstringSays: an act under a heading of a docstring counts, of an argument, of the answer or of neither.
func TestH719WhatADocstringSays(t *testing.T) {
	t.Parallel()
	for _, section := range []string{
		"Args:\n    id (str): Whom to send it to.", "Args:\n    id (str): The report that is nagged.", "Returns:\n    The report, after it was emailed.", "Returns:\n    Sends the report.", "Returns:\n    The owner gets a text.",
		"Raises:\n    Error: The order is cancelled.", "Returns:\n    Le rapport, puis suppression.", "Returns:\n    отправляет письмо", "Args:\n    This deletes it.", "Parameters:\n    other: Zaps the report.", "Returns:\n    and nudges them",
	} {
		allAct(t, said{"get_report", "Get a report.\n\n" + section, "id"})
	}
	if p := label.Propose(said{"drop_report", "Drop a report.\n\nReturns:\n    Refunds the customer. Needs a password.", "id"}.tool(t)); !is(p.Label.Destructive) || !is(p.Label.Money) || !is(p.Label.Secret) {
		t.Errorf("%+v", p.Label)
	}
	if p := label.Propose(said{"submit_code", "Submit the code.\n\nReturns:\n    The door springs open.", "code"}.tool(t)); is(p.Label.Completes) {
		t.Errorf("%+v", p.Label)
	}
}

// TestH720WhatWasDoneBefore: "has sent" and "all paid" are what was done before only if somebody else did it, or if it says of which things.
func TestH720WhatWasDoneBefore(t *testing.T) {
	t.Parallel()
	for _, description := range []string{
		"Get a report once it has emailed the owner.", "Returns the id after it has charged the card.", "Get the report. This has closed it.", "Get all locked.", "Get all paid invoices sent.", "Get all doors locked.", "Get all signed by the client.",
		"Get the report. You will get a text.", "Get the report. The owner can see that.", "Get the report. The fee is one USD each.", "Get the report. The bank can also return a fee.", "Get the report. May also charge.",
		"Get the report. The report must be cycled.", "This tool will get you a cab.", "This tool will list reports and dismiss them.", "It takes the order.", "Get reports. It takes payment.", "Get reports. It takes a seat.",
	} {
		allAct(t, said{"get_report", description, "id"})
	}
}

// TestH721WhatIsOrderedHasNoID: a thing that one gets by ordering it is looked at only by its own id, and somebody is found by an address only where the name says so.
func TestH721WhatIsOrderedHasNoID(t *testing.T) {
	t.Parallel()
	allAct(t, said{"get_ticket", "Get a ticket.", "event_id"}, said{"get_refund", "Get a refund.", "refund_id;order_id"}, said{"get_appointment", "Get an appointment.", "doctor_id;slot_id"}, said{"get_reservation", "Get a reservation.", "reservation_id;guest_name"},
		said{"fetch_refund", "Fetch a refund.", "order_id"}, said{"fetch_ride", "Fetch a ride.", "pickup"}, said{"fetch_access", "Fetch file access for a guest.", "file_id"}, said{"fetch_parcel", "Fetch a parcel to the desk.", "parcel_id"},
		said{"get_access", "Fetch file access for a guest.", "file_id"}, said{"get_invoice_by_email", "Get an invoice by email.", "email"}, said{"get_report_by_phone", "Get a report by phone.", "phone"}, said{"get_user_by_email", "Get a user by email.", "email;cc_email"},
		said{"list_members", "List members.", "email"}, said{"search_contacts", "Search contacts.", "email;notify_email"}, said{"list_products", "List products.", "title;description"}, said{"search_docs", "Search docs.", "title;new_title"},
		said{"get_followers", "Get followers.", "account_id;number:n"}, said{"aws_get_instance", "Get an instance.", "size"}, said{"get_seat", "Get a seat.", "event_id"}, said{"get_license", "Get a license.", "product_id"}, said{"list_reports", "List reports.", "access_token"}, said{"list_reports", "List reports.", "page_token;bearer_token"})
}
