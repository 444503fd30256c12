/** What META tells of a sweep (`sweep` of FORMAT.md), and what a chart of it shows. */

export interface SweepPoint {
  point: number;
  /** Of each key, as written, and as a number if all its values are such. */
  values: string[];
  numbers: (number | null)[];
}

type Column = (number | null)[];

export interface Sweep {
  plan: {
    name: string;
    keys: string[];
    units: (string | null)[];
    axes: { keys: string[]; values: string[][]; count: number }[];
    pair: string[];
    seed: string;
    points: number;
    replications: number;
    until: string[];
    most: number | null;
    planned: number;
    set: string[];
    rexmit: string;
    scenario: string;
    done: number;
    failed: number;
  };
  measures: { column: string; noun: string; kind: string }[];
  flows: string[];
  points: SweepPoint[];
  summary: Record<"point" | "flow" | "measure", number[]> &
    Record<"n" | "mean" | "t_low" | "t_high" | "q05" | "q25" | "q50" | "q75" | "q95", Column>;
  differences: (SweepPoint & {
    flow: string;
    against: string;
    measure: number;
    n: number;
    difference: number | null;
    t_low: number | null;
    t_high: number | null;
    p_holm: number | null;
  })[];
  failures: (SweepPoint & { run: number; replication: number; seed: string; failure: string })[];
}

/** What a chart is of: places in `measures`, `flows`, `keys`; of each key the place of the value that it is held
 * at, or -1. */
export interface Chosen {
  measure: number;
  flow: number;
  along: number;
  held: number[];
  /** The key that a map has upwards, or -1: the first that fits. */
  up: number;
}

export interface Mean {
  point: SweepPoint;
  /** Its row of the summary. */
  row: number;
  n: number;
  mean: number | null;
  low: number | null;
  high: number | null;
}

export interface Line {
  words: string;
  means: Mean[];
}

export type Difference = Sweep["differences"][number];

/** Means at each pair of values of two keys. */
export interface Grid {
  /** What the other keys are, where these take several values. */
  words: string;
  cells: { x: number; y: number; mean: Mean }[];
}

/** Values of a key in the order in which the points have them. */
export function valuesOf(sweep: Sweep, key: number): string[] {
  return [...new Set(sweep.points.map((point) => point.values[key]))];
}

/** The first key of numbers that takes several values, else the first one. */
export function firstAlong(sweep: Sweep): number {
  const several = sweep.plan.keys.map((_, k) => k).filter((k) => valuesOf(sweep, k).length > 1);
  return several.find((k) => sweep.plan.units[k] !== null) ?? several[0] ?? 0;
}

/** Means over two keys that fill no grid. */
export interface Plane {
  words: string;
  means: Mean[];
}

/** As an address has it: `measure,flow,along,held,…,up`; parts that are none are left at what is shown first. */
export function chosenOf(sweep: Sweep, told: readonly number[] | null): Chosen {
  const of = (k: number, most: number, otherwise: number): number => {
    const value = told?.[k];
    return value !== undefined && value >= 0 && value < most ? value : otherwise;
  };
  const { keys } = sweep.plan;
  return {
    measure: of(0, sweep.measures.length, 0),
    flow: of(1, sweep.flows.length, 0),
    along: of(2, keys.length, firstAlong(sweep)),
    held: keys.map((_, k) => of(3 + k, valuesOf(sweep, k).length, -1)),
    up: of(3 + keys.length, keys.length, -1),
  };
}

export function told({ measure, flow, along, held, up }: Chosen): number[] {
  return [measure, flow, along, ...held, ...(up < 0 ? [] : [up])];
}

/** Whether a point has the values that keys are held at. */
export function holds(sweep: Sweep, { held }: Chosen, point: SweepPoint): boolean {
  return held.every((place, key) => place < 0 || valuesOf(sweep, key)[place] === point.values[key]);
}

/** Means of a measure and flow where the held keys have their values, in the order of the plan. */
export function meansOf(sweep: Sweep, chosen: Chosen): Mean[] {
  const { summary } = sweep;
  const { measure, flow } = chosen;
  const within = sweep.points.map((point) => holds(sweep, chosen, point));
  const found: Mean[] = [];
  for (let row = 0; row < summary.point.length; row++) {
    const point = sweep.points[summary.point[row]];
    if (summary.measure[row] !== measure || summary.flow[row] !== flow) continue;
    if (!within[summary.point[row]]) continue;
    const [mean, low, high] = [summary.mean[row], summary.t_low[row], summary.t_high[row]];
    found.push({ point, row, n: summary.n[row] ?? 0, mean, low, high });
  }
  return found;
}

