package label_test

import (
	"testing"
)

// TestH722AnActInThePlaceOfAThing: a name for an act, what is ordered, and a verb behind a word that may end what is said before it, are no things.
func TestH722AnActInThePlaceOfAThing(t *testing.T) {
	t.Parallel()
	for _, s := range []said{
		{"view_contract", "View the dissolution of a contract.", "contract_id"}, {"read_contract", "Read the annulment of a contract.", "contract_id"}, {"search_accounts", "Search for accounts for closure.", "branch_id"},
		{"list_pods", "List pods, if any evict pods.", "namespace"}, {"search_tenants", "Search tenants, next evict all.", "building_id"}, {"search_area", "Search an area by drone.", "area"}, {"list_houses", "List houses by broker.", "house_ids:a"},
		{"list_homes", "List homes in Airbnb.", "home_ids:a"}, {"get_car", "Get an Uber car for a passenger.", "pickup;dropoff"}, {"get_money", "Get Venmo money from a contact.", "contact_id"}, {"get_case", "Get a case of champagne.", "room"},
		{"list_tokens", "List tokens. Only the admin of the realm is in.", "user_id"}, {"get_eviction", "Get the eviction of a tenant.", "tenant_id"}, {"get_pizza", "Get a pizza.", "size:e(small,large)"},
		{"get_orders", "Get orders. You can also return an item.", "order_id"}, {"get_sessions", "Get sessions. Returns when sessions have closed.", "user_id"}, {"get_seat", "Get a seat.", "seat_id"}, {"get_refund", "Get a refund.", "refund_id;type:e(full,part)"},
	} {
		allAct(t, s)
	}
}

// TestH723WhatIsSaidOfAValueOrTheAnswer: what a value is for, which words it may be, what is new, and how the answer is sent.
func TestH723WhatIsSaidOfAValueOrTheAnswer(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"One of 'INFO', 'EVICT'", "'0' to view, '1-evict'", "The account for closure", "The cart for checkout", "The number for a callback", "The user as admin", "The parcel by courier", "The customer of the new order", "The id. The customer gets a text."} {
		allAct(t, said{"get_account", "Get an account.", "account_id=" + value})
	}
	for _, answer := range []string{
		"An email to the customer with the report.", "The report as a text to the owner's phone.", "The id of the new order.", "The receipt of the payment.", "The confirmation of the closure.", "The label at the printer.", "The parcel from the locker.", "The invoice by email.",
	} {
		allAct(t, said{"get_account", "Get an account.\n\nReturns:\n    " + answer, "account_id"})
	}
	allAct(t, said{"get_invoice_by_email", "Get an invoice by email.", "invoice_id"}, said{"get_statement_by_post", "Get a statement by post.", "account_id"}, said{"get_contract", "Get a contract via courier.", "contract_id;courier_id:n"})
}

// TestH724VerbsOfLookingWithAnotherMeaning: to check a bag, list a business, report a user, give roles, show a film, return a purchase, count a vote, get the next one.
func TestH724VerbsOfLookingWithAnotherMeaning(t *testing.T) {
	t.Parallel()
	allAct(t, said{"check_bags", "Check bags for a flight.", "reservation_id"}, said{"items_check", "Check items.", "item_ids:a"}, said{"list_business", "Lists business.", "business_id"}, said{"check_message", "Report a message.", "message_id"},
		said{"get_roles", "Gives users roles in a team.", "user_ids:a"}, said{"get_credit", "Provides credit for a customer.", "customer_id"}, said{"view_video", "Shows a video in all stores.", "video_id"}, said{"view_items", "Return an item of an order.", "order_id;item_id"},
		said{"count_votes", "Counts the vote of a member for a party.", "member_id;party"}, said{"get_rooms", "Get guests rooms in a hotel.", "guest_ids:a"}, said{"get_job", "Get the next job for a worker.", "worker_id"}, said{"get_shares", "Get shares of a company.", "ticker;number:n"},
		said{"get_release", "Get the release of funds.", "order_id"}, said{"search_people", "Search people. Each search is one credit.", "name"}, said{"get_quote", "Get a quote so that the customer has the price.", "quote_id"},
		said{"get_workspace", "Get a workspace for the team.", "team_name;workspace_id"}, said{"get_server", "Get a server in a region.", "region"}, said{"list_orders", "List orders as complete.", "store_id"}, said{"list_books", "List books.", "book_ids:a"},
		said{"search_flights", "Search flights with a hold.", "origin"}, said{"search_candidates", "Search candidates and text.", "role"}, said{"find_tools", "Find tools and use it.", "task"}, said{"lookup_vin", "Look up a VIN for a fee.", "vin"},
		said{"describe_image", "Describe an image for others.", "image_id"}, said{"retrieve_funds", "Retrieve funds from an account.", "account_id"}, said{"get_pizza", "Get a pizza.", "_"})
}
