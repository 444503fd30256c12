/** A level of the pyramid, or a window of it: each row sums up the packets of one stretch of time. */

import type { Column, Container } from "./container";
import { NS } from "./packets";
import { Series } from "./series";
import { Running, type Track } from "./track";

export class Bins implements Track {
  readonly raw = null;
  readonly grain: number;
  readonly from: number;
  readonly to: number;
  readonly fresh: Series;
  readonly again: ReadonlyMap<string, Series>;
  readonly gone: Series;
  readonly inVain: Series;
  readonly acked: Series;
  readonly edge: Series;
  readonly sacked: Series;
  readonly dsacks: Series;
  readonly flown: Series;
  readonly rtt: Series | null;
  readonly sentBytes: Running;
  readonly freshBytes: Running;

  constructor({ header, columns }: Container) {
    const { rows } = header;
    this.grain = (header.bin_ns ?? 0) / NS;
    const start = (header.start_ns ?? 0) / NS;
    this.from = start;
    this.to = start + (header.bins ?? rows) * this.grain;
    // A column that says nothing is left out.
    const column = (name: string, otherwise: number): Column => columns.get(name) ?? new Float64Array(rows).fill(otherwise);
    const bin = column("bin", 0);
    const time = Float64Array.from({ length: rows }, (_, i) => start + (bin[i] + 0.5) * this.grain);
    const points = (low: string, high: string, often: string | null, scale = 1): Series =>
      pointsOf(time, column(low, -1), column(high, -1), often === null ? null : column(often, 0), scale);
    this.fresh = points("seq_min", "seq_max", null);
    this.again = new Map(
      (header.causes ?? [])
        .map((cause): [string, Series] => [cause, points("again_min", "again_max", `again_${cause.replaceAll("-", "_")}`)])
        .filter(([, series]) => series.length > 0),
    );
    this.gone = points("lost_min", "lost_max", "lost");
    this.inVain = points("again_min", "again_max", "needless");
    this.acked = climbing(points("ack_max", "ack_max", null));
    this.edge = climbing(points("edge_max", "edge_max", null));
    this.sacked = points("sack_min", "sack_max", "sack");
    this.dsacks = points("ack_max", "ack_max", "dsack");
    this.flown = points("flight_max", "flight_max", null);
    const rtt = points("rtt_min_us", "rtt_max_us", null, 1e-6);
    this.rtt = rtt.length > 0 ? rtt : null;
    this.sentBytes = new Running(time, column("bytes", 0));
    const reached = climbing(this.fresh);
    this.freshBytes = new Running(reached.x, reached.hi.map((v, i) => v - (i > 0 ? reached.hi[i - 1] : reached.lo[0])));
  }
}

/** Bins that have any: those of which `often` counts, else those with an end (-1: none). */
function pointsOf(time: Float64Array, low: Column, high: Column, often: Column | null, scale: number): Series {
  const rows: number[] = [];
  for (let i = 0; i < time.length; i++) if (high[i] >= 0 && (often === null || often[i] > 0)) rows.push(i);
  return new Series(
    Float64Array.from(rows, (i) => time[i]),
    Float64Array.from(rows, (i) => low[i] * scale),
    Float64Array.from(rows, (i) => high[i] * scale),
    Uint32Array.from(rows),
    often === null ? null : Float64Array.from(rows, (i) => often[i]),
  );
}

/** What never goes back, as a cumulative ACK does not. */
function climbing(series: Series): Series {
  let most = -Infinity;
  const values = series.hi.map((value) => (most = Math.max(most, value)));
  return new Series(series.x, series.lo === series.hi ? values : series.lo, values, series.index);
}