/** Keys that change together with one, as sampled ones do, are of one axis. */
export function axisOf(sweep: Sweep, along: number): string[] {
  const key = sweep.plan.keys[along];
  return sweep.plan.axes.find((axis) => axis.keys.includes(key))?.keys ?? [];
}

/** Keys that take several values where the held ones have theirs. */
export function freeKeys(sweep: Sweep, chosen: Chosen): number[] {
  const points = sweep.points.filter((point) => holds(sweep, chosen, point));
  return sweep.plan.keys.map((_, k) => k).filter((k) => new Set(points.map((point) => point.values[k])).size > 1);
}

/** What these keys are at a point: `delay 10ms, stack linux-6-cubic`. */
export function pointWords(sweep: Sweep, keys: readonly number[], point: SweepPoint): string {
  const short = (key: string): string => key.slice(key.lastIndexOf(".") + 1);
  return keys.map((k) => `${short(sweep.plan.keys[k])} ${point.values[k]}`).join(", ");
}

/** By words, in the order in which these come. */
function grouped<T>(all: readonly T[], words: (one: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = words(one);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups];
}

/** A line for each combination of what changes besides `along` and its axis. */
export function linesOf(sweep: Sweep, chosen: Chosen): Line[] {
  const axis = axisOf(sweep, chosen.along);
  const others = freeKeys(sweep, chosen).filter((k) => !axis.includes(sweep.plan.keys[k]));
  const lines = grouped(meansOf(sweep, chosen), (mean) => pointWords(sweep, others, mean.point));
  return lines.map(([words, means]) => ({ words, means }));
}

/** Values of a key where the held ones have theirs: numbers in their order, words in that of the plan. */
export function marksOf(sweep: Sweep, chosen: Chosen, key: number): string[] {
  const points = sweep.points.filter((point) => holds(sweep, chosen, point));
  const found = new Map(points.map((point) => [point.values[key], point.numbers[key]]));
  const marks = [...found];
  if (sweep.plan.units[key] !== null) marks.sort(([, a], [, b]) => (a ?? 0) - (b ?? 0));
  return marks.map(([value]) => value);
}

/** Keys that a map can have upwards: those that change besides `along`. */
export function upwards(sweep: Sweep, chosen: Chosen): number[] {
  const free = freeKeys(sweep, chosen);
  return free.includes(chosen.along) ? free.filter((k) => k !== chosen.along) : [];
}

/** The key that a map has upwards: the one that was chosen, else one of numbers if there is such a one; null where only
 * one changes. */
export function upOf(sweep: Sweep, chosen: Chosen): number | null {
  const others = upwards(sweep, chosen);
  if (others.includes(chosen.up)) return chosen.up;
  return others.find((k) => sweep.plan.units[k] !== null) ?? others[0] ?? null;
}

/** Whether one of a map's keys was sampled together with others: their pairs fill no grid. */
export function isScattered(sweep: Sweep, chosen: Chosen, up: number): boolean {
  return [chosen.along, up].some((k) => axisOf(sweep, k).length > 1);
}

/** Where pairs of two keys fill no grid, a plane for each combination of what else changes, but for what was sampled
 * together with one of the two. */
export function planesOf(sweep: Sweep, chosen: Chosen, up: number): Plane[] {
  const together = [chosen.along, up].flatMap((k) => axisOf(sweep, k));
  const others = freeKeys(sweep, chosen).filter((k) => !together.includes(sweep.plan.keys[k]));
  return grouped(meansOf(sweep, chosen), (mean) => pointWords(sweep, others, mean.point)).map(([words, means]) => ({ words, means }));
}

/** A map for each combination of what changes besides its two keys. */
export function gridsOf(sweep: Sweep, chosen: Chosen, up: number): Grid[] {
  const [xs, ys] = [marksOf(sweep, chosen, chosen.along), marksOf(sweep, chosen, up)];
  const others = freeKeys(sweep, chosen).filter((k) => k !== chosen.along && k !== up);
  return grouped(meansOf(sweep, chosen), (mean) => pointWords(sweep, others, mean.point)).map(([words, means]) => ({
    words,
    cells: means.map((mean) => ({ x: xs.indexOf(mean.point.values[chosen.along]), y: ys.indexOf(mean.point.values[up]), mean })),
  }));
}

/** Paired differences of the measure and flow where the held keys have their values. */
export function differencesOf(sweep: Sweep, chosen: Chosen): Difference[] {
  return sweep.differences.filter(
    (row) => row.measure === chosen.measure && row.flow === sweep.flows[chosen.flow] && holds(sweep, chosen, row),
  );
}
