/** Figures of a sweep in words. */

import { count, prefixOf, rate, seconds, three } from "../draw/units";
import type { Chosen, Difference, Mean, Sweep } from "./sweep";

export function words(sweep: Sweep, measure: number, value: number | null): string {
  if (value === null) return "";
  const { kind } = sweep.measures[measure];
  return kind === "rate" ? rate(value) : kind === "time" ? seconds(value) : three(value);
}

export function signed(sweep: Sweep, measure: number, value: number | null): string {
  if (value === null) return "";
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${words(sweep, measure, Math.abs(value))}`;
}

/** None of the measures can be below 0, whatever Student's t says of a few runs. */
export function intervalWords(sweep: Sweep, measure: number, { low, high }: Pick<Mean, "low" | "high">): string {
  if (low === null || high === null) return "";
  return `${words(sweep, measure, Math.max(0, low))} to ${words(sweep, measure, high)}`;
}

export function meanWords(sweep: Sweep, { measure, along }: Chosen, mean: Mean): string {
  const interval = intervalWords(sweep, measure, mean);
  const at = sweep.plan.keys[along] === undefined ? "" : ` at ${mean.point.values[along]}`;
  return `${words(sweep, measure, mean.mean)}${interval === "" ? "" : ` (${interval})`}${at}, ${count(mean.n, "run")}`;
}

export function differenceWords(sweep: Sweep, row: Difference): string {
  const ends = row.t_low === null ? "" : ` (${signed(sweep, row.measure, row.t_low)} to ${signed(sweep, row.measure, row.t_high)})`;
  const p = row.p_holm === null ? "" : `, p ${Number(row.p_holm.toPrecision(2))}`;
  return `${signed(sweep, row.measure, row.difference)}${ends}${p}, ${count(row.n, "pair")}`;
}

/** What an axis divides by, and its unit. */
export function unitOf(sweep: Sweep, measure: number, largest: number): [number, string] {
  const { kind } = sweep.measures[measure];
  const [by, prefix] = kind === "time" ? [1, ""] : prefixOf(largest);
  return [by, { rate: `${prefix}bps`, time: "s" }[kind] ?? prefix];
}
