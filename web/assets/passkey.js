// Passkeys: what the browser's authenticator signs, as the server takes it. All
// bytes go to and fro as base64url.
(() => {
  "use strict";
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const named = (keys) => keys.filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) }));

  // able says whether this browser, on this page, has passkeys at all.
  const able = () => !!self.PublicKeyCredential && isSecureContext && !/^[\d.]+$|^\[/.test(location.hostname);

  // sign asks the person for a signature of the challenge.
  const sign = async ({ challenge, site, keys = [] }) => {
    const made = await navigator.credentials.get({ publicKey: {
      challenge: bytes(challenge), rpId: site, allowCredentials: named(keys), userVerification: "required", timeout: 240000,
    } });
    const { clientDataJSON, authenticatorData, signature } = made.response;
    return { id: text(made.rawId), client: text(clientDataJSON), auth: text(authenticatorData), signature: text(signature) };
  };

  // create makes a new passkey on this device.
  const create = async ({ challenge, site, keys, user, name }) => {
    const made = await navigator.credentials.create({ publicKey: {
      challenge: bytes(challenge), rp: { id: site, name: "verifier" }, user: { id: bytes(user), name, displayName: name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })), excludeCredentials: named(keys), attestation: "none", timeout: 240000,
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
    } });
    const r = made.response, key = r.getPublicKey?.();
    return { id: text(made.rawId), client: text(r.clientDataJSON), auth: text(r.getAuthenticatorData()), public: key ? text(key) : "" };
  };

  // why says in words what came of it instead.
  const why = (e) => e.name === "InvalidStateError" ? "This device has a passkey for this page already."
    : e.name === "NotAllowedError" ? "Your device made no signature: it was cancelled, took too long, or has no passkey for this page."
      : "Your browser can't use passkeys here.";

  self.verifier.passkey = { able, sign, create, why };
})();
