/** An axis of a key of a sweep: numbers where they are, words side by side. */

import { type Mean, type Sweep, valuesOf } from "../data/sweep";
import { decimals, linear, ticks, tickStep } from "../draw/scale";
import { grouped, prefixOf, seconds } from "../draw/units";

/** From this ratio of its ends on an axis is logarithmic, as in rexmit's printed figures. */
const WIDE = 20;
/** Pixels that a mark takes at least, from left to right and upwards. */
const MARK_WIDE = 90;
const MARK_TALL = 16;

export interface KeyAxis {
  of: (mean: Mean) => number;
  /** Whether values are marked as they were written, with their units. */
  written: boolean;
  marks: { at: number; words: string }[];
}

/** On a logarithmic axis where numbers are far apart; few values are marked as they were written. p0, p1: pixels of
 * its ends, the first below the second but for an axis upwards. */
export function keyAxis(sweep: Sweep, key: number, means: readonly Mean[], p0: number, p1: number): KeyAxis {
  const upwards = p1 < p0;
  const unit = sweep.plan.units[key];
  const numbers = means.map((mean) => mean.point.numbers[key] ?? 0);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const most = Math.abs(p1 - p0) / (upwards ? 2 * MARK_TALL : MARK_WIDE);
  if (unit === null || !(high > low)) {
    const values = valuesOf(sweep, key);
    const at = (value: string): number => p0 + ((values.indexOf(value) + 0.5) / Math.max(1, values.length)) * (p1 - p0);
    const every = Math.ceil(values.length / Math.max(1, most));
    const marks = values.map((words) => ({ at: at(words), words })).filter((_, k) => k % every === 0);
    return { of: (mean) => at(mean.point.values[key]), written: true, marks };
  }
  const logarithmic = low > 0 && high / low >= WIDE;
  const through = logarithmic ? Math.log10 : (value: number): number => value;
  const margin = (through(high) - through(low)) * 0.04;
  const scale = linear(through(low) - margin, through(high) + margin, p0, p1);
  const place = (value: number): number => scale(through(value));
  const of = (mean: Mean): number => place(mean.point.numbers[key] ?? 0);
  const written = new Map(means.map((mean) => [mean.point.values[key], mean.point.numbers[key] ?? 0]));
  const few = [...written].map(([words, value]) => ({ at: place(value), words })).sort((a, b) => a.at - b.at);
  const room = (words: string): number => (upwards ? MARK_TALL : 6 * Math.max(words.length, 4) + 8);
  if (few.every((mark, k) => k === 0 || mark.at - few[k - 1].at > room(mark.words))) return { of, written: true, marks: few };
  const step = tickStep(low, high, most);
  const values = logarithmic ? roundOf(low, high, most) : ticks(low, high, most);
  // Shares and times as they are written, whose units change with their size.
  const shares = [...written.keys()].every((value) => value.endsWith("%"));
  const words = (value: number): string => {
    if (shares) return `${Number((100 * value).toPrecision(6))}%`;
    if (unit === "s") return value === 0 ? "0 s" : seconds(value);
    const [by, prefix] = prefixOf(value);
    return logarithmic ? `${Number((value / by).toPrecision(3))}${prefix}` : grouped(value / by, decimals(step / by)) + prefix;
  };
  return { of, written: shares || unit === "s", marks: values.map((v) => ({ at: place(v), words: words(v) })) };
}

/** Powers of ten of a logarithmic axis; where these are few also twice and five times as much. */
function roundOf(low: number, high: number, most: number): number[] {
  const of = (leads: readonly number[]): number[] =>
    Array.from({ length: 60 }, (_, k) => k - 30)
      .flatMap((power) => leads.map((lead) => Number(`${lead}e${power}`)))
      .filter((value) => value >= low && value <= high);
  const [powers, more] = [of([1]), of([1, 2, 5])];
  if (powers.length < 4 && more.length <= Math.max(3, most)) return more.length > 1 ? more : [low, high];
  return powers.length > 1 ? powers : [low, high];
}

/** The key, with the unit of its marks where these do not have it. */
export function keyWords(sweep: Sweep, key: number, { written }: KeyAxis): string {
  const unit = written ? null : sweep.plan.units[key];
  const name = sweep.plan.keys[key] ?? "";
  return unit ? `${name} (${unit})` : name;
}
