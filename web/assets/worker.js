// What gets messages while no page is open: it shows a notification for a question,
// answers from there with the session of the page, and takes it away when the
// question is over. It keeps nothing and answers no request of the page.
"use strict";
importScripts("/page/assets/session.js");

const root = "/page/";
const { ask } = self.verifier;
const linger = 3000; // ms that a question which is over is still named

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));

// A badge on the app's icon counts the notifications, for as long as no page does.
const badge = async () => {
  const n = (await self.registration.getNotifications()).filter((x) => x.data?.card).length;
  await (n > 0 ? navigator.setAppBadge?.(n) : navigator.clearAppBadge?.())?.catch(() => {});
};

const show = (m) => self.registration.showNotification(m.title ?? "A question waits", {
  body: m.text || "Open it to read all of it.", tag: m.tag, renotify: true, requireInteraction: true, icon: `${root}assets/icon-192.png`, badge: `${root}assets/icon-192.png`,
  data: { card: m.card, shown: m.shown },
  actions: m.shown ? [{ action: "allow", title: "Allow once" }, { action: "deny", title: "Deny" }] : [{ action: "deny", title: "Deny" }, { action: "open", title: "Open" }],
});

const closeAll = async (tag) => { for (const n of await self.registration.getNotifications({ tag })) n.close(); };

// over takes the notification of a question away. Browsers want to see one for each
// message, unless a page is open: so it says what has happened, without a sound, and
// then goes.
const over = async (m) => {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.some((p) => p.visibilityState === "visible")) return closeAll(m.tag);
  await self.registration.showNotification("This question is over", { body: m.title, tag: m.tag, silent: true, icon: `${root}assets/icon-192.png` });
  setTimeout(() => closeAll(m.tag), linger);
};

const told = async (data) => {
  let m = {};
  try {
    m = data.json();
  } catch { /* it is none of ours: it says that something waits, and opens the page */ }
  if (m.over) await over(m);
  else await show(m);
  await badge();
};

self.addEventListener("push", (e) => e.waitUntil(told(e.data)));

// renewed gives the server the subscription that the browser has now. Some browsers end one and tell neither the old nor a new one. The server
// takes it only for a device that the person of this login has.
const renewed = async ({ oldSubscription: old, newSubscription: made }) => {
  if (!made) {
    const key = await ask(`${root}notifications/key`);
    if (!key.ok) return;
    made = await self.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: await key.text() });
  }
  const { endpoint, keys } = made.toJSON();
  await ask(`${root}notifications/renew`, { method: "POST", body: new URLSearchParams({ old: old?.endpoint ?? "", endpoint, p256dh: keys.p256dh, auth: keys.auth }) });
};

self.addEventListener("pushsubscriptionchange", (e) => e.waitUntil(renewed(e)));

const open = async (card) => {
  const url = new URL(card ? `${root}cards/${encodeURIComponent(card)}` : root, self.location.origin).href;
  for (const page of await self.clients.matchAll({ type: "window" })) {
    const moved = await page.navigate(url).catch(() => null); // it may have gone
    if (moved) return moved.focus().catch(() => {});
  }
  return self.clients.openWindow(url);
};

// answered sends an answer. Whatever comes in its way, the question is opened.
const answered = async (answer, { card, shown }) => {
  if (card && (answer === "deny" || answer === "allow")) {
    try {
      const fields = new URLSearchParams({ card, answer, shown: shown ?? "" });
      if ((await ask(`${root}notifications/answer`, { method: "POST", body: fields })).ok) return;
    } catch { /* there is no connection */ }
  }
  await open(card);
};

self.addEventListener("notificationclick", (e) => {
  e.notification.close();
  e.waitUntil(answered(e.action, e.notification.data ?? {}).then(badge));
});

self.addEventListener("notificationclose", (e) => e.waitUntil(badge()));
