/** One episode: its packets as a ladder between the two hosts. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FlowData } from "../data/flow";
import type { Burst, Episode } from "../data/meta";
import type { Packets } from "../data/packets";
import { count } from "../draw/units";
import { proofOf } from "../data/proof";
import { CanvasSurface } from "../draw/canvas";
import { fileName, savePicture } from "../export/write";
import { drawLadder, HEAD, roomOf, sidesOf } from "../ladder/draw";
import { type Layout, layoutOf } from "../ladder/layout";
import { isFolded, newestAck, silencesOf, type Step, stepsOf, windowOf } from "../ladder/steps";
import { episodeEnd } from "../panels/bands";
import { announced, change, episodeInWords, failed, flow, go, inWords, loading, lookAtEpisode, missing, palette, place, store } from "../view/app";
import { type Part, partFrom } from "../view/parts";
import { CsvButton } from "./export";
import { Inspector } from "./inspector";
import { StepTable } from "./steptable";

export function EpisodePage(): preact.JSX.Element {
  const data = flow.value;
  const number = place.value.episode ?? 0;
  const episode = data?.detail.episodes.find((e) => e.number === number);
  // Where each part begins that one came through; the last is shown.
  const [way, go] = useState<readonly Start[]>([]);
  useEffect(() => go([]), [data, number]);
  const start = way[way.length - 1];
  const part = usePart(data, episode, start?.from ?? null);
  if (data === null || episode === undefined) {
    return <p class="quiet">{loading.value ? "Loading…" : data === null ? missing() : "This flow has no such episode."}</p>;
  }
  return (
    <>
      <div class="heading">
        <h2>{episodeInWords(episode).replace("episode", "Episode")}</h2>
        <span class="quiet ends">
          {data.detail.row.sender} → {data.detail.row.receiver}
        </span>
      </div>
      {part === undefined && <p class="quiet">Loading…</p>}
      {part === null && (
        <p class="quiet">This report holds no packets of this episode: rexmit view on the capture shows them.</p>
      )}
      {part?.short === true && (
        <p class="quiet">
          This report holds only the first packets of this episode: rexmit view on the capture shows every one.
        </p>
      )}
      {part && (start !== undefined || part.next !== null) && (
        <Parts data={data} episode={episode} part={part} way={way} go={go} />
      )}
      {part && (
        <Ladder key={`${number}/${start?.from ?? ""}`} data={data} part={part} episode={episode} start={start} />
      )}
    </>
  );
}

/** Where a part of an episode begins: seconds, and the highest ACK before it. */
interface Start {
  from: number;
  newest: number;
}

/** Of an episode with very many packets one part after the other. Undefined while it comes. */
function usePart(data: FlowData | null, episode: Episode | undefined, from: number | null): Part | null | undefined {
  // What was found for another place is not shown under this one's name, not even until the next frame.
  const asked = useMemo(() => ({}), [data, episode, from]);
  const [found, set] = useState<{ asked: object; part: Part | null } | undefined>(undefined);
  useEffect(() => {
    const opened = store.value;
    if (opened === null || data === null || episode === undefined) return;
    let wanted = true;
    const begin = from ?? Math.min(...[episode, ...burstsOf(data, episode)].map((of) => of.start_ns)) / 1e9;
    partFrom(opened, data, begin, episodeEnd(episode.end_ns, data.to)).then(
      (part) => wanted && set({ asked, part }),
      failed,
    );
    return () => {
      wanted = false;
    };
  }, [asked]);
  return found?.asked === asked ? found.part : undefined;
}

function burstsOf(data: FlowData, episode: Episode): Burst[] {
  return data.detail.bursts.filter((b) => b.episode === episode.number);
}

interface PartsProps {
  data: FlowData;
  episode: Episode;
  part: Part;
  way: readonly Start[];
  go: (way: readonly Start[]) => void;
}

function Parts({ data, episode, part, way, go }: PartsProps): preact.JSX.Element {
  const { packets, rows } = part;
  const end = episodeEnd(episode.end_ns, data.to);
  const start = way[way.length - 1]?.from ?? episode.start_ns / 1e9;
  const on = (): void => {
    const newest = newestAck(packets, rows, way[way.length - 1]?.newest ?? -1);
    go([...way, { from: part.next ?? end, newest }]);
  };
  return (
    <div class="tools" role="toolbar" aria-label="Parts of the episode">
      <span class="switch">
        <button type="button" disabled={way.length === 0} onClick={() => go(way.slice(0, -1))}>
          ‹ earlier
        </button>
        <button type="button" disabled={part.next === null} onClick={on}>
          later ›
        </button>
      </span>
      <span class="quiet" aria-live="polite">
        Part {way.length + 1}: {count(rows[1] - rows[0], "packet")}, {start.toFixed(4)} to {(part.next ?? end).toFixed(4)} s
        of {(episode.start_ns / 1e9).toFixed(4)} to {end.toFixed(4)} s
      </span>
    </div>
  );
}

