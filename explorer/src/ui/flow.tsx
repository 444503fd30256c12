/** One flow: linked panels over one time axis, the selected packet, the episodes. */

import { useEffect, useRef } from "preact/hooks";
import { tcpdump } from "../data/describe";
import type { FlowData } from "../data/flow";
import { count } from "../draw/units";
import { PANELS } from "../panels/stack";
import * as app from "../view/app";
import { Board, hover } from "../view/board";
import { KEYS, onKey } from "../view/keys";
import { EpisodeTable } from "./episodes";
import { ExportMenu } from "./export";
import { Inspector } from "./inspector";

const NAMES: Record<string, string> = {
  sequence: "sequence",
  events: "events",
  throughput: "throughput",
  rtt: "RTT",
  flight: "flight",
  idle: "idle",
};

export function FlowPage(): preact.JSX.Element {
  const data = app.flow.value;
  if (data === null) {
    return <p class="quiet">{app.loading.value ? "Loading…" : "This report holds no packets of this flow: rexmit view on the capture shows them."}</p>;
  }
  const { row } = data.detail;
  return (
    <>
      <div class="heading">
        <h2 class="ends">
          {row.sender} <span class="arrow">→</span> {row.receiver}
        </h2>
        <span class="quiet">{app.inWords("vantage", row.vantage)}</span>
      </div>
      <Tools data={data} />
      <div class="flow-grid">
        <Panels data={data} />
        <aside aria-label="Selected packet and episodes">
          <Inspector data={data} />
          <EpisodeTable detail={data.detail} most={12} brief />
          <Keys />
        </aside>
      </div>
    </>
  );
}

function Tools({ data }: { data: FlowData }): preact.JSX.Element {
  const { hidden } = app.place.value;
  const toggle = (key: string): void =>
    app.change({ hidden: hidden.includes(key) ? hidden.filter((k) => k !== key) : [...hidden, key] });
  return (
    <div class="tools" role="toolbar" aria-label="View">
      <span class="switch">
        <button type="button" onClick={() => app.stepEpisode(-1)} disabled={data.detail.episodes.length === 0}>
          ‹ episode
        </button>
        <button type="button" onClick={() => app.stepEpisode(1)} disabled={data.detail.episodes.length === 0}>
          episode ›
        </button>
      </span>
      <span class="switch">
        <button type="button" onClick={() => app.fit()}>
          Fit
        </button>
        <button type="button" onClick={() => void app.back()}>
          Back
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => app.zoom(0.5)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => app.zoom(2)}>
          −
        </button>
      </span>
      <span class="switch" role="group" aria-label="Panels">
        {PANELS.filter((panel) => panel.wanted({ data, track: data.tracks[0] ?? null })).map((panel) => (
          <button
            type="button"
            key={panel.key}
            aria-pressed={!hidden.includes(panel.key)}
            onClick={() => toggle(panel.key)}
          >
            {NAMES[panel.key] ?? panel.key}
          </button>
        ))}
      </span>
      <ExportMenu data={data} />
    </div>
  );
}

function Panels({ data }: { data: FlowData }): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (host.current === null || canvas.current === null || overlay.current === null) return;
    const board = new Board(host.current, canvas.current, overlay.current);
    host.current.focus({ preventScroll: true });
    return () => board.close();
  }, []);
  const { episodes } = data.detail;
  return (
    <div
      class="panels"
      ref={host}
      tabIndex={0}
      role="application"
      aria-roledescription="time and sequence panels"
      aria-label={`${count(episodes.length, "loss episode")} over ${data.seconds.toFixed(2)} s. Keys n and p go through the episodes; the table of episodes says the same in words.`}
      onKeyDown={onKey}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <canvas ref={overlay} aria-hidden="true" class="overlay" />
      <Tip data={data} />
    </div>
  );
}

/** The packet under the pointer, as tcpdump writes it. */
function Tip({ data }: { data: FlowData }): preact.JSX.Element | null {
  const at = hover.value;
  const packets = at?.packets ?? null;
  if (at === null || at.row < 0 || packets === null) return null;
  const cause = packets.causes[packets.cause[at.row]] ?? "";
  const remarks = [
    cause === "" ? "" : `again: ${app.inWords("cause", cause)}`,
    packets.lost[at.row] === 1 ? "lost" : "",
    packets.needless[at.row] === 1 ? "needless" : "",
    packets.dsack[at.row] === 1 ? "DSACK" : "",
  ].filter(Boolean);
  return (
    <div class="tip" style={{ left: `${at.x}px`, top: `${at.y}px` }} data-side={at.x > 500 ? "left" : "right"}>
      <code>{tcpdump(packets, at.row, data.detail.row)}</code>
      <span>
        packet {packets.packet[at.row]}
        {remarks.length > 0 && `, ${remarks.join(", ")}`}
      </span>
    </div>
  );
}

function Keys(): preact.JSX.Element {
  return (
    <details class="keys">
      <summary>Keys and mouse</summary>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
        <div>
          <dt>wheel</dt>
          <dd>zoom at the pointer; with Shift, move</dd>
        </div>
        <div>
          <dt>drag</dt>
          <dd>move; with Shift, zoom into the box</dd>
        </div>
        <div>
          <dt>click</dt>
          <dd>select a packet: what proves it has a ring</dd>
        </div>
      </dl>
    </details>
  );
}
