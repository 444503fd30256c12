/** Two transfers beside each other: what differs, and which episodes match. */

import { plainSeconds } from "../draw/units";
import { go, meta } from "../view/app";

export function ComparisonPage(): preact.JSX.Element {
  const found = meta().comparison;
  if (found === null) return <p>This report compares nothing.</p>;
  const { labels, differences } = found;
  return (
    <>
      <h2>{labels.join(" and ")}</h2>
      {(differences.look_at ?? []).map((sentence) => (
        <p class="look" key={sentence}>
          <span>{sentence}</span>
        </p>
      ))}
      {(differences.withheld ?? []).map((sentence) => (
        <p class="quiet" key={sentence}>
          {sentence}
        </p>
      ))}
      <table class="list">
        <caption>What differs, in the order of what it costs</caption>
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col">{labels[0] ?? "first"}</th>
            <th scope="col">{labels[1] ?? "second"}</th>
            <th scope="col" class="number">
              costs
            </th>
          </tr>
        </thead>
        <tbody>
          {(differences.differences ?? []).map((d) => (
            <tr key={d.what}>
              <th scope="row">{d.what}</th>
              <td>{d.first}</td>
              <td>{d.second}</td>
              <td class="number">{d.cost_s === null ? "" : plainSeconds(d.cost_s)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {found.flows.map((of, k) => (
          <button
            type="button"
            class="primary"
            key={k}
            onClick={() => go({ page: "flow", source: of.source, flow: of.flow })}
          >
            Open {labels[k] ?? `run ${k + 1}`}
          </button>
        ))}
      </p>
    </>
  );
}
