"use strict";

// Headings become buttons that sort their table: ascending, descending, as it was.
{
  const collator = new Intl.Collator("en", { numeric: true });

  const key = (cell, numeric) => {
    const text = cell.textContent.trim().replace("−", "-");
    if (text === "") return null;
    return numeric ? parseFloat(text) : text;
  };

  const compare = (a, b) => (typeof a === "number" ? a - b : collator.compare(a, b));

  const sorted = (rows, column, descending) => {
    const cells = rows.map((row) => row.cells[column]);
    const numeric = cells.every((cell) => cell.classList.contains("number") || !cell.textContent.trim());
    const keyed = rows.map((row, i) => ({ row, at: key(cells[i], numeric) }));
    keyed.sort((a, b) => {
      if (a.at === null || b.at === null) return (a.at === null) - (b.at === null);
      return descending ? compare(b.at, a.at) : compare(a.at, b.at);
    });
    return keyed.map((item) => item.row);
  };

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const headings = [...table.tHead.querySelectorAll("th[scope=col]")];
    for (const heading of headings) {
      const column = Number(heading.dataset.column ?? heading.cellIndex);
      if (original.length && original[0].cells[column].classList.contains("number")) {
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
}
