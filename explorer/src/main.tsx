import { render } from "preact";
import { openStore } from "./data/store";
import { App } from "./ui/app";
import { begin, failure } from "./view/app";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/print.css";

async function start(): Promise<void> {
  const root = document.getElementById("app");
  if (root === null) return;
  try {
    const opened = await openStore(document);
    if (opened !== null) {
      begin(opened);
      document.title = `${opened.meta.title} – rexmit`;
    }
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error);
  }
  render(<App />, root);
}

void start();