interface LadderProps {
  data: FlowData;
  part: Part;
  episode: Episode;
  /** Undefined of the first part. */
  start: Start | undefined;
}

function Ladder({ data, part, episode, start }: LadderProps): preact.JSX.Element {
  const { packets } = part;
  const [unfolded, unfold] = useState<ReadonlySet<number>>(new Set());
  const [zoom, setZoom] = useState(2);
  const [room, setRoom] = useState<number | null>(null);
  const words = (cause: string): string => inWords("cause", cause);
  const { row } = data.detail;
  const oneWay = (roundTrip(data) ?? 0) / 2;
  const { scale, packet } = place.value;
  const mine = burstsOf(data, episode).filter(
    (b) => b.start_ns / 1e9 >= (start?.from ?? -Infinity) && b.start_ns / 1e9 < (part.next ?? Infinity),
  );
  // A few packets before and after the episode say how it was.
  const rows = windowOf(packets, part.rows, start === undefined ? 2 : 0, part.next === null ? 2 : 0);
  const steps = useMemo(
    () =>
      stepsOf(packets, rows, episode, mine, {
        mss: Math.max(1, row.mss),
        newest: start?.newest ?? -1,
        lostAcks: start === undefined,
        quiet: Math.max(0.02, 2 * oneWay),
        holes: row.vantage === "receiver",
      }, unfolded),
    [part, unfolded],
  );
  const layout = useMemo(
    () => layoutOf(steps, silencesOf(steps, Math.max(0.05, 4 * oneWay)), scale, oneWay, row.vantage === "receiver", zoom, room === null ? null : { room, words }),
    [steps, scale, zoom, room],
  );
  const selectedRow = packet === null ? -1 : packets.rowOf(packet);
  const selected = steps.find((step) => step.rows.includes(selectedRow)) ?? null;
  const proves = useMemo(() => provingSteps(packets, steps, selectedRow), [steps, selectedRow]);
  const toggle = (step: Step): void => {
    const changed = new Set(unfolded);
    for (const i of step.rows) if (!changed.delete(i)) changed.add(step.rows[0]);
    unfold(changed);
  };
  const pick = (step: Step): void => {
    if (step.rows.length > 0) change({ packet: packets.packet[step.rows[0]] });
  };
  const at = data.detail.episodes.indexOf(episode);
  const to = (by: number): void => {
    const next = data.detail.episodes[at + by];
    if (next !== undefined) {
      go({ page: "episode", episode: next.number });
      announced.value = episodeInWords(next);
    }
  };
  const look = { sender: row.sender, receiver: row.receiver, selected, proves, words };
  const write = (what: "png" | "svg"): void => {
    const picture = {
      width: document.querySelector(".ladder")?.clientWidth ?? 900,
      height: Math.min(12_000, layout.height + HEAD),
      draw: (s: Parameters<typeof drawLadder>[0]) => drawLadder(s, palette.value, layout, { ...look, offset: 0 }),
    };
    const name = fileName(data, `episode-${episode.number + 1}`, what);
    savePicture(picture, what, name, episodeInWords(episode), palette.value).catch(failed);
  };
  return (
    <>
      <div class="tools" role="toolbar" aria-label="Ladder">
        <span class="switch">
          <button type="button" disabled={at <= 0} onClick={() => to(-1)}>
            ‹ episode
          </button>
          <button type="button" disabled={at >= data.detail.episodes.length - 1} onClick={() => to(1)}>
            episode ›
          </button>
        </span>
        <span class="switch" role="group" aria-label="Time axis">
          <button type="button" aria-pressed={scale === "even"} onClick={() => change({ scale: "even" })}>
            evenly
          </button>
          <button type="button" aria-pressed={scale === "time"} onClick={() => change({ scale: "time" })}>
            to scale
          </button>
        </span>
        {scale === "time" && (
          <span class="switch" role="group" aria-label="Stretch of the time axis">
            <button type="button" aria-label="Stretch" onClick={() => setZoom(Math.min(32, zoom * 1.6))}>
              +
            </button>
            <button type="button" aria-label="Squeeze" onClick={() => setZoom(Math.max(1, zoom / 1.6))}>
              −
            </button>
          </span>
        )}
        <span class="switch">
          <button type="button" onClick={() => unfold(new Set(steps.flatMap((s) => s.rows)))}>
            Unfold all
          </button>
          <button type="button" disabled={unfolded.size === 0} onClick={() => unfold(new Set())}>
            Fold
          </button>
        </span>
        <span class="switch">
          <button
            type="button"
            onClick={() => {
              go({ page: "flow" });
              lookAtEpisode(episode.number);
            }}
          >
            Show in the flow
          </button>
        </span>
        <span class="switch" role="group" aria-label="Save the ladder">
          <button type="button" onClick={() => write("png")}>
            PNG
          </button>
          <button type="button" onClick={() => write("svg")}>
            SVG
          </button>
          <CsvButton />
        </span>
      </div>
      <div class="ladder-page">
        <Stage layout={layout} look={look} onPick={pick} onToggle={toggle} onWidth={(width) => setRoom(roomOf(width))} />
        <aside aria-label="Selected packet and the steps in words">
          <Inspector data={data} />
          <StepTable steps={steps} selected={selected} proves={proves} onPick={pick} onToggle={toggle} />
          <p class="quiet">
            {oneWay > 0
              ? `Seen ${row.vantage === "receiver" ? "at the receiver" : "at the sender"}; the other side is drawn half of the smallest round trip away, which is an assumption.`
              : "No round trip shows how far the other side is: arrows to scale are level."}
          </p>
        </aside>
      </div>
    </>
  );
}

