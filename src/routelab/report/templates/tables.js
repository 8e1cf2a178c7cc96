"use strict";

// Headings become buttons that sort their table: ascending, descending, as it was. A table in an
// element with data-filter gets a text box, and drop-downs for the columns that the attribute names.
{
  const collator = new Intl.Collator("en", { numeric: true });

  const isNumber = (cell) => cell.classList.contains("number") || cell.style.textAlign === "right";

  const key = (cell, numeric) => {
    const text = cell.textContent.trim().replace("−", "-");
    if (text === "") return null;
    return numeric ? parseFloat(text) : text;
  };

  const compare = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));

  const sorted = (rows, column, descending) => {
    const cells = rows.map((row) => row.cells[column]);
    const numeric = cells.every((cell) => isNumber(cell) || !cell.textContent.trim());
    const keyed = rows.map((row, i) => ({ row, at: key(cells[i], numeric) }));
    keyed.sort((a, b) => {
      if (a.at === null || b.at === null) return (a.at === null) - (b.at === null);
      return descending ? compare(b.at, a.at) : compare(a.at, b.at);
    });
    return keyed.map((item) => item.row);
  };

  for (const table of document.querySelectorAll("table[data-sortable], [data-filter] table")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const headings = [...table.tHead.querySelectorAll("th:not([scope=colgroup])")];
    for (const heading of headings) {
      const column = Number(heading.dataset.column ?? heading.cellIndex);
      if (original.length && isNumber(original[0].cells[column])) {
        heading.classList.add("number");
      }
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" };
        const order = next[heading.getAttribute("aria-sort")];
        for (const other of headings) other.setAttribute("aria-sort", "none");
        heading.setAttribute("aria-sort", order);
        body.append(...(order === "none" ? original : sorted(original, column, order === "descending")));
      });
    }
  }

  for (const place of document.querySelectorAll("[data-filter]")) {
    const rows = [...place.querySelectorAll("tbody tr")];
    const headings = place.querySelectorAll("thead th");
    const bar = document.createElement("div");
    bar.className = "filter";
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "Filter rows";
    box.ariaLabel = "Filter rows: all words that they contain";
    const count = document.createElement("output");
    const choices = place.dataset.filter.split(" ").map((column) => {
      const choice = document.createElement("select");
      const name = headings[column].textContent.trim();
      choice.ariaLabel = `Rows to show: ${name}`;
      choice.add(new Option(`${name}: all`, ""));
      const texts = new Set(rows.map((row) => row.cells[column].textContent.trim()));
      for (const text of [...texts].filter(Boolean).sort(collator.compare)) choice.add(new Option(text, text));
      return { choice, column };
    });
    const show = () => {
      const words = box.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
        row.hidden = !words.every((word) => text.includes(word)) || choices.some(
          ({ choice, column }) => choice.value && row.cells[column].textContent.trim() !== choice.value,
        );
      }
      count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    };
    bar.append(box, ...choices.map(({ choice }) => choice), count);
    bar.addEventListener("input", show);
    place.prepend(bar);
    show();
  }
}
