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

/** Values of a key in the order in which the points have them. */
export function valuesOf(sweep: Sweep, key: number): string[] {
  return [...new Set(sweep.points.map((point) => point.values[key]))];
}

/** The first key of numbers that takes several values, else the first one. */
export function firstAlong(sweep: Sweep): number {
  const several = sweep.plan.keys.map((_, k) => k).filter((k) => valuesOf(sweep, k).length > 1);
  return several.find((k) => sweep.plan.units[k] !== null) ?? several[0] ?? 0;
}

/** As an address has it: `measure,flow,along,held,…`; parts that are none are left at what is shown first. */
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
  };
}

export function told({ measure, flow, along, held }: Chosen): number[] {
  return [measure, flow, along, ...held];
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

/** A line for each combination of what changes besides `along` and its axis. */
export function linesOf(sweep: Sweep, chosen: Chosen): Line[] {
  const means = meansOf(sweep, chosen);
  const axis = axisOf(sweep, chosen.along);
  const others = sweep.plan.keys
    .map((key, k) => ({ key, k }))
    .filter(({ key, k }) => !axis.includes(key) && new Set(means.map((m) => m.point.values[k])).size > 1);
  const lines = new Map<string, Mean[]>();
  for (const mean of means) {
    const words = others.map(({ key, k }) => `${key.slice(key.lastIndexOf(".") + 1)} ${mean.point.values[k]}`).join(", ");
    const line = lines.get(words);
    if (line === undefined) lines.set(words, [mean]);
    else line.push(mean);
  }
  return [...lines].map(([words, of]) => ({ words, means: of }));
}
