// What the page does by itself: it counts down, puts the number that waits into
// the title, and lets nothing be tapped that has just appeared under a finger.
(() => {
  "use strict";
  const settle = 600; // ms before something new can be tapped

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

  const title = document.title;
  const count = () => {
    const el = document.querySelector("[data-count]");
    if (!el) return;
    const n = Number(el.dataset.count);
    document.title = n > 0 ? `(${n}) ${title}` : title;
    if (navigator.setAppBadge) (n > 0 ? navigator.setAppBadge(n) : navigator.clearAppBadge()).catch(() => {});
  };

  const hold = (el) => {
    for (const actions of el.querySelectorAll(".actions, .choices")) {
      actions.inert = true;
      actions.classList.add("settling");
      setTimeout(() => { actions.inert = false; actions.classList.remove("settling"); }, settle);
    }
  };

  const fresh = (el) => { tick(); count(); hold(el); read(); };

  // The buttons stay in sight only once the end of the call has been.
  const reader = new IntersectionObserver((seen) => {
    for (const e of seen) if (e.isIntersecting) {
      e.target.closest(".card").classList.add("seen");
      reader.unobserve(e.target);
    }
  });
  const read = () => { for (const el of document.querySelectorAll(".card:not(.seen) .read")) reader.observe(el); };

  document.addEventListener("htmx:afterSwap", (e) => {
    fresh(e.target);
    const said = document.getElementById("said");
    if (said && e.detail.requestConfig) said.scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("htmx:sseMessage", (e) => fresh(e.target));
  document.addEventListener("htmx:sendError", () => document.body.classList.add("offline"));
  document.addEventListener("htmx:sseError", () => document.body.classList.add("offline"));
  document.addEventListener("htmx:sseOpen", () => document.body.classList.remove("offline"));
  document.addEventListener("DOMContentLoaded", () => fresh(document)); // a second tap may have been for the page before
  setInterval(tick, 1000);
})();
