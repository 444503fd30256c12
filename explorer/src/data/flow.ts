/** One flow, as far as the page holds it: packets or bins, round trips, the state of its sender. */

import type { Container } from "./container";
import type { Detail, Source } from "./meta";
import { NS, Packets } from "./packets";
import { Series } from "./series";
import type { Store } from "./store";
import type { Track } from "./track";
import { type Turn, turnsOf } from "./turns";

export interface Rtt {
  kind: string;
  series: Series;
}

export interface SenderState {
  time: Float64Array;
  cwnd: Series | null;
  ssthresh: Series | null;
  phases: { from: number; to: number; name: string }[];
}

export class FlowData {
  readonly source: Source;
  readonly detail: Detail;
  /** What there is to draw, as it comes in. */
  readonly tracks: Track[] = [];
  readonly from: number;
  readonly to: number;

  private readonly rttTable: Container | null;
  private readonly stateTable: Container | null;
  private readonly turnTable: Container | null;
  private madeRtts: Rtt[] | null = null;
  private madeState: SenderState | null = null;
  private madeTurns: Turn[] | null = null;

  /** rtt, state, turns: tables of these, if there are such; looked at when they are first drawn. */
  constructor(source: Source, detail: Detail, whole: Packets | null, rtt: Container | null, state: Container | null, turns: Container | null = null) {
    this.source = source;
    this.detail = detail;
    this.rttTable = rtt;
    this.stateTable = state;
    this.turnTable = turns;
    if (whole !== null) this.tracks.push(whole);
    const some = whole !== null && whole.n > 0;
    this.from = Math.min(detail.row.start_s, some ? whole.time[0] : Infinity);
    this.to = Math.max(detail.row.end_s, some ? whole.time[whole.n - 1] : -Infinity, this.from + 1e-6);
  }

  get rtts(): Rtt[] {
    return (this.madeRtts ??= this.rttTable === null ? [] : rttsOf(this.rttTable));
  }

  get state(): SenderState | null {
    return (this.madeState ??= this.stateTable === null ? null : stateOf(this.stateTable));
  }

  get turns(): readonly Turn[] {
    return (this.madeTurns ??= this.turnTable === null ? [] : turnsOf(this.turnTable));
  }

  get seconds(): number {
    return this.to - this.from;
  }

  /** Round trips of a track that has none of its own, as bins of the same time have them: of the finest. */
  rttBeside(track: Track): Series | null {
    const shared = ({ from, to }: Track): boolean => from < track.to && to > track.from;
    const others = this.tracks.filter((one) => one.rtt !== null && shared(one));
    return others.reduce<Track | null>((best, one) => (best === null || one.grain < best.grain ? one : best), null)?.rtt ?? null;
  }

  /** The packets of a stretch of time, if they are here. */
  packetsIn(from: number, to: number): Packets | null {
    return this.tracks.find((track) => track.raw !== null && track.from <= from && track.to >= to)?.raw ?? null;
  }

  /** Where a packet is, by its number in the file. */
  find(packet: number | null): { packets: Packets; row: number } | null {
    if (packet === null) return null;
    for (const { raw } of this.tracks) {
      const row = raw?.rowOf(packet) ?? -1;
      if (raw !== null && row >= 0) return { packets: raw, row };
    }
    return null;
  }
}

export function sourceOf(store: Store, id: number): Source | null {
  return store.meta.sources.find((s) => s.id === id) ?? null;
}

export function detailOf(store: Store, source: number, flow: number): Detail | null {
  return sourceOf(store, source)?.details.find((d) => d.flow === flow) ?? null;
}

/** Null where neither the page nor a server has anything of the flow beyond its row. */
export async function loadFlow(store: Store, source: number, flow: number): Promise<FlowData | null> {
  const of = sourceOf(store, source);
  if (of === null) return null;
  const detail = detailOf(store, source, flow) ?? (await furtherDetail(store, of, flow));
  if (detail === null) return null;
  const whole = detail.packets.held === "all" ? detail.packets.blobs[0] : undefined;
  const [packets, rtt, state, turns] = await Promise.all([
    whole === undefined ? null : store.blob(whole),
    detail.rtt === null ? null : store.blob(detail.rtt),
    detail.state === null ? null : store.blob(detail.state),
    detail.turns ? store.blob(detail.turns) : null,
  ]);
  return new FlowData(
    of,
    detail,
    packets === null ? null : new Packets(detail.packets.rows ? slice(packets, detail.packets.rows) : packets),
    rtt,
    state,
    turns,
  );
}

/** What META itself has no room for. */
async function furtherDetail(store: Store, of: Source, flow: number): Promise<Detail | null> {
  const more = of.more?.find(({ flows }) => flows.includes(flow));
  if (more !== undefined) of.details.push(...((await store.json(more.blob)) as Detail[]));
  else if (store.load !== undefined) of.details.push(await store.load(of.id, flow));
  return detailOf(store, of.id, flow);
}

/** Rows [from, to) of a container. */
function slice(container: Container, [from, to]: [number, number]): Container {
  const columns = new Map(Array.from(container.columns.keys(), (name) => [name, container.columns.get(name)!.slice(from, to)]));
  return { header: { ...container.header, rows: to - from }, columns };
}

export function rttsOf({ header, columns }: Container): Rtt[] {
  const time = columns.get("time_ns");
  const rtt = columns.get("rtt_us");
  const kind = columns.get("kind");
  if (time === undefined || rtt === undefined) return [];
  return (header.words?.["kind"] ?? ["ack"]).flatMap((name, k) => {
    const rows: number[] = [];
    for (let i = 0; i < header.rows; i++) if (kind === undefined || kind[i] === k) rows.push(i);
    const series = seriesOf(rows, (i) => time[i] / NS, (i) => rtt[i] / 1e6);
    return series === null ? [] : [{ kind: name, series }];
  });
}

function stateOf({ header, columns }: Container): SenderState {
  const ns = columns.get("time_ns") ?? new Float64Array(header.rows);
  const time = Float64Array.from(ns, (t) => t / NS);
  const rows = Array.from(time.keys());
  const of = (name: string): Series | null => {
    const column = columns.get(name);
    // A threshold that was never set is as large as its type allows.
    const known = column === undefined ? [] : rows.filter((i) => column[i] >= 0 && column[i] < 2 ** 30);
    return column === undefined ? null : seriesOf(known, (i) => time[i], (i) => column[i]);
  };
  const phases: SenderState["phases"] = [];
  const phase = columns.get("phase");
  const names = header.words?.["phase"] ?? [];
  for (let i = 0; phase !== undefined && i < header.rows; i++) {
    const name = names[phase[i]] ?? "";
    const open = phases[phases.length - 1];
    if (open !== undefined) open.to = time[i];
    if (open === undefined || open.name !== name) phases.push({ from: time[i], to: time[i], name });
  }
  return { time, cwnd: of("cwnd"), ssthresh: of("ssthresh"), phases };
}

function seriesOf(rows: number[], x: (row: number) => number, y: (row: number) => number): Series | null {
  if (rows.length === 0) return null;
  if (rows.some((row, k) => k > 0 && x(row) < x(rows[k - 1]))) rows.sort((a, b) => x(a) - x(b) || a - b);
  const time = new Float64Array(rows.length);
  const values = new Float64Array(rows.length);
  rows.forEach((row, k) => {
    time[k] = x(row);
    values[k] = y(row);
  });
  return new Series(time, values, values, Uint32Array.from(rows));
}
