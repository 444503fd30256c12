/** The figures of a flow, each with its unit. */

import type { Detail, FlowRow } from "../data/meta";
import { hueOf } from "../draw/palette";
import { count, grouped, percent, rate, seconds, size, three } from "../draw/units";
import { inWords, palette } from "../view/app";

export function Figures({ detail }: { detail: Detail }): preact.JSX.Element {
  return (
    <dl class="figures">
      {pairs(detail).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <Causes row={detail.row} />
    </dl>
  );
}

function Causes({ row }: { row: FlowRow }): preact.JSX.Element | null {
  const causes = Object.entries(row.retransmissions.by_cause)
    .filter(([, n]) => n > 0)
    .sort((a, b) => b[1] - a[1]);
  if (causes.length === 0) return null;
  return (
    <>
      {causes.map(([cause, n]) => (
        <div key={cause} class="part">
          <dt>
            <i class="swatch" style={{ background: hueOf(palette.value, "cause", cause) }} />
            {inWords("cause", cause)}
          </dt>
          <dd>{grouped(n)}</dd>
        </div>
      ))}
    </>
  );
}

function pairs({ row }: Detail): [string, string][] {
  const found: [string, string][] = [
    ["data", `${size(row.bytes)} in ${seconds(row.duration_s)}`],
    ["throughput", row.throughput_bps === null ? "unknown" : rate(row.throughput_bps)],
  ];
  const path = row.path;
  if (path?.capacity_bps && !path.at_least) found.push(["path carries", rate(path.capacity_bps)]);
  const rtt = row.rtt["ack"]?.n ? row.rtt["ack"] : row.rtt["timestamps"];
  if (rtt?.n) found.push(["round trip", `${three(rtt.mean_ms)} ms (${three(rtt.min_ms)} to ${three(rtt.max_ms)})`]);
  found.push(["MSS", `${grouped(row.mss)} B`]);
  found.push(["episodes", String(row.episode_count)]);
  const { copies, segments } = row.lost;
  if (copies !== null) {
    const share = row.segments > 0 ? ` (${percent(copies / row.segments)})` : "";
    found.push(["lost copies", `${grouped(copies)}${copies > 0 ? `${share} in ${count(row.burst_count, "burst")}` : ""}`]);
  } else found.push(["lost segments", segments === null ? "cannot be known from here" : grouped(segments)]);
  found.push(["timeouts", grouped(row.timeouts)]);
  found.push(["idle", row.idle_count > 0 ? `${seconds(row.idle_total_s)} in ${count(row.idle_count, "gap")}` : "never"]);
  const { total, needless } = row.retransmissions;
  found.push(["sent again", `${count(total, "segment")}${needless ? `, ${grouped(needless)} needless` : ""}`]);
  return found;
}
