package telegram

import (
	"bytes"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// forwardMarks are what an older Bot API says of a forwarded message instead of
// forward_origin. The library does not know them.
type forwardMarks struct {
	From      jsontext.Value `json:"forward_from"`
	Chat      jsontext.Value `json:"forward_from_chat"`
	MessageID jsontext.Value `json:"forward_from_message_id"`
	Signature jsontext.Value `json:"forward_signature"`
	Name      jsontext.Value `json:"forward_sender_name"`
	Date      jsontext.Value `json:"forward_date"`
}

// update is as much of an update as says whether its message was forwarded.
type update struct {
	ID      jsontext.Value `json:"update_id"`
	Message *forwardMarks  `json:"message"`
}

func (m *forwardMarks) any() bool {
	return m != nil && (m.From != nil || m.Chat != nil || m.MessageID != nil || m.Signature != nil || m.Name != nil || m.Date != nil)
}

// withoutForwards empties an update whose message was forwarded, by the older
// marks: only its number is left, so that it is confirmed and does nothing. What
// can't be read is left as it is.
func withoutForwards(raw jsontext.Value) jsontext.Value {
	var u update
	if json.Unmarshal(raw, &u, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil || !u.Message.any() {
		return raw
	}
	return jsontext.Value(`{"update_id":` + string(u.ID) + `}`)
}

// dropForwards does the same for what getUpdates answers.
func dropForwards(res *http.Response) error {
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	loosely := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var answer map[string]jsontext.Value
	var updates []jsontext.Value
	isUpdates := json.Unmarshal(text, &answer, loosely) == nil && json.Unmarshal(answer["result"], &updates, loosely) == nil
	if isUpdates { // otherwise it is an error of the Bot API, which the library reads
		for i, raw := range updates {
			updates[i] = withoutForwards(raw)
		}
		if answer["result"], err = json.Marshal(updates, loosely); err == nil {
			text, err = json.Marshal(answer, loosely)
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(text))
	return err
}
