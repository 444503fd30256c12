/** The page that analyses captures in the browser. */

import { render } from "preact";
import { useEffect } from "preact/hooks";
import "../src/styles/base.css";
import "./page.css";
import { type Sample, sampleFile, samples } from "./payload";
import { type Found, again, read, state, take } from "./state";

const OFFLINE = "Nothing leaves this page: the capture is read and analysed in your browser, and the page may not open any connection.";

function Page(): preact.JSX.Element {
  const now = state.value;
  return (
    <>
      <header class="bar">
        <span class="mark" aria-hidden="true">
          rexmit
        </span>
        <h1>{now.at === "shown" ? now.found.title : "Why was this TCP transfer slow?"}</h1>
        {now.at === "shown" && <Exports found={now.found} />}
      </header>
      <main id="main" class={`web web-${now.at}`}>
        {now.at === "start" && <Start error={now.error} />}
        {now.at === "asking" && <Asking files={now.files} />}
        {now.at === "reading" && <Reading {...now} />}
        {now.at === "shown" && <Shown found={now.found} warning={now.warning} />}
      </main>
    </>
  );
}

function Start({ error }: { error: string | null }): preact.JSX.Element {
  const chosen = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    take([...(input.files ?? [])]);
    input.value = "";
  };
  return (
    <>
      {error !== null && (
        <p class="failure" role="alert">
          {error}
        </p>
      )}
      <label class="drop">
        <strong>Drop a capture here, or choose one</strong>
        <span>
          pcap, pcapng or snoop, plain or in gzip, zstd or xz; several files of one capture, or two of the same transfer
          from both ends
        </span>
        <input type="file" multiple onChange={chosen} />
      </label>
      <p class="offline">{OFFLINE}</p>
      <h2>No capture at hand?</h2>
      <ul class="samples">
        {samples().map((sample) => (
          <li key={sample.name}>
            <Try sample={sample} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Try({ sample }: { sample: Sample }): preact.JSX.Element {
  return (
    <>
      <button type="button" onClick={() => void read([sampleFile(sample)], false)}>
        {sample.name}
      </button>
      <span>{sample.about}</span>
    </>
  );
}

function Asking({ files }: { files: File[] }): preact.JSX.Element {
  return (
    <section class="asking" aria-labelledby="question">
      <h2 id="question">How do these two files belong together?</h2>
      <p>{files.map((file) => file.name).join(" and ")}</p>
      <button type="button" onClick={() => void read(files, false)}>
        One capture in two files
      </button>
      <button type="button" onClick={() => void read(files, true)}>
        The same transfers, captured at both ends
      </button>
      <button type="button" onClick={() => again()}>
        Neither
      </button>
    </section>
  );
}

function Reading(at: { files: File[]; done: number; total: number; packets: number }): preact.JSX.Element {
  const share = at.total === 0 ? 0 : Math.min(1, at.done / at.total);
  const name = at.files.length === 1 ? at.files[0].name : `${at.files.length} files`;
  return (
    <section class="reading">
      <h2>Reading {name}</h2>
      <progress aria-label="Share of the bytes that are read" max={1} value={share} />
      <p role="status">
        {Math.round(100 * share)}%, {at.packets.toLocaleString("en")} packets
      </p>
      <button type="button" onClick={() => again()}>
        Stop
      </button>
    </section>
  );
}

function Exports({ found }: { found: Found }): preact.JSX.Element {
  const stem = found.title.replace(/\.(gz|zst|xz)$/, "").replace(/\.\w+$/, "");
  return (
    <nav aria-label="What was found">
      <button type="button" onClick={() => save(found.report, `${stem}.html`)}>
        Save the report
      </button>
      <button type="button" onClick={() => save(found.json, `${stem}.json`)}>
        Save the JSON
      </button>
      <button type="button" onClick={() => again()}>
        Another capture
      </button>
    </nav>
  );
}

function Shown({ found, warning }: { found: Found; warning: string | null }): preact.JSX.Element {
  return (
    <>
      {warning !== null && (
        <p class="failure" role="alert">
          {warning}
        </p>
      )}
      <iframe title={`Report on ${found.title}`} src={found.address} />
    </>
  );
}

function save(what: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(what);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** A file that is dropped anywhere is meant for this page. */
function Dropping(): preact.JSX.Element {
  useEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const dropped = (event: DragEvent): void => {
      event.preventDefault();
      take([...(event.dataTransfer?.files ?? [])]);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", dropped);
  }, []);
  return <Page />;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const coloured = (): void => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
};
dark.addEventListener("change", coloured);
coloured();
// The page stands before what it unpacks later has been read.
const root = document.getElementById("app");
if (root !== null) render(<Dropping />, root);