/** The smallest round trip between the hosts that can be seen from here, seconds. At the receiver an ACK follows
 * its data at once, which says nothing about the path; the handshake does. */
function roundTrip({ detail: { row } }: FlowData): number | null {
  const opened = row.handshake?.time_s ?? null;
  if (row.vantage === "receiver") return opened;
  const least = row.rtt["ack"]?.min_ms ?? row.rtt["timestamps"]?.min_ms;
  return least ? least / 1e3 : opened;
}

function provingSteps(packets: Packets, steps: readonly Step[], row: number): ReadonlySet<Step> {
  const proof = row < 0 ? null : proofOf(packets, row, (c) => c);
  if (proof === null) return new Set();
  const rows = new Set([...proof.copies, ...proof.told, proof.needless]);
  return new Set(steps.filter((step) => step.rows.some((i) => rows.has(i))));
}

interface StageProps {
  layout: Layout;
  look: Omit<Parameters<typeof drawLadder>[3], "offset">;
  onPick: (step: Step) => void;
  onToggle: (step: Step) => void;
  /** Before it is drawn at a width. */
  onWidth: (width: number) => void;
}

/** Only what is in sight is drawn: the canvas stays where it is while the ladder goes by. */
function Stage({ layout, look, onPick, onToggle, onWidth }: StageProps): preact.JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = palette.value;
  useEffect(() => {
    const host = box.current;
    const on = canvas.current;
    if (host === null || on === null) return;
    const draw = (): void => {
      const width = host.clientWidth;
      if (width < 50) return;
      onWidth(width);
      const surface = new CanvasSurface(on, width, host.clientHeight, devicePixelRatio || 1);
      on.style.width = `${width}px`;
      on.style.height = `${host.clientHeight}px`;
      drawLadder(surface, colours, layout, { ...look, offset: host.scrollTop });
    };
    const watch = new ResizeObserver(draw);
    watch.observe(host);
    host.addEventListener("scroll", draw);
    draw();
    return () => {
      watch.disconnect();
      host.removeEventListener("scroll", draw);
    };
  }, [layout, look.selected, look.proves, colours]);
  const click = (event: MouseEvent): void => {
    const host = box.current;
    if (host === null) return;
    const bounds = host.getBoundingClientRect();
    const y = event.clientY - bounds.top + host.scrollTop - HEAD;
    const x = event.clientX - bounds.left + host.scrollLeft;
    const near = layout.spots.reduce<{ step: Step; off: number } | null>((best, spot) => {
      const low = Math.min(spot.leaves, spot.label);
      const high = Math.max(spot.lastArrives, spot.label);
      const off = y < low ? low - y : y > high ? y - high : Math.abs(y - spot.label) / 100;
      return best === null || off < best.off ? { step: spot.step, off } : best;
    }, null);
    if (near === null || near.off > 14) return;
    const { left, right } = sidesOf(host.clientWidth, layout);
    if (isFolded(near.step) && near.step.rows.length > 1 && (x < left || x > right || event.detail > 1)) onToggle(near.step);
    else onPick(near.step);
  };
  const steps = layout.spots.length;
  return (
    <div
      class="ladder"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={`Ladder of ${steps} steps; the table beside it says the same in words`}
    >
      <canvas ref={canvas} aria-hidden="true" onClick={click} />
      <div class="length" style={{ height: `${layout.height + HEAD}px` }} aria-hidden="true" />
    </div>
  );
}
