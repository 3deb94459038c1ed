// Chooses every row of a list at once, and tells how many are chosen.
"use strict";
{
  const form = document.querySelector("form[data-choice]");
  const own = form && [...form.querySelectorAll("tbody input[type=checkbox]")];
  const all = form && [...form.querySelectorAll("[data-all]")];
  const told = form?.querySelector("[data-chosen]");

  function tell() {
    const chosen = own.filter((each) => each.checked).length;
    for (const each of all) {
      each.checked = chosen === own.length;
      each.indeterminate = chosen > 0 && chosen < own.length;
    }
    told.textContent = chosen ? told.dataset.chosen.replace("000", chosen) : "";
  }

  if (form) {
    form.addEventListener("change", (event) => {
      if (event.target.matches("[data-all]")) for (const each of own) each.checked = event.target.checked;
      tell();
    });
    tell();
  }
}
