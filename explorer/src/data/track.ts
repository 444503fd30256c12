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

/** What a bin may begin later or end sooner than what it has, seconds: instants are rounded on their way. */
const ROUNDED = 1e-6;
/** Bins wider than so many pixels show less than packets of a part of the view. */
const COARSE = 3;

export function covers(track: Track, from: number, to: number): boolean {
  return track.from <= from + ROUNDED && track.to >= to - ROUNDED;
}

/** The best of several for a view: of those that cover it packets, else the finest bins that pixels can show;
 * packets of at least half of it where bins are too coarse. */
export function bestOf(tracks: readonly Track[], from: number, to: number, perPixel: number): Track | null {
  const covering = tracks.filter((track) => covers(track, from, to));
  const least = (of: readonly Track[]): Track | null =>
    of.reduce<Track | null>((best, track) => (best === null || track.grain < best.grain ? track : best), null);
  const best = least(covering);
  const shared = (track: Track): number => Math.min(track.to, to) - Math.max(track.from, from);
  const widest = (of: readonly Track[]): Track | null =>
    of.reduce<Track | null>((most, track) => (most === null || shared(track) > shared(most) ? track : most), null);
  if (best === null) return widest(tracks);
  if (best.grain <= COARSE * perPixel) return best;
  const packets = widest(tracks.filter((track) => track.grain === 0));
  return packets !== null && shared(packets) >= (to - from) / 2 ? packets : best;
}
