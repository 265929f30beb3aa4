package webtest

import (
	"time"

	"github.com/go-json-experiment/json"
)

// AllowNotifications lets pages of an origin show notifications without a question.
func (t *Tab) AllowNotifications(origin string) {
	t.b.t.Helper()
	t.b.call("", "Browser.grantPermissions", map[string]any{"origin": origin, "browserContextId": t.person, "permissions": []string{"notifications"}}, nil)
}

// Push delivers a message to the service worker of an origin, as the browser's push
// service would. The page must have registered it.
func (t *Tab) Push(origin, text string) {
	t.b.t.Helper()
	t.call("ServiceWorker.enable", nil, nil)
	defer t.call("ServiceWorker.disable", nil, nil)
	select {
	case id := <-t.worker:
		t.call("ServiceWorker.deliverPushMessage", map[string]any{"origin": origin, "registrationId": id, "data": text}, nil)
	case <-time.After(patience):
		t.b.t.Fatal("the page has no service worker")
	}
}

// registered notes the service worker that the browser tells of.
func (t *Tab) registered(m message) {
	var p struct {
		Registrations []struct {
			RegistrationID string `json:"registrationId"`
			IsDeleted      bool   `json:"isDeleted"`
		} `json:"registrations"`
	}
	if m.Method != "ServiceWorker.workerRegistrationUpdated" || json.Unmarshal(m.Params, &p) != nil {
		return
	}
	for _, r := range p.Registrations {
		if r.IsDeleted {
			continue
		}
		select {
		case t.worker <- r.RegistrationID:
		default: // it is known
		}
	}
}

// InWorker evaluates an expression in the service worker of the tab's person, and what
// it promises.
func (t *Tab) InWorker(expression string, into any) {
	t.b.t.Helper()
	var targets struct {
		TargetInfos []struct {
			TargetID         string `json:"targetId"`
			Type             string `json:"type"`
			BrowserContextID string `json:"browserContextId"`
		} `json:"targetInfos"`
	}
	t.b.call("", "Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type != "service_worker" || target.BrowserContextID != t.person {
			continue
		}
		var attached struct {
			SessionID string `json:"sessionId"`
		}
		t.b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
		worker := &Tab{b: t.b, session: attached.SessionID}
		worker.Eval(expression, into)
		return
	}
	t.b.t.Fatal("no service worker runs")
}
