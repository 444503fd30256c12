/** The packets of one flow as typed columns in order of time, and what is drawn of them as series. */

import type { Column, Columns, Container } from "./container";
import { Series } from "./series";
import { Running, type Track } from "./track";

export const NS = 1e9;

export interface Block {
  start: number;
  end: number;
}

export class Packets implements Track {
  readonly grain = 0;
  /** Where a server tells them of just this stretch. */
  rtt: Series | null = null;
  readonly raw = this;
  readonly from: number;
  readonly to: number;
  readonly n: number;
  /** Seconds since the source's origin. */
  readonly time: Float64Array;
  readonly data: Column;
  readonly len: Column;
  readonly ack: Column;
  readonly cause: Column;
  readonly causes: string[];
  readonly complete: boolean;
  private readonly columns: Columns;
  private readonly order: Uint32Array | null;
  private packetColumn: Column | null = null;
  private flagsColumn: Column | null = null;
  private seqColumn: Column | null = null;
  private windowColumn: Column | null = null;
  private dsackColumn: Column | null = null;
  private lostColumn: Column | null = null;
  private needlessColumn: Column | null = null;
  private episodeColumn: Column | null = null;
  private flightColumn: Column | null = null;
  private tsValColumn: Column | null = null;
  private tsEcrColumn: Column | null = null;
  private sackColumns: [Column, Column][] | null = null;
  private madeNew: Series | null = null;
  private madeAck: Series | null = null;
  private madeEdge: Series | null = null;
  private madeSack: Series | null = null;
  private madeFlight: Series | null = null;
  private madeAgain: Map<string, Series> | null = null;
  private madeLost: Series | null = null;
  private madeNeedless: Series | null = null;
  private madeDsack: Series | null = null;
  private madeSent: Running | null = null;
  private madeFresh: Running | null = null;

  constructor({ header, columns }: Container) {
    this.n = header.rows;
    this.complete = header.complete ?? true;
    this.causes = header.words?.["cause"] ?? [""];
    const ns = columns.get("time_ns") ?? new Float64Array(this.n);
    this.columns = columns;
    this.order = orderOf(ns);
    this.time = new Float64Array(this.n);
    const instants = this.column("time_ns", 0);
    for (let i = 0; i < this.n; i++) this.time[i] = instants[i] / NS;
    this.data = this.column("data", 0);
    this.len = this.column("len", 0);
    this.ack = this.column("ack", -1);
    this.cause = this.column("cause", 0);
    // A window covers its time, whether or not a packet passed at its ends.
    const seen = (at: number): number => (this.n > 0 ? this.time[at] : 0);
    this.from = this.complete || header.from_ns === undefined ? -Infinity : Math.min(header.from_ns / NS, seen(0));
    this.to = this.complete || header.to_ns === undefined ? Infinity : Math.max(header.to_ns / NS, seen(this.n - 1));
  }

  /** In order of time. What a page shows first needs few of them: the others are made when they are asked for. */
  private column(name: string, otherwise: number): Column {
    const found = this.columns.get(name);
    if (found === undefined) return new Float64Array(this.n).fill(otherwise);
    return this.order === null ? found : reordered(found, this.order);
  }

  get packet(): Column {
    return (this.packetColumn ??= this.column("packet", 0));
  }

  get flags(): Column {
    return (this.flagsColumn ??= this.column("flags", 0));
  }

  get seq(): Column {
    return (this.seqColumn ??= this.column("seq", 0));
  }

  get window(): Column {
    return (this.windowColumn ??= this.column("window", -1));
  }

  get dsack(): Column {
    return (this.dsackColumn ??= this.column("dsack", 0));
  }

  get lost(): Column {
    return (this.lostColumn ??= this.column("lost", 0));
  }

  get needless(): Column {
    return (this.needlessColumn ??= this.column("needless", 0));
  }

  get episode(): Column {
    return (this.episodeColumn ??= this.column("episode", 0));
  }

  get flight(): Column {
    return (this.flightColumn ??= this.column("flight", -1));
  }

  get tsVal(): Column {
    return (this.tsValColumn ??= this.column("ts_val", -1));
  }

  get tsEcr(): Column {
    return (this.tsEcrColumn ??= this.column("ts_ecr", -1));
  }

  /** Where the first, second, … SACK block of each packet begins and ends. */
  private get sacks(): [Column, Column][] {
    if (this.sackColumns === null) {
      this.sackColumns = [];
      for (let k = 1; this.columns.has(`sack${k}_end`); k++) {
        this.sackColumns.push([this.column(`sack${k}_start`, 0), this.column(`sack${k}_end`, 0)]);
      }
    }
    return this.sackColumns;
  }

  /** First row at or after t. */
  firstAt(t: number): number {
    let a = 0;
    let z = this.n;
    while (a < z) {
      const middle = (a + z) >> 1;
      if (this.time[middle] < t) a = middle + 1;
      else z = middle;
    }
    return a;
  }

  /** The row of a packet by its number in the file, or -1. */
  rowOf(packet: number): number {
    return this.packet.indexOf(packet as never);
  }

  isData(row: number): boolean {
    return this.data[row] === 1 && this.len[row] > 0;
  }

