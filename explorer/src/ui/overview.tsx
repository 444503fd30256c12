/** The answer on one page: where the time went, and which flows lost the most. */

import type { Detail, Source } from "../data/meta";
import { count, seconds, size } from "../draw/units";
import { flow, go, inWords, loading, meta, missing, place, worstFlow } from "../view/app";
import { AnswerPart } from "./answer";
import { CauseBar } from "./causebar";
import { EpisodeTable } from "./episodes";
import { Figures } from "./figures";
import { FlowTable } from "./flowtable";
import { Timeline } from "./timeline";
import { TurnTable, turnsInWords } from "./turns";

export function Overview(): preact.JSX.Element {
  const { source: id, flow: wanted } = place.value;
  const source = meta().sources.find((s) => s.id === id) ?? meta().sources[0];
  // Details that META has no room for come with their flow.
  void flow.value;
  if (source === undefined) return <p>This report has no capture.</p>;
  const detail = source.details.find((d) => d.flow === wanted) ?? null;
  const notes = [...meta().notes, ...source.warnings];
  return (
    <>
      <Sources shown={source} />
      <p class="facts">{factsOf(source)}</p>
      {notes.length > 0 && (
        <ul class="notes" aria-label="What limits the answer">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {detail !== null ? <FlowSummary detail={detail} /> : <NoDetail />}
      <FlowTable source={source} />
    </>
  );
}

function FlowSummary({ detail }: { detail: Detail }): preact.JSX.Element {
  const data = flow.value;
  const { row } = detail;
  return (
    <div class="summary">
      <section class="answer-side" aria-labelledby="answer-title">
        <h2 id="answer-title" class="ends">
          {row.sender} <span class="arrow">→</span> {row.receiver}
        </h2>
        <AnswerPart detail={detail} />
        <CauseBar detail={detail} />
        <h3>When</h3>
        {data !== null && data.detail === detail ? <Timeline data={data} /> : <div class="timeline" />}
        <EpisodeTable detail={detail} most={8} />
        {data !== null && data.detail === detail && data.turns.length > 0 && (
          <>
            <h3>Turns</h3>
            <p>{turnsInWords(data.turns)}</p>
            <TurnTable key={detail.key} data={data} most={5} />
          </>
        )}
      </section>
      <aside aria-label="Figures of this flow">
        <Figures detail={detail} />
        <button type="button" class="primary" onClick={() => go({ page: "flow" })}>
          Open this flow
        </button>
      </aside>
    </div>
  );
}

function NoDetail(): preact.JSX.Element {
  if (loading.value) return <p class="quiet">Loading…</p>;
  if (place.value.flow === null) return <p>No TCP connection in it carries data.</p>;
  return <p>{missing()}</p>;
}

function Sources({ shown }: { shown: Source }): preact.JSX.Element | null {
  const { sources } = meta();
  if (sources.length < 2) return null;
  return (
    <div class="switch sources" role="group" aria-label="Captures and runs">
      {sources.map((source) => (
        <button
          type="button"
          key={source.id}
          aria-pressed={source.id === shown.id}
          onClick={() => go({ source: source.id, flow: worstFlow(meta(), source.id) })}
        >
          {source.label}
        </button>
      ))}
    </div>
  );
}

/** `12,404 packets, 7.4 s, Ethernet, snap 96, offloads off, taken at the sender`. */
function factsOf(source: Source): string {
  const capture = source.capture as {
    packets?: number;
    link_types?: string[];
    snaplen?: number | null;
    offloads?: { seen?: unknown; largest_payload?: number } | null;
    start?: string | null;
  };
  const words = [count(capture.packets ?? 0, "packet"), seconds(source.span_s), ...(capture.link_types ?? [])];
  // Nobody cut anything off with a snap length above the largest IP packet.
  if (capture.snaplen && capture.snaplen < 65_535) words.push(`snap ${capture.snaplen}`);
  if (capture.offloads) {
    words.push(capture.offloads.seen ? `offloads on (packets of up to ${size(capture.offloads.largest_payload ?? 0)})` : "offloads off");
  }
  if (source.place !== null) words.push(`taken ${inWords("vantage", source.place)}`);
  // A simulated run begins at no time of any calendar.
  if (source.origin !== null && source.run?.bench !== "sim") words.push(`from ${source.origin.replace("T", " ").replace(/\.\d+/, "").replace("Z", " UTC")}`);
  return words.join(", ");
}
