/** Values over time, with a pyramid of extremes: what a column of pixels holds is known without looking at
 * each point. */

const FAN = 8;

interface Level {
  lo: Float64Array;
  hi: Float64Array;
}

/** x ascending; each point reaches from lo to hi. `index` is the row that a point is from. */
export class Series {
  readonly x: Float64Array;
  readonly lo: Float64Array;
  readonly hi: Float64Array;
  readonly index: Uint32Array;
  /** How many stand before each point, where a point stands for several. */
  private readonly sums: Float64Array | null;
  private readonly levels: Level[] = [];
  /** What `columnsOf` found last. */
  kept: Kept | null = null;

  constructor(
    x: Float64Array,
    lo: Float64Array,
    hi: Float64Array,
    index: Uint32Array,
    often: Float64Array | null = null,
  ) {
    this.x = x;
    this.lo = lo;
    this.hi = hi;
    this.index = index;
    this.sums = often === null ? null : sumsOf(often);
    let below: Level = { lo, hi };
    while (below.lo.length > FAN) {
      below = coarser(below);
      this.levels.push(below);
    }
  }

  get length(): number {
    return this.x.length;
  }

  /** How many the points [a, z) stand for. */
  count(a: number, z: number): number {
    return this.sums === null ? z - a : this.sums[z] - this.sums[a];
  }

  /** The first point at or after t. */
  from(t: number): number {
    return lowerBound(this.x, t, 0, this.x.length);
  }

  /** Smallest lo and largest hi of the points [a, z), or null if there is none. */
  range(a: number, z: number): [number, number] | null {
    if (a >= z) return null;
    let lo = Infinity;
    let hi = -Infinity;
    let level = -1;
    let start = a;
    let end = z;
    // Ends that fill no group are looked at one by one, the rest a level up.
    for (;;) {
      const at: Level = level < 0 ? this : this.levels[level];
      const up = this.levels[level + 1];
      const first = Math.ceil(start / FAN);
      const last = Math.floor(end / FAN);
      if (up === undefined || first >= last) {
        for (let i = start; i < end; i++) {
          if (at.lo[i] < lo) lo = at.lo[i];
          if (at.hi[i] > hi) hi = at.hi[i];
        }
        return [lo, hi];
      }
      for (let i = start; i < first * FAN; i++) {
        if (at.lo[i] < lo) lo = at.lo[i];
        if (at.hi[i] > hi) hi = at.hi[i];
      }
      for (let i = last * FAN; i < end; i++) {
        if (at.lo[i] < lo) lo = at.lo[i];
        if (at.hi[i] > hi) hi = at.hi[i];
      }
      start = first;
      end = last;
      level++;
    }
  }
}

/** Of columns of equal width: how many points, their extremes and the last one's hi; these say nothing where there
 * is no point. */
export interface Columns {
  count: Float64Array;
  lo: Float64Array;
  hi: Float64Array;
  last: Float64Array;
}

interface Kept extends Columns {
  first: number;
  step: number;
}

/** Columns `first` to `first + width`, of which k holds the points in [k step, (k + 1) step). They are kept: of a
 * view that moves by a few columns only the new ones are looked for. They are there until it is called again. */
export function columnsOf(series: Series, first: number, step: number, width: number): Columns {
  const kept = series.kept;
  if (kept === null || kept.count.length !== width) {
    const room = (): Float64Array => new Float64Array(width);
    series.kept = { first, step, count: room(), lo: room(), hi: room(), last: room() };
    fill(series, series.kept, 0, width);
    return series.kept;
  }
  const by = first - kept.first;
  const alike = kept.step === step && Math.abs(by) < width;
  kept.first = first;
  kept.step = step;
  if (!alike) {
    fill(series, kept, 0, width);
  } else if (by !== 0) {
    for (const of of [kept.count, kept.lo, kept.hi, kept.last]) of.copyWithin(Math.max(0, -by), Math.max(0, by), width - Math.max(0, -by));
    if (by > 0) fill(series, kept, width - by, width);
    else fill(series, kept, 0, -by);
  }
  return kept;
}

/** Where there are few points, going through them is quicker than through the columns. */
const SPARSE = 6;

/** Columns [from, to) of `into`. */
function fill(series: Series, into: Kept, from: number, to: number): void {
  const { first, step } = into;
  into.count.fill(0, from, to);
  let a = series.from((first + from) * step);
  const end = series.from((first + to) * step);
  if (end - a < SPARSE * (to - from)) {
    onePerPoint(series, into, a, end, from, to);
    return;
  }
  for (let c = from; c < to && a < end; c++) {
    const z = c === to - 1 ? end : gallop(series.x, (first + c + 1) * step, a, end);
    if (z > a) {
      const range = series.range(a, z)!;
      into.count[c] = series.count(a, z);
      into.lo[c] = range[0];
      into.hi[c] = range[1];
      into.last[c] = series.hi[z - 1];
      a = z;
    }
  }
}

function onePerPoint(series: Series, into: Kept, a: number, end: number, from: number, to: number): void {
  const { first, step } = into;
  let c = from;
  for (let i = a; i < end; i++) {
    const x = series.x[i];
    // Compared with the same bounds as in `fill`, or a point between two columns would be in both or in none.
    if (x >= (first + c + 1) * step) c = Math.max(c + 1, Math.floor(x / step) - first - 1);
    while (c < to - 1 && x >= (first + c + 1) * step) c++;
    const fresh = into.count[c] === 0;
    into.count[c] += series.count(i, i + 1);
    if (fresh || series.lo[i] < into.lo[c]) into.lo[c] = series.lo[i];
    if (fresh || series.hi[i] > into.hi[c]) into.hi[c] = series.hi[i];
    into.last[c] = series.hi[i];
  }
}

function sumsOf(often: Float64Array): Float64Array {
  const sums = new Float64Array(often.length + 1);
  for (let i = 0; i < often.length; i++) sums[i + 1] = sums[i] + often[i];
  return sums;
}

function coarser(below: Level): Level {
  const n = Math.ceil(below.lo.length / FAN);
  const lo = new Float64Array(n).fill(Infinity);
  const hi = new Float64Array(n).fill(-Infinity);
  for (let i = 0; i < below.lo.length; i++) {
    const group = Math.floor(i / FAN);
    if (below.lo[i] < lo[group]) lo[group] = below.lo[i];
    if (below.hi[i] > hi[group]) hi[group] = below.hi[i];
  }
  return { lo, hi };
}

/** The first place in [a, z) whose value is at least t, else z. */
export function lowerBound(x: ArrayLike<number>, t: number, a: number, z: number): number {
  while (a < z) {
    const middle = (a + z) >> 1;
    if (x[middle] < t) a = middle + 1;
    else z = middle;
  }
  return a;
}

/** The same, quick where the place is near a. */
function gallop(x: Float64Array, t: number, a: number, z: number): number {
  let stride = 1;
  let low = a;
  while (low + stride < z && x[low + stride] < t) {
    low += stride;
    stride *= 2;
  }
  return lowerBound(x, t, low, Math.min(z, low + stride + 1));
}