  blocks(row: number): Block[] {
    const found: Block[] = [];
    for (const [start, end] of this.sacks) if (end[row] > 0) found.push({ start: start[row], end: end[row] });
    return found;
  }

  get sentBytes(): Running {
    return (this.madeSent ??= new Running(this.time, this.bytesWhere(() => true)));
  }

  get freshBytes(): Running {
    return (this.madeFresh ??= new Running(this.time, this.bytesWhere((i) => this.cause[i] === 0)));
  }

  private bytesWhere(wanted: (row: number) => boolean): Float64Array {
    const bytes = new Float64Array(this.n);
    for (let i = 0; i < this.n; i++) if (this.data[i] === 1 && wanted(i)) bytes[i] = this.len[i];
    return bytes;
  }

  /** Data sent for the first time. */
  get fresh(): Series {
    return (this.madeNew ??= this.dataWhere((i) => this.cause[i] === 0));
  }

  get again(): Map<string, Series> {
    if (this.madeAgain === null) {
      this.madeAgain = new Map();
      for (let k = 1; k < this.causes.length; k++) {
        const series = this.dataWhere((i) => this.cause[i] === k, true);
        if (series.length > 0) this.madeAgain.set(this.causes[k], series);
      }
    }
    return this.madeAgain;
  }

  get gone(): Series {
    return (this.madeLost ??= this.dataWhere((i) => this.lost[i] === 1));
  }

  get inVain(): Series {
    return (this.madeNeedless ??= this.dataWhere((i) => this.needless[i] === 1));
  }

  /** The cumulative ACK, which a late ACK does not take back. */
  get acked(): Series {
    let newest = -1;
    return (this.madeAck ??= this.series(
      (i) => this.data[i] === 0 && this.ack[i] >= 0,
      (i) => (newest = Math.max(newest, this.ack[i])),
    ));
  }

  /** ACK and advertised window: what the receiver allowed. */
  get edge(): Series {
    let newest = -1;
    return (this.madeEdge ??= this.series(
      (i) => this.data[i] === 0 && this.ack[i] >= 0 && this.window[i] >= 0,
      (i) => (newest = Math.max(newest, this.ack[i] + this.window[i])),
    ));
  }

  get flown(): Series {
    return (this.madeFlight ??= this.series(
      (i) => this.flight[i] >= 0 && this.data[i] === 1,
      (i) => this.flight[i],
    ));
  }

  get dsacks(): Series {
    return (this.madeDsack ??= this.series(
      (i) => this.dsack[i] === 1,
      (i) => this.sacks[0]?.[1][i] ?? this.ack[i],
    ));
  }

  /** Every SACK block but DSACKs, one point each. */
  get sacked(): Series {
    if (this.madeSack === null) {
      const rows: number[] = [];
      const lo: number[] = [];
      const hi: number[] = [];
      const { sacks } = this;
      for (let i = 0; i < this.n; i++) {
        if (this.data[i] === 1) continue;
        for (let k = this.dsack[i] === 1 ? 1 : 0; k < sacks.length; k++) {
          const [start, end] = sacks[k];
          if (end[i] === 0) continue;
          rows.push(i);
          lo.push(start[i]);
          hi.push(end[i]);
        }
      }
      this.madeSack = new Series(
        Float64Array.from(rows, (i) => this.time[i]),
        Float64Array.from(lo),
        Float64Array.from(hi),
        Uint32Array.from(rows),
      );
    }
    return this.madeSack;
  }

  /** handshakes: a SYN that was sent again has no payload. */
  private dataWhere(wanted: (row: number) => boolean, handshakes = false): Series {
    return this.series(
      (i) => this.data[i] === 1 && (this.len[i] > 0 || handshakes) && wanted(i),
      (i) => this.seq[i],
      (i) => this.seq[i] + this.len[i],
    );
  }

  private series(
    wanted: (row: number) => boolean,
    lo: (row: number) => number,
    hi: (row: number) => number = lo,
  ): Series {
    // Typed and filled by hand: of hundreds of thousands, for which one waits.
    let rows = new Uint32Array(this.n);
    let n = 0;
    for (let i = 0; i < this.n; i++) if (wanted(i)) rows[n++] = i;
    rows = rows.slice(0, n);
    const time = new Float64Array(n);
    const low = new Float64Array(n);
    const high = lo === hi ? low : new Float64Array(n);
    for (let k = 0; k < n; k++) {
      const row = rows[k];
      time[k] = this.time[row];
      low[k] = lo(row);
      if (high !== low) high[k] = hi(row);
    }
    return new Series(time, low, high, rows);
  }
}

/** Null if the times ascend already. */
function orderOf(time: Column): Uint32Array | null {
  let ascends = true;
  for (let i = 1; i < time.length && ascends; i++) ascends = time[i] >= time[i - 1];
  return ascends ? null : Uint32Array.from(time.keys()).sort((a, b) => time[a] - time[b] || a - b);
}

function reordered(column: Column, order: Uint32Array): Column {
  const result = column.slice();
  for (let i = 0; i < order.length; i++) result[i] = column[order[i]];
  return result;
}
