/** The packets of one flow as typed columns in order of time, and what is drawn of them as series. */

import type { Column, Container } from "./container";
import { Series } from "./series";
import { Running, type Track } from "./track";

export const NS = 1e9;

export interface Block {
  start: number;
  end: number;
}

export class Packets implements Track {
  readonly grain = 0;
  readonly rtt = null;
  readonly raw = this;
  readonly from: number;
  readonly to: number;
  readonly n: number;
  /** Seconds since the source's origin. */
  readonly time: Float64Array;
  readonly packet: Column;
  readonly data: Column;
  readonly flags: Column;
  readonly seq: Column;
  readonly len: Column;
  readonly ack: Column;
  readonly window: Column;
  readonly dsack: Column;
  readonly cause: Column;
  readonly lost: Column;
  readonly needless: Column;
  readonly episode: Column;
  readonly flight: Column;
  readonly tsVal: Column;
  readonly tsEcr: Column;
  readonly causes: string[];
  readonly complete: boolean;
  private readonly sackStart: Column[] = [];
  private readonly sackEnd: Column[] = [];
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
    const order = orderOf(ns);
    const column = (name: string, otherwise: number): Column => {
      const found = columns.get(name);
      if (found === undefined) return new Float64Array(this.n).fill(otherwise);
      return order === null ? found : reordered(found, order);
    };
    this.time = new Float64Array(this.n);
    const instants = column("time_ns", 0);
    for (let i = 0; i < this.n; i++) this.time[i] = instants[i] / NS;
    this.packet = column("packet", 0);
    this.data = column("data", 0);
    this.flags = column("flags", 0);
    this.seq = column("seq", 0);
    this.len = column("len", 0);
    this.ack = column("ack", -1);
    this.window = column("window", -1);
    this.dsack = column("dsack", 0);
    this.cause = column("cause", 0);
    this.lost = column("lost", 0);
    this.needless = column("needless", 0);
    this.episode = column("episode", 0);
    this.flight = column("flight", -1);
    this.tsVal = column("ts_val", -1);
    this.tsEcr = column("ts_ecr", -1);
    // A window covers its time, whether or not a packet passed at its ends.
    const seen = (at: number): number => (this.n > 0 ? this.time[at] : 0);
    this.from = this.complete || header.from_ns === undefined ? -Infinity : Math.min(header.from_ns / NS, seen(0));
    this.to = this.complete || header.to_ns === undefined ? Infinity : Math.max(header.to_ns / NS, seen(this.n - 1));
    for (let k = 1; columns.has(`sack${k}_end`); k++) {
      this.sackStart.push(column(`sack${k}_start`, 0));
      this.sackEnd.push(column(`sack${k}_end`, 0));
    }
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
    for (let k = 0; k < this.sackEnd.length; k++) {
      const end = this.sackEnd[k][row];
      if (end > 0) found.push({ start: this.sackStart[k][row], end });
    }
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
      (i) => this.sackEnd[0]?.[i] ?? this.ack[i],
    ));
  }

  /** Every SACK block but DSACKs, one point each. */
  get sacked(): Series {
    if (this.madeSack === null) {
      const rows: number[] = [];
      const lo: number[] = [];
      const hi: number[] = [];
      for (let i = 0; i < this.n; i++) {
        if (this.data[i] === 1) continue;
        for (let k = this.dsack[i] === 1 ? 1 : 0; k < this.sackEnd.length; k++) {
          if (this.sackEnd[k][i] === 0) continue;
          rows.push(i);
          lo.push(this.sackStart[k][i]);
          hi.push(this.sackEnd[k][i]);
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
