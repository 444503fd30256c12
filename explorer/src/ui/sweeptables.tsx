/** The tables of a sweep: the summary behind its charts, and paired differences. */

import { useState } from "preact/hooks";
import { type Chosen, differencesOf, meansOf, type Sweep } from "../data/sweep";
import { intervalWords, signed, words } from "../data/sweepwords";
import { grouped } from "../draw/units";
import { More } from "./more";

/** Rows of a table before one asks for more, and how many come then. */
const ROWS = 60;
const FURTHER = 300;

export interface Shown {
  sweep: Sweep;
  chosen: Chosen;
}

const QUANTILES = ["q05", "q25", "q50", "q75", "q95"] as const;

export function Summary({ sweep, chosen }: Shown): preact.JSX.Element {
  const means = meansOf(sweep, chosen);
  const [most, show] = useState(ROWS);
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Summary">
      <table class="list sweep-summary">
        <caption>
          {sweep.measures[chosen.measure].noun} of {sweep.flows[chosen.flow] ?? "no flow"}: mean with its 95% interval, and where single
          runs lie
        </caption>
        <thead>
          <tr>
            {sweep.plan.keys.map((key) => (
              <th key={key} scope="col">
                {key}
              </th>
            ))}
            <th scope="col" class="number">runs</th>
            <th scope="col" class="number">mean</th>
            <th scope="col" class="number">95% interval</th>
            {QUANTILES.map((q) => (
              <th key={q} scope="col" class="number">
                {q === "q50" ? "median" : `${Number(q.slice(1))}%`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {means.slice(0, most).map((mean) => (
            <tr key={mean.row}>
              {mean.point.values.map((value, k) => (
                <td key={k}>{value}</td>
              ))}
              <td class="number">{grouped(mean.n)}</td>
              <td class="number">{words(sweep, chosen.measure, mean.mean)}</td>
              <td class="number">{intervalWords(sweep, chosen.measure, mean)}</td>
              {QUANTILES.map((q) => (
                <td key={q} class="number">
                  {words(sweep, chosen.measure, sweep.summary[q][mean.row])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={most} of={means.length} step={FURTHER} more={() => show(most + FURTHER)} />
    </div>
  );
}

export function csvOf(sweep: Sweep, chosen: Chosen): string {
  const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const numbers = ["n", "mean", "t_low", "t_high", ...QUANTILES] as const;
  const head = ["point", ...sweep.plan.keys, "flow", "measure", ...numbers].map(cell).join(",");
  const lines = meansOf(sweep, chosen).map(({ point, row }) =>
    [
      String(point.point),
      ...point.values,
      sweep.flows[chosen.flow],
      sweep.measures[chosen.measure].column,
      ...numbers.map((number) => String(sweep.summary[number][row] ?? "")),
    ]
      .map(cell)
      .join(","),
  );
  return `${[head, ...lines].join("\n")}\n`;
}

export function Differences({ sweep, chosen }: Shown): preact.JSX.Element | null {
  const rows = differencesOf(sweep, chosen);
  const [most, show] = useState(ROWS);
  if (rows.length === 0) return null;
  const told = (value: number | null): string => signed(sweep, chosen.measure, value);
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Paired differences">
      <table class="list">
        <caption>Paired differences; p corrected by Holm’s method for all points, flows and measures</caption>
        <thead>
          <tr>
            {sweep.plan.keys.map((key) => (
              <th key={key} scope="col">
                {key}
              </th>
            ))}
            <th scope="col">against</th>
            <th scope="col" class="number">pairs</th>
            <th scope="col" class="number">difference</th>
            <th scope="col" class="number">95% interval</th>
            <th scope="col" class="number">p</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={row.point}>
              {row.values.map((value, k) => (
                <td key={k}>{value}</td>
              ))}
              <td>{row.against}</td>
              <td class="number">{grouped(row.n)}</td>
              <td class="number">{told(row.difference)}</td>
              <td class="number">{row.t_low === null ? "" : `${told(row.t_low)} to ${told(row.t_high)}`}</td>
              <td class={`number ${row.p_holm !== null && row.p_holm < 0.05 ? "sure-known" : ""}`}>
                {row.p_holm === null ? "" : Number(row.p_holm.toPrecision(2))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={most} of={rows.length} step={FURTHER} more={() => show(most + FURTHER)} />
    </div>
  );
}
