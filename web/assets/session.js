// The login of this browser. The server gives a session for a token or a link;
// it is kept in IndexedDB, which belongs to this origin alone: scheme, host and
// port. A cookie would go to every port of the host. Nothing here needs a
// window, so a service worker can import this file.
(() => {
  "use strict";
  const header = "X-Verifier-Session";

  const open = () => new Promise((resolve, reject) => {
    const request = indexedDB.open("verifier", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("login");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

  // within runs one transaction. What it gives is the result of the request that
  // work returns.
  const within = async (mode, work) => {
    const db = await open();
    try {
      return await new Promise((resolve, reject) => {
        const change = db.transaction("login", mode);
        const request = work(change.objectStore("login"));
        change.oncomplete = () => resolve(request.result);
        change.onabort = () => reject(change.error);
      });
    } finally {
      db.close();
    }
  };

  const kept = () => within("readonly", (login) => login.get("session"));
  const keep = (session) => within("readwrite", (login) => login.put(session, "session"));

  // forget leaves a newer session of another tab alone.
  const forget = (session) => within("readwrite", (login) => {
    const request = login.get("session");
    request.onsuccess = () => { if (request.result === session) login.delete("session"); };
    return request;
  });

  // ask is fetch with the session. Without one it asks nobody and gives the 401
  // that the server would give.
  const ask = async (url, options = {}) => {
    const session = await kept();
    if (!session) return new Response(null, { status: 401 });
    const answer = await fetch(url, { ...options, cache: "no-store", redirect: "error", headers: { ...options.headers, [header]: session } });
    if (answer.status === 401) await forget(session);
    return answer;
  };

  self.verifier = { keep, forget, kept, ask };
})();
