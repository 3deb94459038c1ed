/* Pages with a file of receivers: says which columns are still to be mapped, uploads a campaign's file and shows its
   progress; without this script, the browser posts the form. Keeps the date, its card and the button consistent. */
(function () {
  "use strict";

  // What is mapped to no column or to several is told as it is mapped; until then, nothing can be uploaded.
  function checkColumns() {
    const told = document.querySelector("#columns [data-needed]");
    if (!told) return;
    const roles = [...document.querySelectorAll("#columns select")].map((each) => each.value).filter(Boolean);
    const missing = JSON.parse(told.dataset.needed).filter(([role]) => !roles.includes(role));
    const isTwice = new Set(roles).size < roles.length;
    const names = missing.map(([, name]) => name).join(", ");
    const text = missing.length ? told.dataset.missing.replace("000", names) : isTwice ? told.dataset.twice : "";
    if (text) told.textContent = text;
    told.hidden = !text;
    submitOf(told.closest("form")).disabled = Boolean(text);
    sayInBar(text);
  }

  // The bar at the foot may hide the place where it is told.
  function sayInBar(text) {
    const bar = document.getElementById("upload-why");
    if (bar) bar.textContent = text;
  }

  // The button of a form may stand in the bar at the foot of the page.
  function submitOf(form) {
    return [...form.elements].find((each) => each.type === "submit");
  }

  // Another file has columns of its own.
  function forget(form) {
    document.getElementById("columns").replaceChildren();
    submitOf(form).disabled = false;
    sayInBar("");
  }

  // A refusal is told beside the form, so that the chosen file and the mapping stay; the poll goes on from there.
  function refusal(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const refused = page.getElementById("refused");
    if (!refused) return "";
    const poll = page.getElementById("checking");
    document.getElementById("checking").replaceWith(poll);
    htmx.process(poll);
    return [...refused.querySelectorAll("li")].map((each) => each.textContent.trim()).join(" ");
  }

  let isUploading = false;
  function upload(form) {
    const file = form.querySelector("input[type=file]").files[0];
    if (!file) return;
    const bar = form.querySelector("progress");
    const status = form.querySelector(".going [role=status]");
    const button = submitOf(form);
    const alert = form.querySelector(".going [role=alert]");
    const request = new XMLHttpRequest(); // fetch reports no upload progress
    const fail = (text) => {
      isUploading = false;
      button.disabled = false;
      bar.hidden = true;
      status.textContent = "";
      alert.textContent = text;
      alert.hidden = false;
      alert.scrollIntoView({ block: "nearest" });
    };
    const failWithStatus = () => {
      const texts = { 403: form.dataset.old, 409: form.dataset.old, 413: form.dataset.large, 429: form.dataset.busy };
      fail(texts[request.status] || form.dataset.failed);
    };
    if (file.size > Number(form.dataset.most)) {
      fail(form.dataset.large); // the service would close the connection, and the browser could not tell why
      return;
    }
    request.open("POST", form.action);
    request.upload.addEventListener("progress", (sent) => {
      if (!sent.lengthComputable) return;
      const percent = Math.floor((100 * sent.loaded) / sent.total);
      if (percent < 100) bar.value = percent;
      else bar.removeAttribute("value"); // the file is there, and is being checked
      status.textContent =
        percent < 100 ? form.dataset.sending.replace("000", String(percent)) : form.dataset.checking;
    });
    request.addEventListener("load", () => {
      const refused = request.status === 200 ? refusal(request.responseText) : "";
      if (refused) fail(refused);
      else if (request.status === 200) window.location.reload();
      else failWithStatus();
    });
    request.addEventListener("error", failWithStatus);
    isUploading = true;
    button.disabled = true;
    alert.hidden = true;
    bar.value = 0;
    bar.hidden = false;
    request.send(new FormData(form));
  }

  // Whoever picks a date wants it then; whoever chooses another card wants no date. The button says which it is.
  function schedule({ name, value, form }) {
    const { sendDate, later } = form.elements;
    if (name === "sendDate" && value) later.value = "1";
    if (name === "later" && value !== "1") sendDate.value = "";
    const button = submitOf(form);
    if (!button.dataset.later) return;
    const at = later.value === "1" ? sendDate.value : later.value;
    const shown = `${at.slice(5, 10).replace("-", "/")} ${at.slice(11, 16)}`;
    button.textContent = at ? button.dataset.later.replace("000", shown) : button.dataset.now;
    const told = document.getElementById("picked");
    told.textContent = later.value === "1" && at ? shown : told.dataset.about;
  }

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-upload]")) return;
    event.preventDefault();
    upload(event.target);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("#columns select")) checkColumns();
    else if (event.target.matches("form[data-upload] input[type=file]")) forget(event.target.form);
    else if (["sendDate", "later"].includes(event.target.name)) schedule(event.target);
  });
  document.addEventListener("input", (event) => {
    if (event.target.name === "sendDate") schedule(event.target);
  });
  document.addEventListener("htmx:afterSettle", checkColumns);
  // The answer to the upload says what has become of it, not a poll that opens the page anew.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const isLate = !document.contains(event.detail.elt); // asked before the answer, which has replaced the poll
    if ((isUploading || isLate) && event.detail.xhr.getResponseHeader("HX-Refresh")) event.preventDefault();
  });
})();
