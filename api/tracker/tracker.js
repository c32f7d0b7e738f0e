// Touchledger's tracker. How a page uses it, and all that it sends and stores: docs/tracking.md.
try {
(function (settings, script) {
  "use strict";
  if (!script || (window.touchledger && window.touchledger.track)) return;
  if (!settings) return console.warn("touchledger: the tracker's address needs ?key=<tracking key>");

  const HOME = new URL(".", script.src);
  const COLLECT = "api/tracking/collect";
  const UTM = ["source", "medium", "campaign", "content", "term", "id"];
  const CLICK_IDS = ["gclid", "wbraid", "gbraid", "dclid", "fbclid", "ttclid"];
  const AD_IDS = ["ad_platform", "ad_id", "ad_set_id", "adset_id", "adgroup_id", "campaign_id"];
  // of a page's query only these leave the browser: any other may name a person, or open something
  const TOLD = [...UTM.map((name) => `utm_${name}`), ...CLICK_IDS, ...AD_IDS, "tl_id"];
  const LONGEST = 1000;
  const MINUTE = 60_000;
  const LATE = 30 * 24 * 60 * MINUTE;
  const TWICE = 2000; // two clicks, or a page that sends on what it has looked at
  const MOST_WAITING = 200;
  const LARGEST = 50_000; // bytes
  const ENDED = { at: 0, index: 0 }; // a session
  // what a field says of itself (its autocomplete, type or name), and what it is called in `identify`
  const PERSONAL = new Map([
    ["email", "email"], ["e-mail", "email"],
    ["tel", "phone"], ["phone", "phone"],
    ["given-name", "firstName"], ["first_name", "firstName"], ["firstname", "firstName"],
    ["family-name", "lastName"], ["last_name", "lastName"], ["lastname", "lastName"],
  ]);

  // ---- what is kept in this browser, under "touchledger.…" of the site's own storage; no cookie is set ----

  const PREFIX = "touchledger.";
  const memory = {}; // where storage is blocked or full

  function written(value) {
    // old libraries, such as Prototype.js 1.6, have lists written as texts
    const { toJSON } = Array.prototype;
    if (!toJSON) return JSON.stringify(value);
    try {
      delete Array.prototype.toJSON;
      return JSON.stringify(value);
    } finally {
      Array.prototype.toJSON = toJSON;
    }
  }

  function read(name) {
    if (name in memory) return memory[name];
    try {
      return JSON.parse(localStorage.getItem(PREFIX + name));
    } catch {
      return null;
    }
  }

  function keep(name, value) {
    try {
      localStorage.setItem(PREFIX + name, written(value));
      delete memory[name];
    } catch {
      memory[name] = value;
    }
  }

  function forget(name) {
    delete memory[name];
    try {
      localStorage.removeItem(PREFIX + name);
    } catch {
      // what could not be kept need not be removed
    }
  }

  function kept(start) {
    const names = Object.keys(memory);
    try {
      names.push(...Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)));
    } catch {
      // blocked: memory is all there is
    }
    return names.filter((name) => name.startsWith(start)).sort();
  }

  function random() {
    // randomUUID is missing on pages without TLS
    if (crypto.randomUUID) return crypto.randomUUID();
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  // ---- may anything be kept and sent at all ----

  function isRefusedByBrowser() {
    return settings.respect_gpc && navigator.globalPrivacyControl === true;
  }

  const MUST_ASK = script.dataset.consent === "required";
  const YES = /^(true|1|yes|(grant|allow|accept)(ed)?)$/i;

  function isRefusal(answer) {
    // empty: not asked yet; any other word is a no
    return [answer.analytics, answer.analytics_storage].some((word) => !YES.test(word === "" ? !MUST_ASK : word ?? true));
  }

  function isAllowed() {
    if (isRefusedByBrowser()) return false;
    const consent = read("consent");
    return consent ? !isRefusal(consent) : !MUST_ASK;
  }

  function forgetVisitor() {
    for (const name of ["visitor", "session", ...kept("waiting.")]) forget(name);
  }

  // ---- sending: what was not confirmed stays, and is sent again under its own event id ----

  let isSending = false;
  let underWay = null;
  let pause = 2000;
  let again = 0;
  let newest = 0;

  function isTooLarge(text) {
    return new TextEncoder().encode(text).length > LARGEST;
  }

  function whole(body) {
    try {
      return written(body);
    } catch (error) {
      console.warn("touchledger: without its payload:", error);
      return written({ ...body, payload: undefined });
    }
  }

  function send(path, body) {
    let text = whole(body);
    if (isTooLarge(text)) text = written({ ...body, payload: undefined });
    // no browser lets it go while a page is left, and what comes after it would wait for it
    if (isTooLarge(text)) return console.warn("touchledger: an event is too large to be sent");
    // sent in order of these names, and what opens a visit must come before what else happens in it
    newest = Math.max(Date.now(), newest + 1);
    keep(`waiting.${newest}.${random()}`, [path, text]);
    for (const name of kept("waiting.").slice(0, -MOST_WAITING)) forget(name);
    sendWaiting();
  }

  function waiting() {
    // what was noted before the site asked waits too
    return isAllowed() ? kept("waiting.") : [];
  }

  function noted(name) {
    const row = read(name);
    return Array.isArray(row) ? row : [];
  }

  async function sendWaiting() {
    if (isSending) return;
    isSending = true;
    while ((underWay = waiting()[0])) {
      const [path, body] = noted(underWay);
      const isLate = Date.now() - underWay.split(".")[1] > LATE;
      // another tab may have sent it meanwhile
      const { status, text } = path && !isLate ? await post(path, body) : {};
      if (isForLater(status)) break;
      if (status >= 400) console.warn(`touchledger: the collector refused an event with ${status}: ${text}`);
      forget(underWay);
      pause = 2000;
    }
    if (underWay) {
      clearTimeout(again);
      again = setTimeout(sendWaiting, pause * (1 + Math.random()));
      pause = Math.min(pause * 2, 5 * MINUTE);
    }
    isSending = false;
    underWay = null;
  }

  function isForLater(status) {
    return status === 0 || status === 408 || status === 429 || status >= 500;
  }

  async function post(path, body) {
    try {
      // plain text needs no permission asked beforehand; keepalive outlives the page
      const request = { method: "POST", body, keepalive: true, credentials: "omit", referrerPolicy: "no-referrer" };
      const answer = await fetch(new URL(path, HOME), request);
      const { status } = answer;
      return { status, text: isForLater(status) || (await answer.text()) };
    } catch {
      return { status: 0 };
    }
  }

  function sendWhileLeaving() {
    // a beacon tells nothing of its end, so these stay, and the collector knows an event that comes twice
    for (const name of waiting()) {
      if (name === underWay) continue;
      const [path, body] = noted(name);
      if (path) navigator.sendBeacon(new URL(path, HOME), body);
    }
  }

  // ---- the visitor and the session ----

  let pageViewId = random();
  let shown = null; // path of the page view that was sent last
  const [navigation = {}] = performance.getEntriesByType("navigation");
  let arrival = isNavigation() ? landing() : null; // null once a session was opened from it
  // told with the first event alone: nobody arrives with what happens on a page later, however long it was read
  let came = isNavigation() ? origin(document.referrer) : undefined;

  function isNavigation() {
    // a page that is reloaded or gone back to was not reached from an ad again, but where nothing could be told before
    const isAgain = ["reload", "back_forward"].includes(navigation.type);
    return !isAgain || (MUST_ASK && !read("consent"));
  }

  function landing() {
    // a page may have cleaned its address before this script was there
    return origin(navigation.name) === `${location.origin}/` ? navigation.name : location.href;
  }

  function told(address) {
    const given = {};
    for (const [name, value] of new URL(address).searchParams) {
      given[name.toLowerCase()] = given[name.toLowerCase()] || value;
    }
    const entries = TOLD.map((name) => [name, given[name]]);
    return Object.fromEntries(entries.filter(([, value]) => value && value.length <= LONGEST && !value.includes("\0")));
  }

  function before() {
    return origin(document.referrer) === `${location.origin}/` ? told(document.referrer) : {};
  }

  function labels(parameters) {
    const utm = UTM.filter((name) => parameters[`utm_${name}`]).map((name) => [name, parameters[`utm_${name}`]]);
    const clicks = CLICK_IDS.filter((name) => parameters[name]).map((name) => [name, parameters[name]]);
    return {
      utm: utm.length ? Object.fromEntries(utm) : undefined,
      clickIds: clicks.length ? Object.fromEntries(clicks) : undefined,
    };
  }

  function isRemembering() {
    keep("session", ENDED);
    return !("session" in memory);
  }

  function currentSession() {
    const at = Date.now();
    let session = read("session");
    let parameters = arrival ? told(arrival) : {};
    // the first that is ever told here: the page before led on at once, or waited for consent in vain
    if (arrival && !session && !Object.keys(parameters).length && isRemembering()) parameters = before();
    const query = String(new URLSearchParams(parameters));
    // either way: a clock that was put back must not keep a session open
    const isOver = !session || Math.abs(at - session.at) > settings.session_idle_minutes * MINUTE;
    // who comes from another ad begins another visit
    const isOpened = isOver || (query && query !== session.query);
    if (isOpened) {
      const before = session || { index: 0 };
      session = { id: random(), previous: before.id, index: before.index + 1, query, ...labels(parameters) };
    }
    arrival = null;
    session.at = at;
    keep("session", session);
    return [session, isOpened ? query : ""];
  }

  function currentVisitor(session = {}) {
    const visitor = read("visitor") || { id: random(), utm: session.utm, clickIds: session.clickIds };
    keep("visitor", visitor);
    return visitor;
  }

  function cookie(name) {
    try {
      const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
      return found && found.slice(name.length + 1);
    } catch {
      return undefined; // in a sandbox
    }
  }

  function origin(address) {
    // URL() knows no origin of android-app://com.example/
    const [found] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]+/i.exec(address) || [];
    return found && `${found}/`;
  }

  function bare(eventName, visitor, session) {
    return {
      trackingKey: settings.key,
      eventId: random(),
      eventName,
      eventTimeClient: new Date().toISOString(),
      anonymousId: visitor.id,
      sessionId: session.id,
      pageUrl: location.origin + location.pathname,
      referrer: `${location.origin}/`,
    };
  }

  function refuse(more) {
    // tried once, and tells of the visitor only which one it is
    const visitor = read("visitor");
    if (visitor) post(COLLECT, written({ ...bare("consent", visitor, read("session") || visitor), ...more }));
    forgetVisitor();
  }

  function event(eventName, more) {
    if (!isAllowed()) return;
    const [session, query] = currentSession();
    const arrived = query ? session : {};
    const referrer = came;
    came = `${location.origin}/`;
    const visitor = currentVisitor(session);
    const consent = read("consent");
    const ga = cookie("_ga");
    send(COLLECT, {
      ...bare(eventName, visitor, session),
      userId: userIdOf(visitor),
      previousSessionId: session.previous,
      sessionIndex: session.index,
      pageViewId,
      pageUrl: location.origin + location.pathname + (query && `?${query}`),
      referrer,
      utm: arrived.utm,
      clickIds: arrived.clickIds,
      firstTouchUtm: visitor.utm,
      firstTouchClickIds: visitor.clickIds,
      fbp: cookie("_fbp"),
      fbc: cookie("_fbc"),
      gaClientId: ga && ga.split(".").slice(-2).join("."),
      consent: consent || undefined,
      ...more,
    });
  }

  // ---- what a page may call ----

  function page() {
    if (!isAllowed()) return;
    shown = location.pathname;
    pageViewId = random();
    event("page_view");
  }

  function track(eventName, properties = {}) {
    const { value, currency, order_id, ...payload } = properties;
    event(eventName, { valueAmount: value, currency, order_id, payload });
  }

  function userIdOf(given) {
    // one that the collector refuses would have every later event refused
    const isId = typeof given.userId === "number" || (typeof given.userId === "string" && given.userId.length <= 128);
    return isId ? given.userId : undefined;
  }

  function identify(person) {
    const userId = userIdOf(person);
    if (isAllowed() && userId) keep("visitor", { ...currentVisitor(), userId });
    event("identify", { identify: person });
  }

  function consent(given) {
    if (isRefusedByBrowser()) return;
    const wasAllowed = isAllowed();
    const before = JSON.stringify(read("consent"));
    let answer = YES.test(given) ? { analytics: true } : { analytics: false, marketing: false };
    if (given && typeof given === "object") answer = given;
    // a full storage has room for the answer once the visitor is forgotten
    if (isRefusal(answer)) refuse({ consent: answer });
    keep("consent", answer);
    if (!wasAllowed) page();
    else if (shown !== null && JSON.stringify(answer) !== before) event("consent");
  }

  function reset() {
    forget("visitor");
    // not forgotten: whoever comes next did not arrive from the page before
    if (read("session")) keep("session", ENDED);
  }

  // ---- forms: read when they are sent, never while somebody types ----

  let sentForm = null;
  let sentAt = 0;

  function typed(form) {
    const found = {};
    // where a password or a card is asked for, nobody gives a contact
    if (!settings.capture_typed_identity || form.querySelector("[type=password], [autocomplete^=cc-]")) return found;
    for (const field of form.elements) {
      if (!["text", "email", "tel"].includes(field.type)) continue;
      const words = [field.autocomplete.split(" ").pop(), field.type, field.name.toLowerCase()];
      const name = words.map((word) => PERSONAL.get(word)).find(Boolean);
      const value = field.value.trim();
      if (name && value && value.length <= LONGEST && !(name in found)) found[name] = value;
    }
    return found;
  }

  function sent(form) {
    if (!isAllowed() || form.dataset.touchledger === "ignore") return;
    const person = typed(form);
    const eventName = form.dataset.touchledgerEvent;
    const isTwice = form === sentForm && Date.now() - sentAt < TWICE;
    [sentForm, sentAt] = [form, Date.now()];
    if (isTwice) return;
    if (eventName) {
      const isKnown = Object.keys(person).length > 0;
      return event(eventName, { payload: { form: form.getAttribute("id") || undefined }, identify: isKnown ? person : undefined });
    }
    for (const idType of ["email", "phone"]) {
      if (!person[idType]) continue;
      send("api/tracking/identity-signal", {
        trackingKey: settings.key,
        anonymousId: currentVisitor().id,
        idType,
        idValue: person[idType],
        pageUrl: location.origin + location.pathname,
        capturedAt: new Date().toISOString(),
      });
    }
  }

  // ---- start ----

  function verify() {
    const nonce = new URL(landing()).searchParams.get("tl_verify");
    const body = { nonce, trackingKey: settings.key, pageUrl: location.origin + location.pathname };
    if (nonce) post("api/tracking/verification/beacon", written(body));
  }

  // nothing that goes wrong here may break the page
  const safely = (work) => (...given) => {
    try {
      return work(...given);
    } catch (error) {
      console.warn("touchledger:", error);
    }
  };
  const moved = safely(() => location.pathname === shown || page());

  function follow(name) {
    const original = history[name];
    history[name] = function (...given) {
      original.apply(this, given);
      moved();
    };
  }

  function start() {
    verify();
    if (isRefusedByBrowser()) refuse({ gpc: true });
    // a page may have frozen its history
    ["pushState", "replaceState"].forEach(safely(follow));
    addEventListener("popstate", moved);
    addEventListener("pageshow", (shownAgain) => shownAgain.persisted && safely(page)());
    addEventListener("pagehide", safely(sendWhileLeaving));
    addEventListener("online", sendWaiting);
    addEventListener("submit", (submitted) => safely(sent)(submitted.target), true);
    sendWaiting();
    if (shown === null) safely(page)();
  }

  const given = Array.isArray(window.touchledger) ? window.touchledger : [];
  let isBegun = false;
  const open = {};
  for (const [name, work] of Object.entries({ page, track, identify, consent, reset })) {
    // a page that is prerendered is seen later, or never
    open[name] = (...values) => (isBegun ? safely(work)(...values) : void given.push([name, ...values]));
  }
  const call = safely(([name, ...values]) => open[name](...values));
  // one that is no call takes no other along
  open.push = (...rows) => rows.forEach((row) => call(row));
  window.touchledger = open;
  const isAnswer = (row) => row && row[0] === "consent";
  const begin = safely(() => {
    isBegun = true;
    // what was answered before this script was there holds for its first page view
    open.push(...given.filter(isAnswer));
    start();
    open.push(...given.filter((row) => !isAnswer(row)));
  });
  if (document.prerendering) document.addEventListener("prerenderingchange", begin, { once: true });
  else begin();
})(null /* the settings of the key */, document.currentScript);
} catch (error) {
  // a page may have taken a name of the browser's own
  console.warn("touchledger:", error);
}
