/* What all pages share: shows that a request is under way, and says what became of one that failed; asks for the
   password in place where the session has ended; folds filters on a phone; copies keys. */
(function () {
  "use strict";
  const busy = document.getElementById("busy");
  const failed = document.getElementById("failed");
  const dialog = document.getElementById("again");
  const TIMEOUT_MS = 20000;
  let underWay = 0;
  let repeat = null; // what to do again

  function count(change) {
    underWay = Math.max(0, underWay + change);
    busy.hidden = underWay === 0;
  }

  // What a request risks that fails: nothing, a preview, a figure that is not fresh, a change, or a send.
  function riskOf(element, verb) {
    const marked = element.closest("[data-risk]");
    return marked ? marked.dataset.risk : verb === "get" ? "poll" : "change";
  }

  function tell(risk, why, again) {
    if (repeat && !again) return; // what someone is asked to do again stays
    repeat = again;
    failed.firstElementChild.textContent = [why, failed.dataset[risk]].filter(Boolean).join(" ");
    failed.lastElementChild.hidden = !again;
    failed.hidden = false;
    if (risk !== "poll" && risk !== "preview") failed.scrollIntoView({ block: "nearest" });
  }

  function clear() {
    failed.hidden = true;
    repeat = null;
  }

  // What the service says about an answer that is an error.
  function reasonIn(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    return [...page.querySelectorAll("#content > p")].slice(0, -1).map((each) => each.textContent.trim()).join(" ");
  }

  failed.lastElementChild.addEventListener("click", () => {
    const again = repeat;
    clear();
    if (again) again();
  });

  /* Requests of htmx */

  function isQuiet(element) {
    return element.matches("[hx-trigger^=every], [data-risk=preview]");
  }

  function again(detail) {
    const element = detail.elt;
    if (isQuiet(element)) return null; // the next one comes by itself
    return () => (element.matches("button") ? element.click() : htmx.trigger(element, "change"));
  }

  document.addEventListener("htmx:beforeSend", (event) => {
    if (!isQuiet(event.detail.elt)) count(1);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const detail = event.detail;
    if (!isQuiet(detail.elt)) count(-1);
    // A preview or a poll that succeeds says nothing about the request that failed before it.
    if (detail.successful && (repeat === null || !isQuiet(detail.elt))) clear();
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      const detail = event.detail;
      tell(riskOf(detail.elt, detail.requestConfig.verb), "", again(detail));
    });
  }
  document.addEventListener("htmx:responseError", (event) => {
    const detail = event.detail;
    const status = detail.xhr.status;
    if (status === 401) askPassword(again(detail) || (() => htmx.trigger(detail.elt, "input")));
    else if (status !== 403 && status !== 409) {
      const risk = status < 500 ? "nothing" : riskOf(detail.elt, detail.requestConfig.verb);
      tell(risk, reasonIn(detail.xhr.responseText), again(detail));
    }
  });

  /* Forms that the browser posts: those that send or stop something are posted here, so that a failure is told */

  async function post(form, submitter) {
    const fields = new URLSearchParams(new FormData(form, submitter));
    const repeatIt = () => post(form, submitter);
    count(1);
    try {
      const target = (submitter && submitter.getAttribute("formaction")) || form.getAttribute("action");
      const answer = await fetch(target, { method: "POST", body: fields, signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (answer.redirected && new URL(answer.url).pathname === "/console/login") return askPassword(repeatIt);
      if (answer.redirected) return location.assign(answer.url);
      const html = await answer.text();
      if (answer.status >= 500) return tell(form.dataset.risk, reasonIn(html), repeatIt);
      const page = new DOMParser().parseFromString(html, "text/html");
      document.title = page.title;
      document.getElementById("content").replaceWith(page.getElementById("content"));
      htmx.process(document.getElementById("content"));
      const focus = document.querySelector("#content [autofocus], #content [role=alert]");
      if (focus) focus.scrollIntoView({ block: "center" });
    } catch (error) {
      tell(form.dataset.risk, "", repeatIt);
    } finally {
      count(-1);
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post") return;
    if (!navigator.onLine) {
      event.preventDefault();
      tell("nothing", "", null);
    } else if (form.matches("form[data-risk]:not([hx-post])")) {
      event.preventDefault();
      if (busy.hidden) post(form, event.submitter);
    } else if (!form.matches("[data-download], [data-upload]")) {
      busy.hidden = false; // until the next page is there
    }
  });
  window.addEventListener("pageshow", () => count(-underWay));

  /* A session that has ended */

  let isAsking = false;
  async function askPassword(again) {
    if (!dialog) return location.reload();
    if (isAsking) return;
    isAsking = true;
    const asked = new URLSearchParams({ name: dialog.dataset.user });
    try {
      await show(await fetch("/console/login/again?" + asked), again);
    } catch (error) {
      tell("nothing", "", () => askPassword(again));
    }
    isAsking = dialog.open;
  }
  if (dialog) dialog.addEventListener("close", () => (isAsking = false));

  // Somebody who signs in in another tab goes on here by coming back.
  let goOn = null;
  document.addEventListener("visibilitychange", async () => {
    if (document.hidden || !dialog || !dialog.open) return;
    const asked = new URLSearchParams({ name: dialog.dataset.user });
    const answer = await fetch("/console/login/again?" + asked).catch(() => null);
    if (answer && (answer.status === 204 || answer.status === 409)) await show(answer, goOn);
  });

  // 204: signed in. 409: as somebody else, whose page this is not. Else: the form, with what is wrong.
  async function show(answer, again) {
    goOn = again;
    if (answer.status === 204) {
      renewTokens(answer.headers.get("x-csrf-token"));
      dialog.close();
      clear();
      if (again) again();
    } else if (answer.status === 409) {
      location.reload();
    } else {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      dialog.replaceChildren(...page.body.childNodes);
      const form = dialog.querySelector("form");
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        event.stopPropagation();
        const fields = new URLSearchParams(new FormData(form));
        fields.set("account", dialog.dataset.account);
        try {
          await show(await fetch(form.action, { method: "POST", body: fields }), again);
        } catch (error) {
          form.querySelector("[role=alert]").textContent = dialog.dataset.away;
        }
      });
      if (!dialog.open) dialog.showModal();
      form.querySelector("input:not([type=hidden], [readonly])").focus();
    }
  }

  // Forms of this page belong to the session that has ended: the new one has another secret, for the same account.
  function renewTokens(secret) {
    const renew = (token) => token.replace(/^[0-9a-f]{64}/, secret);
    for (const field of document.querySelectorAll("input[name=csrf]")) field.value = renew(field.value);
    const headers = JSON.parse(document.body.getAttribute("hx-headers"));
    headers["X-CSRF-Token"] = renew(headers["X-CSRF-Token"]);
    document.body.setAttribute("hx-headers", JSON.stringify(headers));
  }

  /* Filters, which fold on a phone unless they are used */

  if (matchMedia("(max-width: 44rem)").matches) {
    for (const filters of document.querySelectorAll("details.folds:not([data-used])")) filters.open = false;
  }

  /* Keys to copy */

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
    } catch (error) {
      getSelection().selectAllChildren(button.previousElementSibling); // to be copied by hand
    }
  });
})();
