/* Files are dropped on a zone or chosen in it; one that is chosen before the page that takes it is carried there. */
(function () {
  "use strict";
  const STORE = "carried";

  // What a browser keeps of a page for the next one: files fit only into its database.
  function withStore(mode, act) {
    return new Promise((resolve, reject) => {
      const opening = indexedDB.open("pabal", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => {
        const base = opening.result;
        const transaction = base.transaction(STORE, mode);
        const request = act(transaction.objectStore(STORE));
        transaction.oncomplete = () => (base.close(), resolve(request.result));
        transaction.onerror = () => (base.close(), reject(transaction.error));
      };
    });
  }

  function tell(zone, file) {
    const told = zone.querySelector(".chosen") || zone.appendChild(Object.assign(document.createElement("p"), { className: "chosen" }));
    told.textContent = file ? `${file.name} · ${Math.max(1, Math.round(file.size / 1024)).toLocaleString()} KB` : "";
  }

  function give(input, given) {
    const files = new DataTransfer();
    for (const file of input.multiple ? given : [given[0]]) files.items.add(file);
    input.files = files.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  }

  async function carry(zone, file) {
    const button = document.getElementById(zone.dataset.carries);
    try {
      await withStore("readwrite", (store) => store.put(file, "file"));
    } catch (error) {
      // it is chosen again on the next page
    }
    button.click();
  }

  function enhance(zone) {
    if (zone.classList.contains("scripted")) return;
    const input = zone.querySelector("input[type=file]");
    zone.classList.add("scripted");
    input.disabled = false;
    for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => (event.preventDefault(), zone.classList.add("over-it")));
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over-it"));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) give(input, event.dataTransfer.files);
    });
    input.addEventListener("change", () => {
      tell(zone, input.files[0]);
      if (zone.dataset.carries && input.files[0]) carry(zone, input.files[0]);
    });
    if (zone.hasAttribute("data-takes")) take(input);
  }

  async function take(input) {
    try {
      const file = await withStore("readwrite", (store) => {
        const found = store.get("file");
        store.delete("file");
        return found;
      });
      if (file && !input.files.length) give(input, [file]);
    } catch (error) {
      // nothing was carried, or nothing can be
    }
  }

  const enhanceAll = () => document.querySelectorAll(".drop").forEach(enhance);
  document.addEventListener("htmx:afterSettle", enhanceAll);
  enhanceAll();
})();
