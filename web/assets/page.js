// What the page does. The HTML that a browser loads is an empty shell: this
// fetches the view with the session and draws it, sends forms, follows the
// stream and saves downloads. It counts down, puts the number that waits into
// the title, and lets nothing be tapped that has just appeared under a finger.
(() => {
  "use strict";
  const root = "/page/";
  const settle = 600; // ms before something new can be tapped
  const { ask, keep, forget, kept } = self.verifier;

  const words = (s) => s >= 3600 ? `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`
    : s >= 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s} s`;

  const tick = () => {
    const now = Date.now();
    for (const el of document.querySelectorAll("time.left")) {
      const left = Math.floor((Date.parse(el.dataset.until) - now) / 1000);
      el.textContent = left > 0 ? words(left) : "expired";
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
    for (const actions of el.querySelectorAll(".actions, .choices")) {
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

  const fresh = (el) => {
    tick(); count(); hold(el); read();
    document.dispatchEvent(new Event("verifier:drawn"));
  };

  const parse = (html) => new DOMParser().parseFromString(html, "text/html"); // scripts in it never run

  // draw shows a view that the server has drawn.
  const draw = (html) => {
    const view = parse(html);
    title = view.title;
    document.body.replaceChildren(...view.body.childNodes);
    fresh(document.body);
    follow();
  };

  // tell shows a sentence above what is there.
  const tell = (text) => {
    let main = document.getElementById("main");
    if (!main) {
      main = parse(`<main id="main" tabindex="-1"><p class="back"><a href="${root}">← All that waits</a></p></main>`).getElementById("main");
      document.body.replaceChildren(main);
    }
    document.getElementById("said")?.remove();
    const p = document.createElement("p");
    Object.assign(p, { id: "said", className: "said odd", textContent: text });
    p.setAttribute("role", "alert");
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
  const take = async (answer) => {
    if (answer.status === 401) {
      await login();
      return true;
    }
    if ((answer.headers.get("Content-Type") ?? "").startsWith("text/html")) {
      draw(await answer.text());
      return true;
    }
    if (answer.ok && answer.headers.has("Content-Disposition")) {
      await save(answer);
      tell("The file is saved.");
    } else tell(await answer.text());
    return false;
  };

  const unreached = "There is no connection to the server. Load the page again.";

  // load fetches the view that the address names.
  const load = async () => {
    try {
      await take(await ask(location.pathname + location.search));
    } catch {
      tell(unreached);
    }
  };

  let stream = new AbortController();

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
          document.body.classList.remove("offline");
          pause = 500;
          for await (const e of events(answer.body)) {
            if (signal.aborted) return;
            if (e.id) url.searchParams.set("seen", e.id);
            happened(e);
          }
        } else document.body.classList.add("offline");
      } catch {
        if (!signal.aborted) document.body.classList.add("offline");
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
    if (e.event === "card") return void load();
    const el = document.getElementById(e.event);
    if (!el) return;
    el.replaceChildren(...parse(e.data.join("\n")).body.childNodes);
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
    const [byLink, byToken] = document.querySelectorAll(".login form");
    const fault = document.querySelector(".login .said");
    byToken.onsubmit = (e) => { e.preventDefault(); enter({ token: byToken.elements.token.value }); };
    const link = new URLSearchParams(location.hash.slice(1)).get("link");
    if (link) {
      history.replaceState(null, "", location.pathname + location.search);
      const answer = await fetch(`${root}login/link`, { method: "POST", body: new URLSearchParams({ link }), cache: "no-store" }).catch(() => null);
      const text = answer ? await answer.text() : unreached;
      if (answer?.ok) {
        byLink.querySelector("p").textContent = text;
        byLink.onsubmit = (e) => { e.preventDefault(); enter({ link }); };
        byLink.hidden = false;
        byToken.hidden = true;
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
    if (e.target.classList.contains("me")) logout();
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

  const start = async () => {
    const known = location.pathname !== `${root}login` && await kept().catch(() => null);
    await (known ? load() : login());
  };

  addEventListener("hashchange", () => { if (location.hash.startsWith("#link=")) start(); });
  document.addEventListener("DOMContentLoaded", start);
  setInterval(tick, 1000);
})();
