/** A sweep: response curves, the summary behind them, paired differences, what failed, and the plan. */

import { useEffect, useRef, useState } from "preact/hooks";
import { chosenOf, type Chosen, holds, linesOf, type Mean, meansOf, type Sweep, told, valuesOf } from "../data/sweep";
import { CanvasSurface } from "../draw/canvas";
import { count, grouped, rate, seconds, three } from "../draw/units";
import { nameOf, save, savePicture } from "../export/write";
import { type Dot, drawCurves, MOST_LINES } from "../panels/curves";
import { change, chart, failed, meta, palette } from "../view/app";

/** Rows of a table before one asks for more. */
const ROWS = 60;

export function SweepPage(): preact.JSX.Element {
  const sweep = meta().sweep;
  if (sweep === null) return <p>This report holds no sweep.</p>;
  const { plan } = sweep;
  const chosen = chosenOf(sweep, chart.value);
  return (
    <>
      <h2>{plan.name}</h2>
      <p class="facts">
        {count(plan.points, "point")}, {count(plan.replications, "replication")} each
        {plan.until.length > 0 && `, and more until ${plan.until.join(" and ")}, ${grouped(plan.most ?? 0)} at most`}:{" "}
        {plan.done < plan.planned && plan.until.length === 0
          ? `${grouped(plan.done)} of ${count(plan.planned, "run")} done`
          : `${count(plan.done, "run")} done`}
        {plan.failed > 0 ? `, ${grouped(plan.failed)} of them failed` : ", none failed"}
      </p>
      {meta().notes.length > 0 && (
        <ul class="notes" aria-label="What is not shown">
          {meta().notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <Choice sweep={sweep} chosen={chosen} />
      <Chart sweep={sweep} chosen={chosen} />
      <Summary sweep={sweep} chosen={chosen} />
      <Differences sweep={sweep} chosen={chosen} />
      <Failures sweep={sweep} />
      <Plan sweep={sweep} />
    </>
  );
}

interface Shown {
  sweep: Sweep;
  chosen: Chosen;
}

function Choice({ sweep, chosen }: Shown): preact.JSX.Element {
  const choose = (part: Partial<Chosen>): void => change({ chart: told({ ...chosen, ...part }) });
  const { keys } = sweep.plan;
  const several = keys.map((_, k) => k).filter((k) => valuesOf(sweep, k).length > 1);
  const lines = linesOf(sweep, chosen).length;
  return (
    <div class="tools choice">
      <Select words="measure" at={chosen.measure} names={sweep.measures.map((m) => m.noun)} choose={(measure) => choose({ measure })} />
      {sweep.flows.length > 1 && <Select words="flow" at={chosen.flow} names={sweep.flows} choose={(flow) => choose({ flow })} />}
      {several.length > 1 && (
        <Select
          words="along"
          at={several.indexOf(chosen.along)}
          names={several.map((k) => keys[k])}
          choose={(k) => choose({ along: several[k], held: chosen.held.map((h, at) => (at === several[k] ? -1 : h)) })}
        />
      )}
      {several
        .filter((k) => k !== chosen.along)
        .map((k) => (
          <Select
            key={k}
            words={keys[k]}
            at={chosen.held[k] + 1}
            names={["all", ...valuesOf(sweep, k)]}
            choose={(value) => choose({ held: chosen.held.map((h, at) => (at === k ? value - 1 : h)) })}
          />
        ))}
      {lines > MOST_LINES && (
        <span class="quiet">
          The first {MOST_LINES} of {lines} lines: hold a key at one value to see others.
        </span>
      )}
    </div>
  );
}

interface SelectProps {
  words: string;
  at: number;
  names: string[];
  choose: (at: number) => void;
}

function Select({ words, at, names, choose }: SelectProps): preact.JSX.Element {
  return (
    <label>
      {words}{" "}
      <select aria-label={words} value={String(at)} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {names.map((name, k) => (
          <option key={k} value={String(k)}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function Chart({ sweep, chosen }: Shown): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const dots = useRef<Dot[]>([]);
  const [over, hover] = useState<Dot | null>(null);
  const colours = palette.value;
  const which = told(chosen).join(",");
  useEffect(() => {
    const box = host.current;
    const on = canvas.current;
    if (box === null || on === null) return;
    const draw = (): void => {
      if (box.clientWidth < 50) return;
      const surface = new CanvasSurface(on, box.clientWidth, box.clientHeight, devicePixelRatio || 1);
      dots.current = drawCurves(surface, colours, sweep, chosen);
    };
    const watch = new ResizeObserver(draw);
    watch.observe(box);
    return () => watch.disconnect();
  }, [sweep, which, colours]);
  const move = (event: PointerEvent): void => {
    const bounds = canvas.current?.getBoundingClientRect();
    if (bounds === undefined) return;
    const away = (dot: Dot): number => Math.hypot(dot.x - (event.clientX - bounds.left), dot.y - (event.clientY - bounds.top));
    const near = dots.current.reduce<Dot | null>((best, dot) => (best === null || away(dot) < away(best) ? dot : best), null);
    hover(near !== null && away(near) < 24 ? near : null);
  };
  const write = (what: "png" | "svg"): void => {
    const box = host.current;
    const picture = {
      width: box?.clientWidth ?? 900,
      height: box?.clientHeight ?? 380,
      draw: (s: Parameters<typeof drawCurves>[0]) => void drawCurves(s, palette.value, sweep, chosen),
    };
    savePicture(picture, what, fileOf(sweep, chosen, what), heading(sweep, chosen), palette.value).catch(failed);
  };
  return (
    <>
      <div class="curves" ref={host}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${heading(sweep, chosen)}; the table below says the same.`}
          onPointerMove={move}
          onPointerLeave={() => hover(null)}
        />
        {over !== null && (
          <div class="tip" style={{ left: `${over.x}px`, top: `${over.y}px` }} data-side={over.x > 500 ? "left" : "right"}>
            <span>
              {over.line === "" ? "" : `${over.line}: `}
              {meanWords(sweep, chosen, over)}
            </span>
          </div>
        )}
      </div>
      <p class="tools">
        <span class="switch" role="group" aria-label="Save the chart">
          <button type="button" onClick={() => write("png")}>
            PNG
          </button>
          <button type="button" onClick={() => write("svg")}>
            SVG
          </button>
          <button type="button" onClick={() => save(fileOf(sweep, chosen, "csv"), csvOf(sweep, chosen), "text/csv")}>
            CSV of the table
          </button>
        </span>
      </p>
    </>
  );
}

function heading(sweep: Sweep, { measure, along }: Chosen): string {
  const key = sweep.plan.keys[along];
  return `${sweep.measures[measure].noun}, mean with its 95% interval${key === undefined ? "" : `, along ${key}`}`;
}

function fileOf(sweep: Sweep, { measure }: Chosen, ending: string): string {
  return `${nameOf(`${sweep.plan.name}-${sweep.measures[measure].noun}`) || "sweep"}.${ending}`;
}

function words(sweep: Sweep, measure: number, value: number | null): string {
  if (value === null) return "";
  const { kind } = sweep.measures[measure];
  return kind === "rate" ? rate(value) : kind === "time" ? seconds(value) : three(value);
}

/** None of the measures can be below 0, whatever Student's t says of a few runs. */
function intervalWords(sweep: Sweep, measure: number, { low, high }: Pick<Mean, "low" | "high">): string {
  if (low === null || high === null) return "";
  return `${words(sweep, measure, Math.max(0, low))} to ${words(sweep, measure, high)}`;
}

function meanWords(sweep: Sweep, { measure, along }: Chosen, mean: Mean): string {
  const interval = intervalWords(sweep, measure, mean);
  const at = sweep.plan.keys[along] === undefined ? "" : ` at ${mean.point.values[along]}`;
  return `${words(sweep, measure, mean.mean)}${interval === "" ? "" : ` (${interval})`}${at}, ${count(mean.n, "run")}`;
}

const QUANTILES = ["q05", "q25", "q50", "q75", "q95"] as const;

function Summary({ sweep, chosen }: Shown): preact.JSX.Element {
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
      <More shown={most} of={means.length} more={() => show(most + 5 * ROWS)} />
    </div>
  );
}

function More({ shown, of, more }: { shown: number; of: number; more: () => void }): preact.JSX.Element | null {
  if (of <= shown) return null;
  return (
    <p class="quiet">
      {grouped(shown)} of {grouped(of)} rows.{" "}
      <button type="button" class="link" onClick={more}>
        more
      </button>
    </p>
  );
}

function csvOf(sweep: Sweep, chosen: Chosen): string {
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

function Differences({ sweep, chosen }: Shown): preact.JSX.Element | null {
  const rows = sweep.differences.filter(
    (row) => row.measure === chosen.measure && row.flow === sweep.flows[chosen.flow] && holds(sweep, chosen, row),
  );
  const [most, show] = useState(ROWS);
  if (rows.length === 0) return null;
  const signed = (value: number | null): string =>
    value === null ? "" : `${value > 0 ? "+" : value < 0 ? "−" : ""}${words(sweep, chosen.measure, Math.abs(value))}`;
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
              <td class="number">{signed(row.difference)}</td>
              <td class="number">{row.t_low === null ? "" : `${signed(row.t_low)} to ${signed(row.t_high)}`}</td>
              <td class={`number ${row.p_holm !== null && row.p_holm < 0.05 ? "sure-known" : ""}`}>
                {row.p_holm === null ? "" : Number(row.p_holm.toPrecision(2))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={most} of={rows.length} more={() => show(most + 5 * ROWS)} />
    </div>
  );
}

function Failures({ sweep }: { sweep: Sweep }): preact.JSX.Element | null {
  if (sweep.failures.length === 0) return null;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Failed runs">
      <table class="list">
        <caption>{count(sweep.plan.failed, "run")} failed; the rest went on</caption>
        <thead>
          <tr>
            {sweep.plan.keys.map((key) => (
              <th key={key} scope="col">
                {key}
              </th>
            ))}
            <th scope="col" class="number">replication</th>
            <th scope="col" class="number">seed</th>
            <th scope="col">why</th>
          </tr>
        </thead>
        <tbody>
          {sweep.failures.map((row) => (
            <tr key={row.run}>
              {row.values.map((value, k) => (
                <td key={k}>{value}</td>
              ))}
              <td class="number">{grouped(row.replication)}</td>
              <td class="number">{row.seed}</td>
              <td class="bad">{row.failure}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Plan({ sweep }: { sweep: Sweep }): preact.JSX.Element {
  const { plan } = sweep;
  return (
    <>
      <div class="wide" tabIndex={0} role="region" aria-label="Plan">
        <table class="list">
          <caption>The plan</caption>
          <tbody>
            {plan.axes.flatMap((axis) =>
              axis.keys.map((key, k) => (
                <tr key={key}>
                  <th scope="row">{key}</th>
                  <td>
                    {axis.values.map((row) => row[k]).join(", ")}
                    {axis.count > axis.values.length && `, … (${grouped(axis.count)} values)`}
                  </td>
                  <td>{[plan.pair.includes(key) ? "paired" : "", axis.keys.length > 1 ? "sampled together" : ""].filter(Boolean).join(", ")}</td>
                </tr>
              )),
            )}
            <tr>
              <th scope="row">seed</th>
              <td>{plan.seed}</td>
              <td />
            </tr>
            {plan.set.length > 0 && (
              <tr>
                <th scope="row">set at all points</th>
                <td>{plan.set.join(", ")}</td>
                <td />
              </tr>
            )}
            <tr>
              <th scope="row">made by</th>
              <td>rexmit {plan.rexmit}</td>
              <td />
            </tr>
          </tbody>
        </table>
      </div>
      {plan.scenario !== "" && (
        <details class="scenario">
          <summary>The scenario</summary>
          <pre>{plan.scenario}</pre>
        </details>
      )}
    </>
  );
}
