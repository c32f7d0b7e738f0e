"use strict";
// The token stands behind the "#", which no browser sends anywhere; it is taken from there at once, and kept in this
// tab while the person signs in.
const KEEP = "touchledger-invitation";
const given = location.hash.slice(1);
if (given) {
  sessionStorage.setItem(KEEP, given);
  history.replaceState(null, "", location.pathname);
}
if (document.querySelector("[data-over]")) sessionStorage.removeItem(KEEP);
const token = sessionStorage.getItem(KEEP);
const field = document.getElementById("token");
if (field && token) {
  // what was typed instead and refused stays as it was typed
  field.value ||= token;
  // after a refusal it may be the code that was wrong
  document.getElementById("typed").hidden = !document.querySelector("[role=alert]");
}
