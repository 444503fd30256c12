/** One flow: linked panels over one time axis, the selected packet, the episodes. */

import { useEffect, useRef } from "preact/hooks";
import { tcpdump } from "../data/describe";
import type { FlowData } from "../data/flow";
import { count } from "../draw/units";
import { PANELS } from "../panels/stack";
import * as app from "../view/app";
import { Board, hover } from "../view/board";
import { arrived } from "../view/tracks";
import { otherOf } from "../view/pair";
import { KEYS, onKey } from "../view/keys";
import { EpisodeTable } from "./episodes";
import { ExportMenu } from "./export";
import { Inspector } from "./inspector";
import { TurnTable, turnsInWords } from "./turns";

const NAMES: Record<string, string> = {
  sequence: "sequence",
  events: "events",
  throughput: "throughput",
  path: "all flows",
  rtt: "RTT",
  flight: "flight",
  owner: "cause",
  turns: "turns",
  idle: "idle",
};

export function FlowPage(): preact.JSX.Element {
  const data = app.flow.value;
  if (data === null) return <p class="quiet">{app.loading.value ? "Loading…" : app.missing()}</p>;
  const { row } = data.detail;
  const beside = app.other.value;
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
        <div class={beside === null ? "" : "beside"}>
          {beside !== null && <h3>{data.source.label}</h3>}
          <Panels data={data} across={false} label={beside === null ? "" : `${data.source.label}: `} />
          {beside !== null && <h3>{beside.label}</h3>}
          {beside !== null && <Panels key={beside.label} data={beside.data} across label={`${beside.label}: `} />}
        </div>
        <aside aria-label="Selected packet and episodes">
          <Inspector data={app.chosen.value?.data ?? data} />
          <EpisodeTable detail={data.detail} most={12} brief of={beside === null ? null : data.source.label} />
          {beside !== null && <EpisodeTable detail={beside.data.detail} most={12} brief of={beside.label} beside={beside} />}
          <TurnTable key={data.detail.key} data={data} most={8} />
          {beside !== null && <TurnTable key={`beside ${beside.data.detail.key}`} data={beside.data} most={8} />}
          <Keys />
        </aside>
      </div>
    </>
  );
}

function Tools({ data }: { data: FlowData }): preact.JSX.Element {
  const hidden = app.hiddenPanels.value;
  // What there is to show is known once something came in.
  void arrived.value;
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
      <span class="switch">
        <button type="button" aria-pressed={app.picking.value} onClick={() => (app.picking.value = !app.picking.value)}>
          Select
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
      {otherOf(app.meta(), data.source.id, data.detail.flow) !== null && (
        <span class="switch">
          <button type="button" aria-pressed={app.isBeside.value} onClick={() => app.change({ beside: !app.isBeside.value, ...(app.isAcross.value ? { across: false, packet: null, episode: null } : {}) })}>
            side by side
          </button>
        </span>
      )}
      <ExportMenu data={data} />
    </div>
  );
}

interface PanelsProps {
  data: FlowData;
  /** Whether it stands beside the flow that the address names. */
  across: boolean;
  label: string;
}

function Panels({ data, across, label }: PanelsProps): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const board = useRef<Board | null>(null);
  useEffect(() => {
    if (host.current === null || canvas.current === null || overlay.current === null) return;
    board.current = new Board(host.current, canvas.current, overlay.current, () => (across ? app.other : app.named).value);
    if (!across) host.current.focus({ preventScroll: true });
    return () => board.current?.close();
  }, []);
  const { episodes } = data.detail;
  return (
    <div
      class="panels"
      ref={host}
      tabIndex={0}
      role="application"
      aria-roledescription="time and sequence panels"
      aria-label={`${label}${count(episodes.length, "loss episode")} over ${data.seconds.toFixed(2)} s. Keys n and p go through the episodes; the table of episodes says the same in words. ${turnsInWords(data.turns)}`}
      onKeyDown={(event) => onKey(event, across)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <canvas ref={overlay} aria-hidden="true" class="overlay" />
      <Tip data={data} board={board} />
    </div>
  );
}

/** The packet under the pointer, as tcpdump writes it. */
function Tip({ data, board }: { data: FlowData; board: { current: Board | null } }): preact.JSX.Element | null {
  const at = hover.value;
  const packets = at?.packets ?? null;
  if (at === null || at.board !== board.current || at.row < 0 || packets === null) return null;
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
          <dd>move; with Shift, zoom into the box; with Ctrl, or after “Select”, select a stretch of time: CSV is of it</dd>
        </div>
        <div>
          <dt>click</dt>
          <dd>select a packet: what proves it has a ring</dd>
        </div>
        <div>
          <dt>two fingers</dt>
          <dd>zoom and move</dd>
        </div>
      </dl>
    </details>
  );
}
