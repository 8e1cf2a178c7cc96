// Commands get a button that copies them.
for (const source of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${source.textContent.split("\n")[0]}`);
  button.addEventListener("click", async () => {
    let done;
    try {
      await navigator.clipboard.writeText(source.textContent);
      done = true;
    } catch {
      // no clipboard without a secure context: select, and try the old way
      getSelection().selectAllChildren(source);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  source.after(button);
}
