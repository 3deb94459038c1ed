/* What all pages share: posts forms, shows that a request is under way, and says what became of one that failed; asks
   for the password in place where the session has ended; copies keys. */
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
  // A poll opens the page anew when it has changed; not while a form is posted or is to be tried again.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const reloads = event.detail.xhr.getResponseHeader("HX-Refresh") === "true";
    if (reloads && (repeat || underWay) && isQuiet(event.detail.elt)) event.preventDefault();
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

  /* Forms: they are posted here and not by the browser, so that a failure is told and what was typed stays */

  // Of each form or button that was posted without an answer: what was posted, and under which id. Posted again as it
  // was, it has the same id, by which the service knows that it has done it already.
  const unanswered = new WeakMap();
  const ID_BYTES = 16;

  function idOf(element, target, fields) {
    // Where no file is chosen there is an empty one, which is new each time.
    const plain = (value) => (value instanceof File ? value.size && [value.name, value.size, value.lastModified] : value);
    const given = [...fields].filter(([name]) => name !== "csrf").map(([name, value]) => [name, plain(value)]);
    const content = JSON.stringify([target, given]);
    const before = unanswered.get(element);
    if (before && before.content === content) return before.id;
    const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
    const id = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    unanswered.set(element, { content, id });
    return id;
  }

  function isAnswer(status) {
    return status > 0 && status < 500;
  }

  document.addEventListener("htmx:configRequest", (event) => {
    const detail = event.detail;
    // htmx posts a form to where the button leads that was pressed last: a preview would send.
    if (detail.elt.matches("form[hx-post]")) detail.path = detail.elt.getAttribute("hx-post");
    if (detail.verb !== "post" || isQuiet(detail.elt)) return;
    detail.headers["X-Form-Id"] = idOf(detail.elt, detail.path, detail.formData);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (isAnswer(event.detail.xhr.status)) unanswered.delete(event.detail.elt);
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const detail = event.detail;
    if (navigator.onLine || isQuiet(detail.elt) || detail.requestConfig.verb !== "post") return;
    event.preventDefault();
    tell("offline", "", again(detail));
  });

  const posting = new WeakSet();
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (posting.has(event.detail.elt)) event.preventDefault();
  });

  async function post(form, submitter) {
    const repeatIt = () => post(form, submitter);
    if (posting.has(form)) return;
    if (!navigator.onLine) return tell("offline", "", repeatIt);
    const target = (submitter && submitter.getAttribute("formaction")) || form.getAttribute("action");
    const data = new FormData(form, submitter);
    const hasFiles = form.enctype === "multipart/form-data";
    const request = { method: "POST", body: hasFiles ? data : new URLSearchParams(data) };
    request.headers = { "X-Form-Id": idOf(form, target, data) };
    if (!hasFiles) request.signal = AbortSignal.timeout(TIMEOUT_MS);
    posting.add(form);
    htmx.trigger(form, "htmx:abort"); // a preview that answers later would undo what the form answers
    count(1);
    const rest = showWork(submitter || form.querySelector("button:not([type=button])"));
    let isLeaving = false;
    try {
      const answer = await fetch(target, request);
      isLeaving = await showAnswer(answer, riskOf(submitter || form, "post"), repeatIt, form);
      if (isAnswer(answer.status)) unanswered.delete(form);
    } catch (error) {
      tell(riskOf(submitter || form, "post"), "", repeatIt);
    } finally {
      posting.delete(form);
      if (!isLeaving) count(-1); // else until the next page is there
      if (!isLeaving) rest();
    }
  }

  // A button that was pressed rests until there is an answer, and says for how long it has been working.
  function showWork(button) {
    if (!button || button.disabled) return () => {};
    const begun = Date.now();
    const text = failed.dataset.elapsed;
    const timer = setInterval(() => {
      button.dataset.elapsed = text.replace("000", String(Math.round((Date.now() - begun) / 1000)));
    }, 1000);
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    const rest = () => {
      clearInterval(timer);
      button.disabled = false;
      button.removeAttribute("aria-busy");
      delete button.dataset.elapsed;
    };
    addEventListener("pageshow", rest, { once: true });
    return rest;
  }

  // A search that takes longer than a moment: what it will find is shown in its shape, and the button counts seconds.
  const MOMENT_MS = 400;
  const SHAPE = '<div class="skeleton" aria-hidden="true">' + "<i></i>".repeat(12) + "</div>";
  function awaitPage(form) {
    const rest = showWork(form.querySelector("button:not([type=button])"));
    const timers = [setTimeout(() => form.insertAdjacentHTML("afterend", SHAPE), MOMENT_MS), setTimeout(restore, TIMEOUT_MS)];
    function restore() {
      timers.forEach(clearTimeout);
      rest();
      form.parentElement.querySelector(".skeleton")?.remove();
    }
    addEventListener("pageshow", restore, { once: true });
  }
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented && event.target.matches("[role=search]")) awaitPage(event.target);
  });
  document.addEventListener("click", (event) => {
    const isPlain = !(event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey);
    const form = isPlain && event.target.closest("nav:is(.parts, .pages) a") && document.querySelector("main form[role=search]");
    if (form) awaitPage(form);
  });

  // Does what the browser would do with an answer; returns whether another page is being opened.
  async function showAnswer(answer, risk, repeatIt, form) {
    const refresh = /url=(.*)$/.exec(answer.headers.get("refresh") || "");
    if (answer.redirected || refresh) {
      location.assign(answer.redirected ? answer.url : refresh[1]);
      return true;
    }
    const attached = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(answer.headers.get("content-disposition") || "");
    if (attached) {
      save(await answer.blob(), decodeURIComponent(attached[1]));
      clear();
      return false;
    }
    const html = await answer.text();
    if (answer.status === 401 && !html) {
      askPassword(repeatIt);
      return false;
    }
    const page = new DOMParser().parseFromString(html, "text/html");
    const content = page.getElementById("content");
    if (!content || (answer.status >= 500 && !content.querySelector("form"))) {
      tell(isAnswer(answer.status) ? "nothing" : risk, reasonIn(html), repeatIt);
      return false;
    }
    const refused = form.matches("[data-keeps]") && page.getElementById("refused");
    if (refused) keepForm(form, refused);
    else replaceContent(page, content, answer.headers.get("content-location"));
    return false;
  }

  // What was refused is told above the form, which keeps its file.
  function keepForm(form, refused) {
    clear();
    document.getElementById("refused")?.remove();
    form.before(refused);
    refused.scrollIntoView({ block: "center" });
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), TIMEOUT_MS);
  }

  function replaceContent(page, content, address) {
    clear();
    const loaded = new Set([...document.scripts].map((script) => script.src));
    const scripts = [...page.scripts].filter((each) => !loaded.has(each.src) || each.hasAttribute("data-rerun"));
    document.title = page.title;
    if (address) history.replaceState(null, "", address);
    document.getElementById("content").replaceWith(content);
    document.body.setAttribute("hx-headers", page.body.getAttribute("hx-headers"));
    for (const { src } of scripts) {
      const script = Object.assign(document.createElement("script"), { src, async: false }); // in their order
      document.head.append(script);
    }
    htmx.process(content);
    document.dispatchEvent(new Event("htmx:afterSettle")); // what draws on the page draws on the new content
    const focus = content.querySelector("[autofocus], [role=alert]:not([hidden])");
    scrollTo(0, 0);
    if (!focus) return content.focus({ preventScroll: true });
    focus.scrollIntoView({ block: "center" });
    focus.focus();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.matches("[data-upload]")) return;
    event.preventDefault();
    post(form, event.submitter);
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

  /* Toasts, which are closed */

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-close]");
    if (button) button.closest(".toasts").remove();
  });

  /* The answer no to a question that a button has unfolded */

  document.addEventListener("click", (event) => {
    const asked = event.target.closest("[data-no]")?.closest("details");
    if (!asked) return;
    asked.open = false;
    asked.querySelector("summary").focus();
  });

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
