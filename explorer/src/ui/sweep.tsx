/** A sweep: its charts, the summary behind them, paired differences, what failed, and the plan. */

import { chosenOf, type Chosen, type Sweep, told, upOf, upwards, valuesOf } from "../data/sweep";
import { count, grouped } from "../draw/units";
import { change, chart, chartKind, meta } from "../view/app";
import type { ChartKind } from "../view/place";
import { Chart, CHART_WORDS, chartsOf } from "./sweepchart";
import { Differences, type Shown, Summary } from "./sweeptables";

export function SweepPage(): preact.JSX.Element {
  const sweep = meta().sweep;
  if (sweep === null) return <p>This report holds no sweep.</p>;
  const { plan } = sweep;
  const chosen = chosenOf(sweep, chart.value);
  const charts = chartsOf(sweep, chosen);
  // Another measure or flow may have nothing for what was chosen.
  const kind = charts.includes(chartKind.value) ? chartKind.value : charts[0];
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
      <Kinds charts={charts} kind={kind} chosen={chosen} />
      <Choice sweep={sweep} chosen={chosen} kind={kind} />
      <Chart sweep={sweep} chosen={chosen} kind={kind} />
      <Summary sweep={sweep} chosen={chosen} />
      <Differences sweep={sweep} chosen={chosen} />
      <Failures sweep={sweep} />
      <Plan sweep={sweep} />
    </>
  );
}

/** Charts that go along a key: it takes all its values in them. */
const ALONG: readonly ChartKind[] = ["curves", "map"];

function Kinds({ charts, kind, chosen }: { charts: ChartKind[]; kind: ChartKind; chosen: Chosen }): preact.JSX.Element {
  const to = (one: ChartKind): void => {
    const { along, held } = chosen;
    if (!ALONG.includes(one) || !(held[along] >= 0)) return change({ kind: one });
    change({ kind: one, chart: told({ ...chosen, held: held.map((value, k) => (k === along ? -1 : value)) }) });
  };
  return (
    <p class="tools">
      <span class="switch" role="group" aria-label="Chart">
        {charts.map((one) => (
          <button type="button" key={one} aria-pressed={one === kind} onClick={() => to(one)}>
            {CHART_WORDS[one]}
          </button>
        ))}
      </span>
    </p>
  );
}

function Choice({ sweep, chosen, kind }: Shown & { kind: ChartKind }): preact.JSX.Element {
  const choose = (part: Partial<Chosen>): void => change({ chart: told({ ...chosen, ...part }) });
  const { keys } = sweep.plan;
  const several = keys.map((_, k) => k).filter((k) => valuesOf(sweep, k).length > 1);
  const ups = upwards(sweep, chosen);
  return (
    <div class="tools choice">
      <Select words="measure" at={chosen.measure} names={sweep.measures.map((m) => m.noun)} choose={(measure) => choose({ measure })} />
      {sweep.flows.length > 1 && <Select words="flow" at={chosen.flow} names={sweep.flows} choose={(flow) => choose({ flow })} />}
      {several.length > 1 && ALONG.includes(kind) && (
        <Select
          words="along"
          at={several.indexOf(chosen.along)}
          names={several.map((k) => keys[k])}
          choose={(k) => choose({ along: several[k], held: chosen.held.map((h, at) => (at === several[k] ? -1 : h)) })}
        />
      )}
      {kind === "map" && ups.length > 1 && (
        <Select
          words="upwards"
          at={ups.indexOf(upOf(sweep, chosen) ?? ups[0])}
          names={ups.map((k) => keys[k])}
          choose={(k) => choose({ up: ups[k] })}
        />
      )}
      {several
        .filter((k) => !ALONG.includes(kind) || k !== chosen.along)
        .map((k) => (
          <Select
            key={k}
            words={keys[k]}
            at={chosen.held[k] + 1}
            names={["all", ...valuesOf(sweep, k)]}
            choose={(value) => choose({ held: chosen.held.map((h, at) => (at === k ? value - 1 : h)) })}
          />
        ))}
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
