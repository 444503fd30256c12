/** What panels draw: a flow as series over time, whether each point is a packet or sums up many. */

import type { Packets } from "./packets";
import { lowerBound, type Series } from "./series";

/** A sum over everything before a time. */
export class Running {
  private readonly x: Float64Array;
  private readonly sums: Float64Array;

  constructor(x: Float64Array, values: ArrayLike<number>) {
    this.x = x;
    this.sums = new Float64Array(x.length + 1);
    for (let i = 0; i < x.length; i++) this.sums[i + 1] = this.sums[i] + values[i];
  }

  before(t: number): number {
    return this.sums[lowerBound(this.x, t, 0, this.x.length)];
  }
}

export interface Track {
  /** Data sent for the first time; of bins all data. */
  readonly fresh: Series;
  /** By cause. */
  readonly again: ReadonlyMap<string, Series>;
  readonly gone: Series;
  readonly inVain: Series;
  readonly acked: Series;
  readonly edge: Series;
  readonly sacked: Series;
  readonly dsacks: Series;
  readonly flown: Series;
  /** Round trips, where these are not told elsewhere; seconds. */
  readonly rtt: Series | null;
  readonly sentBytes: Running;
  readonly freshBytes: Running;
  /** The time that it covers, seconds. */
  readonly from: number;
  readonly to: number;
  /** Seconds that one point stands for; 0 if each is a packet. */
  readonly grain: number;
  /** The packets themselves, if that is what it is. */
  readonly raw: Packets | null;
}

/** The best of several for a view: packets before bins, of bins the finest that covers it, but no finer than
 * pixels where a coarser one will do. */
export function bestOf(tracks: readonly Track[], from: number, to: number, perPixel: number): Track | null {
  const covering = tracks.filter((track) => track.from <= from && track.to >= to);
  const fine = covering.filter((track) => track.grain <= perPixel);
  const chosen = fine.length > 0 ? fine : covering.length > 0 ? covering : [...tracks];
  return chosen.reduce<Track | null>((best, track) => (best === null || track.grain < best.grain ? track : best), null);
}
