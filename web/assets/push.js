// Notifications of this device, and the sound of a new question in an open page.
(() => {
  "use strict";
  const root = "/page/", sound = "verifier.sound";
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  // subscribe asks the person and then the browser for a subscription, as the server
  // takes it. One that was made for another server's key is given up.
  const subscribe = async (key) => {
    if (!isSecureContext || !navigator.serviceWorker || !self.PushManager || !self.Notification) throw new DOMException("", "NotSupportedError");
    if (await Notification.requestPermission() !== "granted") throw new DOMException("", "NotAllowedError");
    await navigator.serviceWorker.register(`${root}worker.js`, { scope: root });
    const worker = await navigator.serviceWorker.ready;
    const old = await worker.pushManager.getSubscription();
    if (old && text(old.options.applicationServerKey) !== key) await old.unsubscribe();
    const made = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) })).toJSON();
    return { endpoint: made.endpoint, p256dh: made.keys.p256dh, auth: made.keys.auth };
  };

  // why says in words what came of it instead.
  const why = (e) => e.name === "NotAllowedError" ? "Your browser does not let this page show notifications. Allow it in the browser's settings for this page."
    : e.name === "NotSupportedError" ? "Notifications need https or localhost, and on an iPhone or iPad a page that you opened from the home screen."
      : "Your browser could not subscribe to its push service.";

  const registered = async () => await navigator.serviceWorker?.getRegistration(root).catch(() => undefined);

  // mine marks this device on the list. It is named by a digest of its endpoint.
  const mine = async () => {
    const list = document.querySelectorAll("[data-device]");
    if (!list.length) return;
    const own = await (await registered())?.pushManager.getSubscription();
    if (!own) return;
    const id = text((await crypto.subtle.digest("SHA-256", new TextEncoder().encode(own.endpoint))).slice(0, 16));
    for (const li of list) if (li.dataset.device === id) li.querySelector("strong").append(" (this device)");
  };

  const wanted = () => localStorage.getItem(sound) === "on";

  const beep = () => {
    const audio = new AudioContext(), tone = audio.createOscillator(), volume = audio.createGain();
    volume.gain.setValueAtTime(0.15, audio.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.5);
    tone.frequency.setValueAtTime(660, audio.currentTime);
    tone.frequency.setValueAtTime(880, audio.currentTime + 0.15);
    tone.connect(volume).connect(audio.destination);
    tone.onended = () => audio.close();
    tone.start();
    tone.stop(audio.currentTime + 0.5);
    document.dispatchEvent(new Event("verifier:sound"));
  };

  const label = () => {
    for (const b of document.querySelectorAll("[data-sound]")) {
      b.textContent = wanted() ? "Turn off the sound" : "Turn on the sound";
      b.setAttribute("aria-pressed", wanted());
    }
  };

  document.addEventListener("click", (e) => {
    if (!e.target.closest?.("[data-sound]")) return;
    localStorage.setItem(sound, wanted() ? "off" : "on");
    label();
    if (wanted()) beep();
  });

  // A page that shows what waits needs no notification of what does not.
  let before;
  document.addEventListener("verifier:drawn", async () => {
    label();
    mine();
    const count = document.querySelector("[data-count]")?.dataset.count;
    if (count === undefined) return;
    if (before !== undefined && Number(count) > before && wanted()) beep();
    before = Number(count);
    if (before === 0) for (const n of await (await registered())?.getNotifications() ?? []) n.close();
  });

  self.verifier.push = { subscribe, why };
})();
