// What the page does. The HTML that a browser loads is an empty shell: this
// fetches the view with the session and draws it, sends forms, follows the
// stream and saves downloads. It counts down, shows times in your own time zone,
// puts the number that waits into the title, knows a few keys, and lets nothing
// be tapped that has just appeared under a finger.
(() => {
  "use strict";
  const root = "/page/";
  const settle = 600; // ms before something new can be tapped
  const stale = 10000; // ms after which what became of an answer is no news any more
  const { ask, keep, forget, kept, passkey, push } = self.verifier;

  const words = (s) => s >= 3600 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`
    : s >= 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s} s`;

  const clock = { hour: "2-digit", minute: "2-digit" };

  // local is a time as the person's own clock has it.
  const local = (t, now) => t.toDateString() === new Date(now).toDateString() ? t.toLocaleTimeString(undefined, clock)
    : t.toLocaleString(undefined, { month: "short", day: "numeric", ...clock });

  const ago = (t, now) => {
    const s = Math.floor((now - t) / 1000);
    return s < 60 ? "just now" : s < 3600 ? `${Math.floor(s / 60)} min ago` : s < 86400 ? `${Math.floor(s / 3600)} h ago` : local(t, now);
  };

  const show = (el, text) => { if (el.textContent !== text) el.textContent = text; };

  const tick = () => {
    const now = Date.now();
    for (const el of document.querySelectorAll("time[datetime]:not(.left)")) {
      const t = new Date(el.dateTime);
      el.title ||= t.toLocaleString();
      show(el, el.classList.contains("ago") ? ago(t, now) : local(t, now));
    }
    for (const el of document.querySelectorAll("#said[role=status]")) {
      el.since ??= now;
      if (now - el.since > stale) el.remove();
    }
    for (const el of document.querySelectorAll("time.left")) {
      const left = Math.floor((Date.parse(el.dataset.until) - now) / 1000);
      show(el, left > 0 ? words(left) : "expired");
      el.classList.toggle("soon", left <= 20);
    }
    for (const el of document.querySelectorAll(".bar")) {
      const from = Date.parse(el.dataset.from), until = Date.parse(el.dataset.until);
      el.firstElementChild.style.width = `${Math.max(0, Math.min(100, 100 * (until - now) / (until - from)))}%`;
    }
  };

  let title = document.title;
  const count = () => {
    const n = Number(document.querySelector("[data-count]")?.dataset.count ?? 0);
    document.title = n > 0 ? `(${n}) ${title}` : title;
    if (navigator.setAppBadge && document.querySelector("[data-count]")) (n > 0 ? navigator.setAppBadge(n) : navigator.clearAppBadge()).catch(() => {});
  };

  const hold = (el) => {
    for (const actions of el.querySelectorAll(".decide, .longer, .because button")) { // what is typed there is kept
      actions.inert = true;
      actions.classList.add("settling");
      setTimeout(() => { actions.inert = false; actions.classList.remove("settling"); }, settle);
    }
  };

  // The buttons stay in sight only once the end of the call has been.
  const reader = new IntersectionObserver((seen) => {
    for (const e of seen) if (e.isIntersecting) {
      e.target.closest(".card").classList.add("seen");
      reader.unobserve(e.target);
    }
  });
  const read = () => { for (const el of document.querySelectorAll(".card:not(.seen) .read")) reader.observe(el); };

  // What a person has opened, typed, scrolled to or focused stays when that part of
  // the page is drawn anew. Each thing is found again by its question and its place
  // there, so nothing moves from one question to another.
  const places = (root) => {
    const found = new Map(), seen = {};
    for (const el of root.querySelectorAll("details, input:not([type=hidden]), textarea, pre, a, button, summary")) {
      const name = [el.closest(".card")?.id, el.tagName, el.name, el.getAttribute("href") ?? (el.matches("button, summary") ? el.textContent : "")].join(" ");
      seen[name] = (seen[name] ?? 0) + 1;
      found.set(`${name} ${seen[name]}`, el);
    }
    return found;
  };

  // answers is where the buttons of the open question are: on the screen, where they may stick to its end, and what follows them on the page.
  const answers = () => {
    const el = document.querySelector(".card .decide"), card = el?.closest(".card");
    return el ? { card: card.id, seen: card.classList.contains("seen"), at: el.getBoundingClientRect().top, top: el.nextElementSibling.getBoundingClientRect().top + scrollY } : {};
  };

  const keeping = (root, change) => {
    const top = scrollY, before = answers(), kept = [...places(root)].map(([place, el]) => ({
      place, open: el.open, top: el.scrollTop, focused: el === document.activeElement,
      typed: el.value !== el.defaultValue ? el.value : undefined, from: el.selectionStart, to: el.selectionEnd,
    }));
    change();
    const now = places(root);
    for (const was of kept) {
      const el = now.get(was.place);
      if (!el) continue;
      if (was.open !== undefined) el.open = was.open;
      if (was.typed !== undefined && "defaultValue" in el) el.value = was.typed;
      if (was.top) el.scrollTop = was.top;
      if (was.focused) {
        el.focus({ preventScroll: true });
        if (typeof was.from === "number") el.setSelectionRange(was.from, was.to);
      }
    }
    hover(top, before);
  };

  // hover keeps the buttons of a question where they are on the screen when text comes above them, such as another
  // person's yes.
  const hover = (top, before) => {
    document.body.style.minHeight = "";
    if (before.seen) document.getElementById(before.card)?.classList.add("seen");
    scrollTo({ top, behavior: "instant" });
    const after = answers();
    if (!before.card || before.card !== after.card || Math.abs(after.at - before.at) < 1) return;
    const to = top + after.top - before.top;
    document.body.style.minHeight = `${innerHeight + to}px`;
    scrollTo({ top: to, behavior: "instant" });
  };

  const fresh = (el) => {
    tick(); count(); hold(el); read();
    document.dispatchEvent(new Event("verifier:drawn"));
  };

  const parse = (html) => new DOMParser().parseFromString(html, "text/html"); // scripts in it never run

  // draw shows a view that the server has drawn; again, if it is the one that is
  // shown, as it is now.
  const draw = (html, again) => {
    const view = parse(html);
    title = view.title;
    const change = () => document.body.replaceChildren(...view.body.childNodes);
    if (again) keeping(document.body, change);
    else change();
    fresh(document.body);
    follow();
  };

  // tell shows a sentence above what is there; role status for one that goes by
  // itself.
  const tell = (text, role = "alert") => {
    let main = document.getElementById("main");
    if (!main) {
      main = parse(`<main id="main" tabindex="-1"><p class="back"><a href="${root}">← All that waits</a></p></main>`).getElementById("main");
      document.body.replaceChildren(main);
    }
    document.getElementById("said")?.remove();
    const p = document.createElement("p");
    Object.assign(p, { id: "said", className: "said odd", textContent: text });
    p.setAttribute("role", role);
    main.prepend(p);
    p.scrollIntoView({ block: "nearest" });
  };

  const save = async (answer) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))?.[1] ?? "";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // take shows what an answer holds. It reports whether that is a new view.
  const take = async (answer, again) => {
    if (answer.status === 401) {
      await login();
      return true;
    }
    if ((answer.headers.get("Content-Type") ?? "").startsWith("text/html")) {
      draw(await answer.text(), again);
      return true;
    }
    if (answer.ok && answer.headers.has("Content-Disposition")) {
      await save(answer);
      tell("The file is saved.", "status");
    } else tell(await answer.text());
    return false;
  };

  const unreached = "There is no connection to the server. Load the page again.";

  // load fetches the view that the address names.
  const load = async (again) => {
    try {
      await take(await ask(location.pathname + location.search), again);
    } catch {
      tell(unreached);
    }
  };

  let stream = new AbortController();

  // online says whether what the page shows is what the server knows now.
  const online = (yes) => {
    document.body.classList.toggle("offline", !yes);
    const said = document.getElementById("said");
    if (yes && said?.textContent === unreached) said.remove();
  };

  // follow draws what the stream of the view sends, for as long as that view is
  // shown.
  const follow = async () => {
    stream.abort();
    const from = document.querySelector("[data-events]")?.dataset.events;
    if (!from) return;
    const { signal } = stream = new AbortController();
    const url = new URL(from, location.origin);
    for (let pause = 1000; !signal.aborted; pause = Math.min(2 * pause, 8000)) {
      try {
        const answer = await ask(url, { signal });
        if (answer.status === 401) return await login();
        if (answer.ok) {
          online(true);
          pause = 500;
          for await (const e of events(answer.body)) {
            if (signal.aborted) return;
            if (e.id) url.searchParams.set("seen", e.id);
            happened(e);
          }
        } else online(false);
      } catch {
        if (!signal.aborted) online(false);
      }
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  };

  // events are what a stream sends: blocks of lines, as text/event-stream has them.
  async function* events(body) {
    const pieces = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const { done, value } = await pieces.read();
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const e = { data: [] };
        for (const line of block.split("\n")) {
          const at = line.indexOf(": ");
          if (line.startsWith("data: ")) e.data.push(line.slice(at + 2));
          else if (at > 0) e[line.slice(0, at)] = line.slice(at + 2);
        }
        if (e.event) yield e;
      }
    }
  }

  const happened = (e) => {
    if (e.event === "card") return void load(true);
    const el = document.getElementById(e.event);
    if (!el) return;
    keeping(el, () => el.replaceChildren(...parse(e.data.join("\n")).body.childNodes));
    fresh(el);
  };

  // send posts a form. The stream rests meanwhile: what the answer says must not
  // be drawn over.
  const send = async (form, button) => {
    const fields = new URLSearchParams(new FormData(form));
    if (button?.name) fields.append(button.name, button.value);
    stream.abort();
    for (const b of form.querySelectorAll("button")) b.disabled = true;
    let drawn = false;
    try {
      drawn = await take(await ask(form.action, { method: "POST", body: fields }));
    } catch {
      tell("There is no connection to the server. It is not known whether your answer arrived: load the page again.");
    }
    if (drawn) {
      document.getElementById("said")?.scrollIntoView({ block: "nearest" });
      if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
      return;
    }
    for (const b of form.querySelectorAll("button")) b.disabled = false;
    follow();
  };

  // attempt runs a ceremony of the person's authenticator and says what comes in its way.
  const attempt = async (form, ceremony, why = passkey.why) => {
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      await ceremony();
    } catch (e) {
      tell(e instanceof Refusal ? e.message : e instanceof DOMException ? why(e) : unreached);
    }
    button.disabled = false;
  };

  class Refusal extends Error {}

  // post asks the server for the next step of a ceremony.
  const post = async (path, fields, by = ask) => {
    const answer = await by(`${root}${path}`, { method: "POST", body: new URLSearchParams(fields), cache: "no-store" });
    if (!answer.ok) throw new Refusal(answer.status === 401 && by === ask ? "You are not logged in any more. Load the page again." : await answer.text());
    return answer;
  };

  // enrol adds a passkey of a person who is logged in: their token or another passkey says that it is them.
  const enrol = (form) => attempt(form, async () => {
    let proof = { token: form.elements.token?.value ?? "" };
    if (form.dataset.proof) {
      const wanted = await (await post("passkeys/proof", {})).json();
      proof = { nonce: wanted.nonce, ...await passkey.sign(wanted) };
    }
    const wanted = await (await post("passkeys/new", proof)).json();
    await post("passkeys", { name: form.elements.name.value, nonce: wanted.nonce, ...await passkey.create(wanted) });
    await load();
    tell("The passkey is added.", "status");
  });

  // notify turns notifications on for this device.
  const notify = (form) => attempt(form, async () => {
    await post("notifications", { name: form.elements.name.value, ...await push.subscribe(form.dataset.key) });
    await load();
    tell("Notifications are on for this device.", "status");
  }, push.why);

  const logout = async () => {
    const session = await kept();
    try {
      const answer = await ask(`${root}logout`, { method: "POST" });
      if (!answer.ok && answer.status !== 401) return tell(await answer.text());
      await forget(session);
      location.assign(`${root}login`);
    } catch {
      tell("There is no connection to the server, so the session goes on.");
    }
  };

  // enter exchanges a token or a link for a session.
  const enter = async (fields) => {
    const fault = document.querySelector(".login .said");
    try {
      const answer = await fetch(`${root}login`, { method: "POST", body: new URLSearchParams(fields), cache: "no-store", redirect: "error" });
      if (answer.ok) {
        await keep(await answer.text());
        if (location.pathname === `${root}login`) location.replace(root);
        else location.reload();
        return;
      }
      fault.textContent = await answer.text();
    } catch (e) {
      fault.textContent = e instanceof DOMException ? "This browser keeps nothing for this page, so you can't log in here." : unreached;
    }
    fault.hidden = false;
  };

  // login shows the form, or asks whether a link that was opened may be used. The
  // link stands behind the #, which no server and no preview gets to see; it
  // leaves the history at once.
  const login = async () => {
    stream.abort();
    title = document.title = "verifier";
    document.body.replaceChildren(document.getElementById("login").content.cloneNode(true));
    const [byLink, byToken, byPasskey, byEnrol] = document.querySelectorAll(".login form");
    const fault = document.querySelector(".login .said");
    byToken.onsubmit = (e) => { e.preventDefault(); enter({ token: byToken.elements.token.value }); };
    const ceremony = (form, steps) => {
      form.onsubmit = async (e) => {
        e.preventDefault();
        fault.hidden = true;
        try {
          await steps();
        } catch (err) {
          fault.textContent = err instanceof Refusal ? err.message : err instanceof DOMException ? passkey.why(err) : unreached;
          fault.hidden = false;
        }
      };
      form.hidden = false;
    };
    const { link, enrol } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (enrol) {
      history.replaceState(null, "", location.pathname + location.search);
      if (passkey.able()) {
        ceremony(byEnrol, async () => {
          const wanted = await (await post("passkeys/new", { link: enrol }, fetch)).json();
          await keep(await (await post("passkeys", { nonce: wanted.nonce, ...await passkey.create(wanted) }, fetch)).text());
          location.replace(root);
        });
        document.querySelector(".login > .hint").hidden = true;
        return;
      }
      fault.textContent = "A passkey needs https or localhost, and a page with a name. Set web.url, or open the link with localhost in it.";
      fault.hidden = false;
    }
    if (passkey.able()) {
      ceremony(byPasskey, async () => {
        const wanted = await (await post("login/passkey", {}, fetch)).json();
        await enter({ nonce: wanted.nonce, ...await passkey.sign(wanted) });
      });
    }
    if (link) {
      history.replaceState(null, "", location.pathname + location.search);
      const answer = await fetch(`${root}login/link`, { method: "POST", body: new URLSearchParams({ link }), cache: "no-store" }).catch(() => null);
      const text = answer ? await answer.text() : unreached;
      if (answer?.ok) {
        byLink.querySelector("p").textContent = text;
        byLink.onsubmit = (e) => { e.preventDefault(); enter({ link }); };
        byLink.hidden = false;
        byToken.hidden = byPasskey.hidden = true;
        document.querySelector(".login > .hint").hidden = true;
        return;
      }
      fault.textContent = text;
      fault.hidden = false;
    }
    byToken.hidden = false;
    byToken.elements.token.focus();
  };

  document.addEventListener("submit", (e) => {
    if (e.defaultPrevented || e.target.method !== "post") return;
    e.preventDefault();
    if (e.target.classList.contains("logout")) logout();
    else if (e.target.classList.contains("enrol")) enrol(e.target);
    else if (e.target.classList.contains("notify")) notify(e.target);
    else send(e.target, e.submitter);
  });

  document.addEventListener("click", async (e) => {
    const link = e.target.closest?.("a[download]");
    if (!link || e.button !== 0) return;
    e.preventDefault();
    try {
      await take(await ask(link.href));
    } catch {
      tell(unreached);
    }
  });

  // What is open at the bottom of a phone's screen closes by a tap beside it.
  document.addEventListener("click", (e) => {
    for (const el of document.querySelectorAll(".tabmore[open]")) if (!el.contains(e.target)) el.open = false;
  });

  // press is a button by its key. A key allows only what one tap allows, and only
  // what has been in sight: see OneTap in the card's template.
  const press = (key) => {
    const button = document.querySelector(`main .card button[data-key=${key}]`);
    if (button && !button.disabled && !button.closest("[inert]") && (key !== "a" || button.closest(".card.seen"))) button.click();
    else if (!button && document.querySelector("main .card .decide")) tell("This call needs a closer look: no key allows it. Use the buttons.", "status");
  };

  const step = (by) => {
    const all = [...document.querySelectorAll("main .card, main .queue a, main .entries summary")];
    const at = all.findIndex((el) => el.contains(document.activeElement));
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };

  const keys = {
    a: () => press("a"), d: () => press("d"), j: () => step(1), k: () => step(-1),
    "?": () => document.getElementById("keys")?.showModal(),
    Escape: () => { for (const el of document.querySelectorAll(".tabmore[open]")) el.open = false; },
  };

  document.addEventListener("keydown", (e) => {
    if (!e.isTrusted || e.repeat || e.isComposing || e.ctrlKey || e.altKey || e.metaKey || !Object.hasOwn(keys, e.key)) return;
    if (e.target.closest?.("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    if (e.key !== "Escape") e.preventDefault();
    keys[e.key]();
  });

  const start = async () => {
    const known = location.pathname !== `${root}login` && await kept().catch(() => null);
    await (known ? load() : login());
  };

  addEventListener("hashchange", () => { if (/^#(link|enrol)=/.test(location.hash)) start(); });
  document.addEventListener("DOMContentLoaded", start);
  setInterval(tick, 1000);
})();
