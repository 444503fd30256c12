/** Two transfers beside each other: laid over each other, what differs, and which episodes match. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type FlowData, loadFlow } from "../data/flow";
import type { Comparison, Detail, PairedEpisode } from "../data/meta";
import { CanvasSurface } from "../draw/canvas";
import { grouped, plainSeconds, seconds } from "../draw/units";
import { drawOverlaid, type Run } from "../panels/overlaid";
import { failed, go, inWords, lookAtEpisode, meta, palette, store, trackOf } from "../view/app";
import { arrived } from "../view/tracks";
import { Lead } from "./answer";

export function ComparisonPage(): preact.JSX.Element {
  const found = meta().comparison;
  if (found === null) return <p>This report compares nothing.</p>;
  const { labels, differences } = found;
  return (
    <>
      <h2 class="ends">{labels.join(" and ")}</h2>
      <ul class="looks">
        {found.flows.map((of, k) => (
          <Look key={k} label={labels[k] ?? ""} detail={detailOf(of)} />
        ))}
      </ul>
      {[...(differences.withheld ?? []), ...(found.assumed ?? [])].map((sentence) => (
        <p class="quiet" key={sentence}>
          {sentence}
        </p>
      ))}
      <Overlaid found={found} />
      <p class="tools">
        {found.flows.map((of, k) => (
          <button type="button" class="primary" key={k} onClick={() => go({ page: "flow", source: of.source, flow: of.flow })}>
            Open the {k === 0 ? "first" : "second"}
          </button>
        ))}
        <button
          type="button"
          class="primary"
          onClick={() => go({ page: "flow", source: found.flows[0].source, flow: found.flows[0].flow, beside: true })}
        >
          Side by side
        </button>
      </p>
      <Differences found={found} />
      <Matched found={found} />
    </>
  );
}

function detailOf({ source, flow }: Comparison["flows"][number]): Detail | undefined {
  return meta().sources.find((s) => s.id === source)?.details.find((d) => d.flow === flow);
}

function Look({ label, detail }: { label: string; detail: Detail | undefined }): preact.JSX.Element | null {
  const answer = detail?.answer ?? null;
  if (answer === null) return null;
  return (
    <li>
      <small>{label}</small>
      <Lead answer={answer} />
    </li>
  );
}

function Overlaid({ found }: { found: Comparison }): preact.JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [flows, set] = useState<FlowData[]>([]);
  const colours = palette.value;
  const came = arrived.value;
  useEffect(() => {
    const from = store.value;
    if (from === null) return;
    Promise.all(found.flows.map((of) => loadFlow(from, of.source, of.flow))).then(
      (all) => set(all.filter((data) => data !== null)),
      failed,
    );
  }, [found]);
  useEffect(() => {
    const box = host.current;
    const on = canvas.current;
    if (box === null || on === null || flows.length === 0) return;
    const runs = flows.map((data, k): Run => ({
      label: found.labels[k] ?? `run ${k + 1}`,
      data,
      track: (columns) => trackOf(data, data.from, data.to, columns),
    }));
    const draw = (): void => {
      if (box.clientWidth < 50) return;
      const surface = new CanvasSurface(on, box.clientWidth, box.clientHeight, devicePixelRatio || 1);
      drawOverlaid(surface, colours, runs, inWords);
    };
    const watch = new ResizeObserver(draw);
    watch.observe(box);
    return () => watch.disconnect();
  }, [flows, colours, came]);
  return (
    <div class="overlaid" ref={host}>
      <canvas
        ref={canvas}
        role="img"
        aria-label="Acknowledged bytes and their rate over time, one line for each run; the tables below say where they differ."
      />
    </div>
  );
}

function Differences({ found }: { found: Comparison }): preact.JSX.Element {
  const { labels, differences } = found;
  const longer = differences.longer_s;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Differences">
      <table class="list compared">
        <caption>
          What differs, in the order of what it costs
          {longer === undefined || longer === null
            ? ""
            : longer === 0
              ? ": for as many bytes the second takes as long"
              : `: for as many bytes the second takes ${seconds(Math.abs(longer))} ${longer < 0 ? "less" : "longer"}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">what</th>
            <th scope="col">{labels[0] ?? "first"}</th>
            <th scope="col">{labels[1] ?? "second"}</th>
            <th scope="col" class="number">
              costs the second
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
    </div>
  );
}

function Matched({ found }: { found: Comparison }): preact.JSX.Element | null {
  const { labels, episodes } = found;
  if (episodes.length === 0) return null;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Matched episodes">
      <table class="list compared">
        <caption>Episodes that match, and those that only one of them has</caption>
        <thead>
          <tr>
            {[0, 1].flatMap((side) => [
              <th key={`${side}-n`} scope="col">{`${labels[side] ?? ""}, episode`}</th>,
              <th key={`${side}-at`} scope="col" class="number">at s</th>,
              <th key={`${side}-lost`} scope="col" class="number">lost</th>,
              <th key={`${side}-took`} scope="col" class="number">took</th>,
            ])}
          </tr>
        </thead>
        <tbody>
          {episodes.map((pair, k) => (
            <tr key={k}>
              <Side row={pair.first} of={found.flows[0]} />
              <Side row={pair.second} of={found.flows[1]} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Side({ row, of }: { row: PairedEpisode | null; of: Comparison["flows"][number] }): preact.JSX.Element {
  if (row === null) return <td colSpan={4} class="quiet">none</td>;
  const lost = row.lost_copies ?? row.lost_segments;
  const open = (): void => {
    go({ page: "flow", source: of.source, flow: of.flow });
    lookAtEpisode(row.number);
  };
  return (
    <>
      <td>
        <button type="button" class="link" onClick={open} aria-label={`Show episode ${row.number + 1} of this run`}>
          {row.number + 1}
        </button>
        {inWords("episode_kind", row.kind)}
      </td>
      <td class="number">{grouped(row.start_ns / 1e9, 3)}</td>
      <td class="number">{lost === null ? "?" : grouped(lost)}</td>
      <td class="number">{row.end_ns === null ? "open" : seconds((row.end_ns - row.start_ns) / 1e9)}</td>
    </>
  );
}
